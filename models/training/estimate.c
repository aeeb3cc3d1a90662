/* Estimates the cost of a run: FLOPs, bytes and memory from its plans, time from measured steps. */
#include "models/training/estimate.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "models/training/loaded_model.h"
#include "models/training/session.h"

/* Measures the seconds per step: runs two steps of every bucket, uses the second, and weights
 * buckets by their number of batches. */
static int time_steps(lra_session *s, lra_loader *l, lra_train_cost *c, lra_err *e)
{
    double seconds[LRA_MAX_BUCKETS] = {0}, total = 0;
    int64_t parts = lra_update_batches(s->spec), last = parts - 1;
    int64_t n = lra_loader_batches(l), runs[LRA_MAX_BUCKETS] = {0};
    for (int64_t i = 0; i < n; i++) {
        const lra_batch *b = lra_loader_get(l, i);
        lra_step step = {.seed = s->spec->seed, .rate = (float)s->spec->schedule.rate};
        float status[4];
        double start = lra_now();
        if (runs[b->bucket] < 2 && lra_session_part(s, b, last, &step, status, e) != 0)
            return LRA_FAILED;
        if (runs[b->bucket] < 2) seconds[b->bucket] = lra_now() - start;
        runs[b->bucket]++;
    }
    for (int b = 0; b < LRA_MAX_BUCKETS; b++) total += seconds[b] * (double)runs[b];
    c->seconds_per_step = n ? total / (double)n * (double)parts : 0;
    return 0;
}

int lra_train_check(const lra_train_spec *s, lra_err *e)
{
    const lra_sequences *rows = &s->data->split[LRA_TRAIN_SPLIT];
    double share = s->fraction > 0 ? s->fraction : 1;
    int64_t steps = rows->n ? rows->start[rows->n] : 0, context = s->data->max_length;
    int64_t batch = s->batch * lra_update_batches(s);
    int64_t n = (int64_t)(share * (double)rows->n + 1e-9);
    if (s->data->task->goal != LRA_GOAL_NEXT) {
        if (n >= batch || (s->same_steps && n > 0 && rows->n >= batch)) return 0;
        return lra_fail_usage(e, "batch %lld is larger than the training set of %lld",
                              (long long)batch, (long long)n);
    }
    steps = (int64_t)(share * (double)steps + 1e-9);
    if (steps / batch >= context) return 0;
    return lra_fail_usage(
        e,
        "batch %lld divides %lld training tokens into parts of %lld, which is shorter than the "
        "context of %lld",
        (long long)batch, (long long)steps, (long long)(steps / batch), (long long)context);
}

int lra_train_estimate(const lra_train_spec *spec, lra_device *dev, bool measure, lra_train_cost *c,
                       lra_err *e)
{
    lra_session s;
    *c = (lra_train_cost){0};
    if (lra_train_check(spec, e) != 0) return LRA_USAGE;
    int rc = lra_session_open(&s, spec, dev, e);
    if (rc != 0) return rc;
    lra_loader *l = lra_session_loader(&s, LRA_TRAIN_SPLIT, true);
    lra_cost cost = lra_plan_cost(lra_session_largest(&s));
    double parts = (double)lra_update_batches(spec);
    c->step_flops = cost.flops * parts;
    c->step_bytes = cost.bytes * parts;
    c->workspace_bytes = lra_session_workspace(&s);
    c->room_bytes = lra_session_room(&s);
    c->keep = s.keep;
    c->parameter_bytes = lra_params_bytes(s.params);
    c->steps = spec->schedule.epochs * lra_loader_batches(l);
    c->steps /= lra_update_batches(spec);
    c->buckets = s.buckets;
    c->padding = lra_loader_padding(l);
    lra_network_spec network = lra_session_network(spec);
    c->parameters = lra_network_parameters(spec->model, spec->model_config, &network);
    if (spec->weights) rc = lra_weights_read(spec, s.params, LRA_INITIAL_WEIGHTS, NULL, e);
    if (rc == 0 && measure) rc = time_steps(&s, l, c, e);
    lra_loader_free(l);
    lra_session_close(&s);
    return rc;
}

int64_t lra_train_epoch_steps(const lra_train_spec *spec)
{
    const lra_session s = {.spec = spec, .buckets = lra_buckets_find(spec->data)};
    lra_loader *l = lra_session_loader(&s, LRA_TRAIN_SPLIT, true);
    int64_t n = lra_loader_batches(l);
    lra_loader_free(l);
    return n / lra_update_batches(spec);
}
