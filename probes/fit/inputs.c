/* Writes the model inputs of one epoch, for training rows that change from epoch to epoch
 * (exchange.h). */
#include <math.h>
#include <string.h>

#include "datasets/loader/batch.h"
#include "datasets/prepare.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/safetensors.h"
#include "probes/fit/exchange.h"

/* Inputs of all sequences of an epoch, without padding. */
typedef struct {
    int64_t n, tokens, room; /* number of sequences and of tokens; allocated tokens */
    int64_t *start;          /* (n + 1) */
    int32_t *token;          /* (tokens); NULL: real inputs */
    float *value;            /* (tokens, channels); NULL: token ids */
    int32_t *label;          /* one per row; NULL: real targets */
    float *target;           /* (rows, targets) */
} epoch_inputs;

static int reserve(epoch_inputs *x, int64_t more, int64_t channels, lra_err *e)
{
    if (x->tokens + more <= x->room) return 0;
    int64_t room = 2 * (x->tokens + more);
    void *old = channels ? (void *)x->value : (void *)x->token;
    size_t size = channels ? sizeof(float) * (size_t)channels : sizeof(int32_t);
    void *new = lra_try_array(room, size, "inputs of an epoch", e);
    if (!new) return LRA_FAILED;
    if (old) memcpy(new, old, (size_t)x->tokens * size);
    lra_free(old);
    if (channels)
        x->value = new;
    else
        x->token = new;
    x->room = room;
    return 0;
}

/* Appends the sequences of a batch, whose rows have T tokens with padding. */
static int append(epoch_inputs *x, const lra_batch *b, int64_t T, int64_t channels, lra_err *e)
{
    for (int64_t k = 0; k < b->n; k++) {
        int64_t n = b->length[k], C = channels;
        if (reserve(x, n, channels, e) != 0) return LRA_FAILED;
        if (C)
            memcpy(x->value + x->tokens * C, b->value + k * T * C, (size_t)(n * C) * sizeof(float));
        else
            memcpy(x->token + x->tokens, b->token + k * T, (size_t)n * sizeof(int32_t));
        x->tokens += n;
        x->start[++x->n] = x->tokens;
    }
    return 0;
}

static int collect(const lra_loader_spec *spec, int64_t epoch, epoch_inputs *x, lra_err *e)
{
    const lra_task *t = spec->data->task;
    lra_loader *l = lra_loader_new(spec);
    int64_t S = lra_loader_batches(l), B = spec->batch, C = t->n_targets;
    int64_t parts = t->goal == LRA_GOAL_PAIR ? 2 : 1;
    int rc = 0;
    x->start = lra_alloc_array((size_t)(S * B * parts) + 1, sizeof *x->start);
    if (C)
        x->target = lra_alloc_array((size_t)(S * B * C) + 1, sizeof *x->target);
    else
        x->label = lra_alloc_array((size_t)(S * B) + 1, sizeof *x->label);
    x->start[0] = 0;
    lra_loader_epoch(l, epoch);
    for (int64_t i = 0; i < S && rc == 0; i++) {
        const lra_batch *b = lra_loader_get(l, i);
        rc = append(x, b, spec->buckets->length[b->bucket], t->input.channels, e);
        for (int64_t k = 0; k < B * C; k++)
            x->target[i * B * C + k] = b->target_mask[k] != 0 ? b->target[k] : NAN;
        if (!C) memcpy(x->label + i * B, b->label, (size_t)B * sizeof *x->label);
    }
    lra_loader_free(l);
    return rc;
}

static lra_safetensor array_of(const char *name, lra_dtype dtype, int64_t n, int64_t width,
                               const void *bytes)
{
    lra_safetensor t = {.name = (char *)name, .array = {.dtype = dtype, .rank = width ? 2 : 1}};
    t.array.dims[0] = n, t.array.dims[1] = width;
    t.array.n = width ? n * width : n;
    t.array.element = lra_dtype_bytes(dtype);
    t.array.bytes = (void *)bytes;
    return t;
}

static int write(const epoch_inputs *x, const lra_task *t, const char *path, lra_err *e)
{
    int64_t rows = x->n / (t->goal == LRA_GOAL_PAIR ? 2 : 1);
    lra_safetensor a[3] = {array_of("start", LRA_DTYPE_I64, x->n + 1, 0, x->start)};
    a[1] = x->value ? array_of("values", LRA_DTYPE_F32, x->tokens, t->input.channels, x->value)
                    : array_of("tokens", LRA_DTYPE_I32, x->tokens, 0, x->token);
    a[2] = x->target ? array_of("target", LRA_DTYPE_F32, rows, t->n_targets, x->target)
                     : array_of("label", LRA_DTYPE_I32, rows, 0, x->label);
    return lra_safetensors_write(path, 3, a, NULL, e);
}

int lra_fit_write_inputs(const lra_job *job, const lra_fit_model *m, int64_t epoch,
                         const char *path, lra_err *e)
{
    epoch_inputs x = {0};
    lra_train_spec spec;
    const lra_buckets buckets = lra_buckets_find(job->data);
    lra_job_spec(job, (int64_t)m->seed, &spec);
    const lra_loader_spec rows = {.data = job->data,
                                  .split = LRA_TRAIN_SPLIT,
                                  .buckets = &buckets,
                                  .batch = spec.batch,
                                  .seed = spec.seed,
                                  .training = true,
                                  .augment = lra_fit_inputs_change(job),
                                  .fraction = spec.fraction,
                                  .same_steps = spec.same_steps,
                                  .group = 1,
                                  .alone = true};
    int rc = collect(&rows, epoch, &x, e);
    if (rc == 0) rc = write(&x, job->task, path, e);
    if (rc == 0) lra_note("wrote %s", path);
    lra_free(x.start);
    lra_free(x.token);
    lra_free(x.value);
    lra_free(x.label);
    lra_free(x.target);
    lra_job_spec_free(&spec);
    return rc;
}
