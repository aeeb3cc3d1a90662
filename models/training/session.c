/* Builds the graphs and plans of a run. */
#include "models/training/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/formats/h5.h"
#include "kernels/base/core/mem.h"
#include "kernels/graph/backend.h"
#include "models/training/objective.h"

lra_network lra_session_build(const lra_train_spec *s, lra_type type, lra_mode mode, int64_t rows,
                              int64_t T, bool limited, bool explicit_positions)
{
    lra_network_spec network = lra_session_network(s);
    network.limited = limited, network.explicit_positions = explicit_positions;
    int64_t B = rows * lra_objective_parts(lra_session_objective(s), s->data);
    return lra_network_build(type, mode, s->model, s->model_config, &network, B, T);
}

lra_network lra_session_head(const lra_train_spec *s, lra_type type, lra_mode mode, int64_t rows,
                             int64_t T, int64_t D)
{
    lra_network_spec network = lra_session_network(s);
    int64_t B = rows * lra_objective_parts(lra_session_objective(s), s->data);
    return lra_network_of_features(type, mode, s->model, s->model_config, &network, B, T, D);
}

/* Builds inputs, encoder and the head of the task or of pretraining. */
static lra_network open_network(const lra_session *s, lra_mode mode, int64_t T)
{
    return lra_session_build(s->spec, s->spec->type, mode, s->spec->batch, T, false, false);
}

static int open_plan(const lra_session *s, lra_session_plan *p, lra_tensor *first, lra_err *e)
{
    lra_tensor *out[] = {first, p->network.output};
    bool alone = first == NULL;
    p->plan = lra_plan_new(p->network.graph, s->params, s->space, alone ? 1 : 2,
                           alone ? out + 1 : out, e);
    if (!p->plan) return LRA_FAILED;
    lra_plan_threads(p->plan, s->spec->threads);
    return 0;
}

static int open_training(const lra_session *s, lra_session_plan *p, int part, int64_t T, lra_err *e)
{
    const lra_train_spec *spec = s->spec;
    const lra_objective *o = lra_session_objective(spec);
    p->network = open_network(s, LRA_TRAIN, T);
    if (o->add_loss) o->add_loss(&p->network, lra_mask_classes(spec->data));
    lra_graph_keep(p->network.graph, s->keep);
    int n = lra_graph_params(p->network.graph, NULL);
    int parts = (int)lra_update_batches(spec), number = part == LRA_LAST_PART ? parts - 1 : part;
    lra_tensor **param = lra_alloc_array((size_t)n + 1, sizeof *param);
    lra_graph_params(p->network.graph, param);
    p->step = lra_step_input(p->network.graph);
    p->update = lra_adamw_part(p->network.loss, n, param, &spec->optimizer, number, parts);
    lra_free(param);
    return open_plan(s, p, p->update, e);
}

/* Returns true if an update has a batch that uses this plan. */
static bool has_part(const lra_train_spec *s, int part)
{
    return part == LRA_LAST_PART || part + 1 < lra_update_batches(s);
}

static int open_bucket(const lra_session *s, lra_bucket_plans *p, int64_t T, lra_err *e)
{
    for (int part = 0; part < LRA_N_PARTS; part++)
        if (has_part(s->spec, part) && open_training(s, &p->train[part], part, T, e) != 0)
            return LRA_FAILED;
    p->eval.network = open_network(s, LRA_EVAL, T);
    return open_plan(s, &p->eval, NULL, e);
}

static void close_plan(lra_session_plan *p)
{
    lra_plan_free(p->plan);
    lra_graph_free(p->network.graph);
}

static void close_buckets(lra_session *s)
{
    for (int b = 0; b < s->buckets.n; b++) {
        for (int part = 0; part < LRA_N_PARTS; part++) close_plan(&s->plans[b].train[part]);
        close_plan(&s->plans[b].eval);
        s->plans[b] = (lra_bucket_plans){0};
    }
    lra_space_free(s->space);
    s->space = NULL;
}

static int open_buckets(lra_session *s, lra_device *dev, lra_err *e)
{
    s->space = lra_space_new(dev);
    for (int b = 0; b < s->buckets.n; b++)
        if (open_bucket(s, &s->plans[b], s->buckets.length[b], e) != 0)
            return lra_fail_in(e, "model '%s'", s->spec->model->name);
    return 0;
}

lra_loader_spec lra_session_loader_spec(const lra_session *s, int split, bool training)
{
    const lra_train_spec *run = s->spec;
    const lra_objective *o = lra_session_objective(run);
    return (lra_loader_spec){.data = run->data,
                             .split = split,
                             .buckets = &s->buckets,
                             .batch = run->batch,
                             .seed = run->seed,
                             .training = training,
                             .augment = training && (run->augment || run->data->task->data.fresh),
                             .permuted = run->permuted && split != LRA_TEST_SPLIT,
                             .fraction = training ? run->fraction : 0,
                             .same_steps = training && run->same_steps,
                             .group = lra_update_batches(run),
                             .masking = {training ? o->training : o->evaluation, run->mask}};
}

lra_loader *lra_session_loader(const lra_session *s, int split, bool training)
{
    lra_loader_spec spec = lra_session_loader_spec(s, split, training);
    return lra_loader_new(&spec);
}

double lra_session_workspace(const lra_session *s)
{
    double most = 0;
    for (int b = 0; b < s->buckets.n; b++) {
        const lra_bucket_plans *p = &s->plans[b];
        for (int part = 0; part < LRA_N_PARTS; part++)
            if (p->train[part].plan)
                most = fmax(most, lra_plan_cost(p->train[part].plan).workspace_bytes);
        most = fmax(most, lra_plan_cost(p->eval.plan).workspace_bytes);
    }
    return most;
}

double lra_session_room(const lra_session *s)
{
    const lra_backend *b = s->device->backend;
    /* memory for the copy of the parameters that writing a checkpoint makes */
    double copy = lra_params_copy_bytes(s->params);
    double free = s->spec->memory > 0 ? s->spec->memory - lra_params_bytes(s->params)
                  /* free memory; the parameters are already allocated */
                  : b->memory_free ? b->memory_free(s->device)
                                   : 0;
    if (s->spec->memory == 0) copy += LRA_H5_ROOM;
    /* 0: the free memory is unknown */
    return s->spec->memory == 0 && free == 0 ? 0 : fmax(1, free - copy);
}

static int check_memory(const lra_session *s, lra_err *e)
{
    char need[32], have[32], fits[48] = "not even a batch of 1 fits";
    double work = lra_session_workspace(s), room = lra_session_room(s);
    double batch = (double)s->spec->batch, most = floor(room / work * batch);
    if (room == 0 || work <= room) return 0; /* room 0: the free memory is unknown */
    if (most >= 1) snprintf(fits, sizeof fits, "a batch of %.0f would fit", most);
    return lra_fail(e, "batch %.0f needs %s of workspace%s, found %s on '%s'; %s", batch,
                    lra_size_text(need, work),
                    s->keep == LRA_KEEP_LAYERS ? " even though layers are recomputed" : "",
                    lra_size_text(have, room), s->device->name, fits);
}

/* Allocates memory for the output of the longest bucket, and for the results of batches in
 * flight. */
static int new_results(lra_session *s, lra_err *e)
{
    int64_t most = 1;
    for (int b = 0; b < s->buckets.n; b++) {
        int64_t n = lra_elements(s->plans[b].eval.network.output);
        if (n > most) most = n;
    }
    s->output = lra_alloc_array((size_t)most, sizeof(float));
    for (int i = 0; i <= lra_session_ahead(s); i++) {
        s->started[i].results = lra_readback_new(s->device, (size_t)most * sizeof(float) + 256, e);
        if (!s->started[i].results) return LRA_FAILED;
    }
    return 0;
}

int lra_session_open(lra_session *s, const lra_train_spec *spec, lra_device *dev, lra_err *e)
{
    if (lra_objective_check(lra_session_objective(spec), spec->data, spec->model,
                            spec->model_config, e) != 0)
        return LRA_USAGE;
    bool automatic = spec->recompute == LRA_RECOMPUTE_AUTO;
    *s = (lra_session){.spec = spec, .device = dev};
    s->buckets = lra_buckets_find(spec->data);
    s->params = lra_params_new(dev, spec->seed);
    s->keep = automatic ? LRA_KEEP_ALL : (lra_keep)spec->recompute;
    int rc = open_buckets(s, dev, e), fits = rc == 0 ? check_memory(s, e) : 0;
    while (rc == 0 && fits != 0 && automatic && s->keep < LRA_KEEP_LAYERS) {
        close_buckets(s);
        s->keep++;
        rc = open_buckets(s, dev, e);
        fits = rc == 0 ? check_memory(s, e) : 0;
    }
    if (rc == 0 && fits == 0 && new_results(s, e) == 0) return 0;
    lra_session_close(s);
    return LRA_FAILED;
}

void lra_session_close(lra_session *s)
{
    close_buckets(s);
    lra_params_free(s->params);
    lra_free(s->output);
    for (int i = 0; i < LRA_MOST_STARTED; i++) lra_readback_free(s->started[i].results);
    *s = (lra_session){0};
}

/* Returns (number of target elements) / (sum of the loss mask), 0 if the sum is 0. */
static float scale_of(const lra_network *k, const float *target_mask)
{
    int64_t n = lra_elements(k->target_mask);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)target_mask[i];
    return sum > 0 ? (float)((double)n / sum) : 0;
}

/* Returns position ids (n,T) of the rows, which the caller frees. Ids beyond the end of the
 * position table, which only padding has, are clipped. */
static int32_t *position_ids_of(const lra_network *k, const lra_batch *b)
{
    int64_t most = (k->spec.T_max ? k->spec.T_max : k->T) - 1;
    int32_t *at = lra_alloc_array((size_t)(k->n * k->T), sizeof *at);
    for (int64_t i = 0; i < k->n * k->T; i++) {
        int64_t own = i % k->T + (b->place ? b->place[i / k->T] : 0);
        at[i] = (int32_t)(own < most ? own : most);
    }
    return at;
}

enum { MOST_INPUTS = 11 };
/* Inputs of a plan, in the order of their creation; inputs that are contiguous in memory are copied
 * at once. */
typedef struct {
    const lra_tensor *input[MOST_INPUTS];
    const void *host[MOST_INPUTS];
    int n;
} feed;

static void add_input(feed *f, const lra_tensor *input, const void *host)
{
    int at = f->n;
    if (!input) return;
    for (; at > 0 && f->input[at - 1]->id > input->id; at--) {
        f->input[at] = f->input[at - 1];
        f->host[at] = f->host[at - 1];
    }
    f->input[at] = input, f->host[at] = host, f->n++;
}

/* Sets the inputs of a plan to a batch. Nullable: step_input. */
static int set_batch(const lra_train_spec *s, const lra_network *k, lra_plan *p, const lra_batch *b,
                     const lra_tensor *step_input, const lra_step *step, lra_err *e)
{
    const lra_loss_mask a = lra_session_loss_mask(s, b);
    int32_t *position_ids = k->position_ids ? position_ids_of(k, b) : NULL;
    float scale = k->target ? scale_of(k, a.target_mask) : 0;
    feed f = {.n = 0};
    int rc = 0;
    add_input(&f, k->values, b->value);
    if (!k->values) add_input(&f, k->tokens, b->token);
    add_input(&f, k->length, b->length);
    add_input(&f, k->position_ids, position_ids);
    add_input(&f, k->label, a.label);
    for (int i = 0; i < 2; i++)
        add_input(&f, k->word[i], k->word[i] ? b->word + i * k->B * k->T : NULL);
    add_input(&f, k->target, a.target);
    add_input(&f, k->target_mask, a.target_mask);
    add_input(&f, k->scale, &scale);
    add_input(&f, step_input, step);
    for (int i = 0; i < f.n && rc == 0; i++) rc = lra_set(p, f.input[i], f.host[i], e);
    lra_free(position_ids);
    return rc;
}

int lra_session_set_inputs(const lra_network *k, lra_plan *p, const lra_batch *b, lra_err *e)
{
    int32_t *position_ids = k->position_ids ? position_ids_of(k, b) : NULL;
    int rc = k->length ? lra_set(p, k->length, b->length, e) : 0;
    if (rc == 0 && k->values) rc = lra_set(p, k->values, b->value, e);
    if (rc == 0 && !k->values) rc = lra_set(p, k->tokens, b->token, e);
    if (rc == 0 && position_ids) rc = lra_set(p, k->position_ids, position_ids, e);
    lra_free(position_ids);
    return rc;
}

int lra_session_set(const lra_train_spec *s, const lra_network *k, lra_plan *p, const lra_batch *b,
                    lra_err *e)
{
    return set_batch(s, k, p, b, NULL, NULL, e);
}

static int set_step(const lra_session *s, const lra_session_plan *p, const lra_batch *b,
                    const lra_step *step, lra_err *e)
{
    return set_batch(s->spec, &p->network, p->plan, b, p->step, step, e);
}

/* Returns the training plan for the i-th batch of an update. */
static lra_session_plan *part_of(lra_session *s, const lra_batch *b, int64_t i)
{
    lra_bucket_plans *p = &s->plans[b->bucket];
    if (i == lra_update_batches(s->spec) - 1) return &p->train[LRA_LAST_PART];
    return &p->train[i == 0 ? LRA_FIRST_PART : LRA_MIDDLE_PART];
}

int lra_session_ahead(const lra_session *s)
{
    return lra_readback_helps(s->device) ? LRA_MOST_STARTED - 1 : 0;
}

int lra_session_start(lra_session *s, const lra_batch *b, int64_t i, const lra_step *step,
                      lra_err *e)
{
    lra_session_plan *p = part_of(s, b, i);
    int ring = lra_session_ahead(s) + 1;
    if (s->n_started == ring) LRA_BUG("%d batches are in flight", ring);
    lra_started *now = &s->started[(s->first + s->n_started) % ring];
    lra_tensor *const target_mask[] = {p->network.output, p->update};
    if (set_step(s, p, b, step, e) != 0) return LRA_FAILED;
    if (lra_run(p->plan, e) != 0) return LRA_FAILED;
    if (lra_readback_start(now->results, p->plan, 2, target_mask, e) != 0) return LRA_FAILED;
    now->batch = b, now->step = *step;
    s->n_started++;
    return 0;
}

const lra_started *lra_session_finish(lra_session *s, float status[4], lra_err *e)
{
    const lra_started *now = &s->started[s->first];
    void *const host[] = {s->output, status};
    if (s->n_started == 0) LRA_BUG("no batch is in flight");
    if (lra_readback_wait(now->results, host, e) != 0) return NULL;
    s->first = (s->first + 1) % (lra_session_ahead(s) + 1), s->n_started--;
    return now;
}

int lra_session_part(lra_session *s, const lra_batch *b, int64_t i, const lra_step *step,
                     float status[4], lra_err *e)
{
    if (lra_session_start(s, b, i, step, e) != 0) return LRA_FAILED;
    return lra_session_finish(s, status, e) ? 0 : LRA_FAILED;
}

int lra_session_eval(lra_session *s, const lra_batch *b, lra_err *e)
{
    lra_session_plan *p = &s->plans[b->bucket].eval;
    int rc = lra_session_set(s->spec, &p->network, p->plan, b, e);
    if (rc == 0) rc = lra_run(p->plan, e);
    return rc == 0 ? lra_get(p->plan, p->network.output, s->output, e) : rc;
}

int lra_session_evaluate(lra_session *s, lra_loader *l, lra_sums *total, float *output,
                         lra_sums *row, lra_err *e)
{
    int64_t B = s->spec->batch, width = lra_session_network(s->spec).outputs;
    lra_sums *sums = lra_alloc_array((size_t)B, sizeof *sums);
    int rc = 0;
    *total = (lra_sums){0};
    for (int64_t i = 0; i < lra_loader_batches(l) && rc == 0; i++) {
        const lra_batch *b = lra_loader_get(l, i);
        rc = lra_session_eval(s, b, e);
        if (rc == 0) lra_session_rows(s->spec, b, B, s->buckets.length[b->bucket], s->output, sums);
        for (int64_t k = 0; k < B && rc == 0; k++) {
            if (b->row[k] < 0) continue;
            lra_sums_add(total, &sums[k]);
            if (row) row[b->row[k]] = sums[k];
            if (output)
                memcpy(output + b->row[k] * width, s->output + k * width,
                       (size_t)width * sizeof *output);
        }
    }
    lra_free(sums);
    return rc;
}

int lra_session_find_bad(lra_session *s, const lra_batch *b, int64_t i, const lra_step *step,
                         lra_err *e)
{
    lra_session_plan *p = part_of(s, b, i);
    if (set_step(s, p, b, step, e) != 0) return LRA_FAILED;
    return lra_run_checked(p->plan, e);
}

lra_plan *lra_session_largest(const lra_session *s)
{
    return s->plans[s->buckets.n - 1].train[LRA_LAST_PART].plan;
}
