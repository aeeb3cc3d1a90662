/* Graphs and plans of a run. */
#include "models/training/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/graph/backend.h"

static const lra_head head_of[] = {[LRA_GOAL_CLASS] = LRA_HEAD_CLASS,
                                   [LRA_GOAL_PAIR] = LRA_HEAD_PAIR,
                                   [LRA_GOAL_VALUE] = LRA_HEAD_VALUE,
                                   [LRA_GOAL_STEPS] = LRA_HEAD_STEPS,
                                   [LRA_GOAL_NEXT] = LRA_HEAD_NEXT};

lra_network_spec lra_session_network(const lra_train_spec *s)
{
    const lra_task *task = s->data->task;
    lra_head head = head_of[task->goal];
    int64_t vocab = task->channels ? 0 : s->data->vocab;
    return (lra_network_spec){.head = head,
                              .vocab = vocab,
                              .channels = task->channels,
                              .outputs = head == LRA_HEAD_NEXT ? vocab
                                         : task->n_targets     ? task->n_targets
                                                               : task->n_classes,
                              .pool = s->pool};
}

static int open_training(lra_session *s, lra_bucket_plans *p, int64_t T, lra_err *e)
{
    const lra_train_spec *spec = s->spec;
    lra_network_spec network = lra_session_network(spec);
    p->train = lra_network_build(spec->type, LRA_TRAIN, spec->model, spec->model_config, &network,
                                 spec->batch, T);
    lra_graph_keep(p->train.graph, s->keep);
    int n = lra_graph_params(p->train.graph, NULL);
    lra_tensor **param = lra_alloc_array((size_t)n + 1, sizeof *param);
    lra_graph_params(p->train.graph, param);
    p->step = lra_step_input(p->train.graph);
    p->update = lra_adamw(p->train.loss, n, param, &spec->optimizer);
    lra_free(param);
    lra_tensor *train_out[] = {p->update, p->train.output};
    p->train_plan = lra_plan_new(p->train.graph, s->params, s->space, 2, train_out, e);
    if (!p->train_plan) return LRA_FAILED;
    lra_plan_threads(p->train_plan, spec->threads);
    return 0;
}

static int open_bucket(lra_session *s, lra_bucket_plans *p, int64_t T, lra_err *e)
{
    const lra_train_spec *spec = s->spec;
    lra_network_spec network = lra_session_network(spec);
    if (!spec->evaluate_only && open_training(s, p, T, e) != 0) return LRA_FAILED;
    p->eval = lra_network_build(spec->type, LRA_EVAL, spec->model, spec->model_config, &network,
                                spec->batch, T);
    p->eval_plan = lra_plan_new(p->eval.graph, s->params, s->space, 1, &p->eval.output, e);
    if (!p->eval_plan) return LRA_FAILED;
    lra_plan_threads(p->eval_plan, spec->threads);
    return 0;
}

static void close_buckets(lra_session *s)
{
    for (int b = 0; b < s->buckets.n; b++) {
        lra_plan_free(s->plans[b].train_plan);
        lra_plan_free(s->plans[b].eval_plan);
        lra_graph_free(s->plans[b].train.graph);
        lra_graph_free(s->plans[b].eval.graph);
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

lra_loader *lra_session_loader(const lra_session *s, int split, bool training)
{
    lra_loader_spec spec = {.data = s->spec->data,
                            .split = split,
                            .buckets = &s->buckets,
                            .batch = s->spec->batch,
                            .seed = s->spec->seed,
                            .training = training,
                            .augment = training &&
                                       (s->spec->augment || s->spec->data->task->fresh)};
    return lra_loader_new(&spec);
}

double lra_session_workspace(const lra_session *s)
{
    double most = 0;
    for (int b = 0; b < s->buckets.n; b++) {
        const lra_bucket_plans *p = &s->plans[b];
        if (p->train_plan) most = fmax(most, lra_plan_cost(p->train_plan).workspace_bytes);
        most = fmax(most, lra_plan_cost(p->eval_plan).workspace_bytes);
    }
    return most;
}

double lra_session_room(const lra_session *s)
{
    const lra_backend *b = s->device->backend;
    if (s->spec->memory == 0) /* the parameters are in memory already */
        return b->memory_free ? b->memory_free(s->device) : 0;
    return fmax(1, s->spec->memory - lra_params_bytes(s->params));
}

static int check_memory(const lra_session *s, lra_err *e)
{
    char need[32], have[32], fits[48] = "not even a batch of 1 fits";
    double work = lra_session_workspace(s), room = lra_session_room(s);
    double batch = (double)s->spec->batch, most = floor(room / work * batch);
    if (room == 0 || work <= room) return 0; /* 0: unknown */
    if (most >= 1) snprintf(fits, sizeof fits, "a batch of %.0f would fit", most);
    return lra_fail(e, "batch %.0f needs %s of workspace%s, found %s on '%s'; %s", batch,
                    lra_size_text(need, work),
                    s->keep == LRA_KEEP_LAYERS ? " although layers are computed again" : "",
                    lra_size_text(have, room), s->device->name, fits);
}

/* Room for the output of the longest bucket. */
static float *new_output(const lra_session *s)
{
    int64_t most = 1;
    for (int b = 0; b < s->buckets.n; b++) {
        int64_t n = lra_elements(s->plans[b].eval.output);
        if (n > most) most = n;
    }
    return lra_alloc_array((size_t)most, sizeof(float));
}

int lra_session_open(lra_session *s, const lra_train_spec *spec, lra_device *dev, lra_err *e)
{
    lra_network_spec network = lra_session_network(spec);
    if (lra_network_check(spec->model, spec->model_config, &network, e) != 0) return LRA_USAGE;
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
    if (rc == 0 && fits == 0) {
        s->output = new_output(s);
        return 0;
    }
    lra_session_close(s);
    return LRA_FAILED;
}

void lra_session_close(lra_session *s)
{
    close_buckets(s);
    lra_params_free(s->params);
    lra_free(s->output);
    *s = (lra_session){0};
}

/* Elements of the targets over those that are asked. */
static float scale_of(const lra_network *k, const lra_batch *b)
{
    int64_t n = lra_elements(k->asked);
    double asked = 0;
    for (int64_t i = 0; i < n; i++) asked += (double)b->asked[i];
    return asked > 0 ? (float)((double)n / asked) : 0;
}

static int set_batch(lra_plan *p, const lra_network *k, const lra_batch *b, lra_err *e)
{
    int rc = k->values ? lra_set(p, k->values, b->value, e) : lra_set(p, k->tokens, b->token, e);
    if (rc == 0) rc = lra_set(p, k->length, b->length, e);
    if (rc == 0 && k->label) rc = lra_set(p, k->label, b->label, e);
    if (rc != 0 || !k->target) return rc;
    float scale = scale_of(k, b);
    rc = lra_set(p, k->target, b->target, e);
    if (rc == 0) rc = lra_set(p, k->asked, b->asked, e);
    return rc == 0 ? lra_set(p, k->scale, &scale, e) : rc;
}

int lra_session_step(lra_session *s, const lra_batch *b, const lra_step *step, float status[4],
                     lra_err *e)
{
    lra_bucket_plans *p = &s->plans[b->bucket];
    if (set_batch(p->train_plan, &p->train, b, e) != 0) return LRA_FAILED;
    if (lra_set(p->train_plan, p->step, step, e) != 0) return LRA_FAILED;
    if (lra_run(p->train_plan, e) != 0) return LRA_FAILED;
    if (lra_get(p->train_plan, p->train.output, s->output, e) != 0) return LRA_FAILED;
    return lra_get(p->train_plan, p->update, status, e);
}

int lra_session_eval(lra_session *s, const lra_batch *b, lra_err *e)
{
    lra_bucket_plans *p = &s->plans[b->bucket];
    int rc = set_batch(p->eval_plan, &p->eval, b, e);
    if (rc == 0) rc = lra_run(p->eval_plan, e);
    return rc == 0 ? lra_get(p->eval_plan, p->eval.output, s->output, e) : rc;
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
        if (rc == 0) lra_session_rows(s, b, sums);
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

int lra_session_find_bad(lra_session *s, const lra_batch *b, const lra_step *step, lra_err *e)
{
    lra_bucket_plans *p = &s->plans[b->bucket];
    if (set_batch(p->train_plan, &p->train, b, e) != 0) return LRA_FAILED;
    if (lra_set(p->train_plan, p->step, step, e) != 0) return LRA_FAILED;
    return lra_run_checked(p->train_plan, e);
}
