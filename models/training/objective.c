/* Properties derived from an objective: network, share of masked positions, and the metric that
 * selects the best epoch. */
#include "models/training/objective.h"

#include <math.h>
#include <string.h>

#include "datasets/loader/batch.h"
#include "datasets/loader/chance.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "models/training/train_spec.h"

/* The default share depends on the task, see lra_objective_share(). */
const lra_key lra_objective_picking[] = {
    LRA_REAL_FIELD(lra_train_spec, mask, "mask", "0.15", 1e-6, 1,
                   "share of the positions that are masked; the default depends on the task"),
    LRA_KEYS_END};

/* ---- the registry ---------------------------------------------------------------------------- */

static const lra_objective *const registry[] = {
#define LRA_OBJECTIVE(name) &lra_objective_##name,
#include "models/training/objectives.def"
#undef LRA_OBJECTIVE
};
enum { N_OBJECTIVES = sizeof registry / sizeof *registry };

const lra_objective *lra_objective_at(int i)
{
    return i >= 0 && i < N_OBJECTIVES ? registry[i] : NULL;
}

const lra_objective *lra_objective_find(const char *name, lra_err *e)
{
    const char *names[N_OBJECTIVES];
    for (int i = 0; i < N_OBJECTIVES; i++) {
        names[i] = registry[i]->name;
        if (strcmp(names[i], name) == 0) return registry[i];
    }
    lra_fail_unknown(e, "objective", name, N_OBJECTIVES, names, "lra-probe list objectives");
    return NULL;
}

/* ---- derived properties ---------------------------------------------------------------------- */

double lra_objective_share(const lra_objective *o, const lra_task *t)
{
    if (o->training == LRA_MASK_DENOISE) return 0.3;
    if (o->training != LRA_MASK_MASKED) return 0;
    return t->input.image ? 0.5 : t->input.channels ? 0.25 : 0.15;
}

static lra_head head_of(lra_goal goal)
{
    static const lra_head heads[] = {[LRA_GOAL_CLASS] = LRA_HEAD_CLASS,
                                     [LRA_GOAL_PAIR] = LRA_HEAD_PAIR,
                                     [LRA_GOAL_VALUE] = LRA_HEAD_VALUE,
                                     [LRA_GOAL_TOKENS] = LRA_HEAD_TOKENS,
                                     [LRA_GOAL_NEXT] = LRA_HEAD_NEXT};
    return heads[goal];
}

lra_network_spec lra_objective_network(const lra_objective *o, const lra_dataset *d,
                                       lra_pool_kind pool)
{
    const lra_task *t = d->task;
    const lra_masking m = {.kind = o->training};
    int64_t side = lra_dataset_grid(d);
    lra_network_spec s = {.head = head_of(t->goal),
                          .pool = pool,
                          .T_max = lra_buckets_end(d),
                          .rows = side,
                          .columns = side};
    s.vocab = t->input.channels ? 0 : lra_mask_vocab(d, m);
    s.channels = lra_mask_channels(d, m);
    s.outputs = s.head == LRA_HEAD_NEXT ? s.vocab : t->n_targets ? t->n_targets : t->n_classes;
    if (!o->pretrains) return s;
    bool words = lra_mask_predicts_tokens(d);
    s.head = words ? LRA_HEAD_NEXT : LRA_HEAD_TOKENS;
    s.outputs = words ? lra_mask_classes(d) : t->input.channels;
    s.absolute = true;
    return s;
}

int64_t lra_objective_parts(const lra_objective *o, const lra_dataset *d)
{
    return o->pretrains && d->task->goal == LRA_GOAL_PAIR ? 2 : 1;
}

const lra_metric *lra_objective_metric(const lra_objective *o, const lra_dataset *d)
{
    lra_err e;
    if (!o->pretrains) return lra_task_metric(d->task);
    const lra_metric *m = lra_metric_find(lra_mask_predicts_tokens(d) ? "bits-per-token" : "mae",
                                          &e);
    if (!m) LRA_BUG("%s", e.msg);
    return m;
}

/* Returns the mean absolute value of the model inputs of a split. */
static double mean_size(const lra_dataset *d, int split)
{
    const lra_buckets all = {1, {d->max_length}};
    const lra_loader_spec s = {.data = d, .split = split, .buckets = &all, .batch = 1};
    int64_t C = d->task->input.channels, parts = d->task->goal == LRA_GOAL_PAIR ? 2 : 1;
    lra_loader *l = lra_loader_new(&s);
    double sum = 0, n = 0;
    for (int64_t i = 0; i < lra_loader_batches(l); i++) {
        const lra_batch *b = lra_loader_get(l, i);
        for (int64_t k = 0; k < parts; k++) {
            const float *x = b->value + k * d->max_length * C;
            for (int64_t j = 0; j < b->length[k] * C; j++) sum += fabs((double)x[j]);
            n += (double)(b->length[k] * C);
        }
    }
    lra_loader_free(l);
    return n > 0 ? sum / n : 0;
}

double lra_objective_chance(const lra_objective *o, const lra_dataset *d, int split)
{
    if (!o->pretrains) return lra_dataset_chance(d, split);
    return lra_mask_predicts_tokens(d) ? log2((double)lra_mask_classes(d)) : mean_size(d, split);
}

int lra_objective_check(const lra_objective *o, const lra_dataset *d, const lra_model *m,
                        const lra_config *c, lra_err *e)
{
    lra_network_spec network = lra_objective_network(o, d, LRA_POOL_MEAN);
    if (lra_mask_check(d, (lra_masking){.kind = o->training}, e) != 0)
        return lra_fail_in(e, "objective '%s'", o->name);
    /* next-token prediction has the head NEXT, which requires a causal model */
    if (o->pretrains) network.head = o->training == LRA_MASK_NEXT ? LRA_HEAD_NEXT : LRA_HEAD_TOKENS;
    return lra_network_check(m, c, &network, e);
}
