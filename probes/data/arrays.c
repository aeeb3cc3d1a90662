/* Writes the rows of a data set as arrays of a safetensors file. */
#include "probes/data/arrays.h"

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/safetensors.h"

enum { MOST = 5 * LRA_N_SPLITS };

typedef struct {
    int n;
    lra_safetensor tensor[MOST];
    void *owned[MOST]; /* to be freed; NULL: part of the data set */
} arrays;

static void add(arrays *a, int split, const char *name, lra_dtype dtype, int rank, int64_t n,
                int64_t width, const void *bytes, void *owned)
{
    lra_safetensor *t = &a->tensor[a->n];
    *t = (lra_safetensor){.name = lra_format("%s/%s", lra_split_names[split], name),
                          .array = {.dtype = dtype, .rank = rank, .dims = {n, width}}};
    t->array.n = rank == 2 ? n * width : n;
    t->array.element = lra_dtype_bytes(dtype);
    t->array.bytes = bytes;
    a->owned[a->n++] = owned;
}

static void free_arrays(arrays *a)
{
    for (int i = 0; i < a->n; i++) {
        lra_free(a->tensor[i].name);
        lra_free(a->owned[i]);
    }
}

/* Adds the token ids of all rows of a split, (N). */
static int add_tokens(arrays *a, int split, const lra_sequences *r, lra_err *e)
{
    int64_t n = r->start[r->n];
    int32_t *id = lra_try_array(n + 1, sizeof *id, "tokens", e);
    if (!id) return LRA_FAILED;
    for (int64_t i = 0; i < n; i++) id[i] = (int32_t)lra_token_at(r->token, r->width, i);
    add(a, split, "tokens", LRA_DTYPE_I32, 1, n, 1, id, id);
    return 0;
}

/* Adds the inputs of a model for all tokens of a split, (N, channels): computed by the task, or the
 * scaled numbers of the rows. */
static int add_values(arrays *a, int split, const lra_dataset *d, lra_err *e)
{
    const lra_sequences *r = &d->split[split];
    const lra_task *t = d->task;
    int channels = t->input.channels;
    int64_t n = r->start[r->n];
    float *value = lra_try_array(n * channels + 1, sizeof *value, "values", e);
    if (!value) return LRA_FAILED;
    for (int64_t i = 0; i < r->n; i++) {
        lra_row row = lra_sequences_row(r, i);
        float *to = value + r->start[i] * channels;
        if (t->input.values) {
            t->input.values(d, &row, to);
            continue;
        }
        for (int64_t j = 0; j < row.n * channels; j++)
            to[j] = d->scale[j] * (row.token ? (float)row.token[j] : row.value[j]) + d->shift[j];
    }
    add(a, split, "values", LRA_DTYPE_F32, 2, n, channels, value, value);
    return 0;
}

static int add_split(arrays *a, int split, const lra_dataset *d, lra_err *e)
{
    const lra_sequences *r = &d->split[split];
    lra_goal goal = d->task->goal;
    if (r->n == 0) return 0;
    add(a, split, "start", LRA_DTYPE_I64, 1, r->n + 1, 1, r->start, NULL);
    if (goal == LRA_GOAL_CLASS || goal == LRA_GOAL_PAIR)
        add(a, split, "label", LRA_DTYPE_I32, 1, r->n, 1, r->label, NULL);
    if (r->target)
        add(a, split, "target", LRA_DTYPE_F32, 2, r->step_targets ? r->start[r->n] : r->n,
            r->n_targets, r->target, NULL);
    if (r->middle) add(a, split, "middle", LRA_DTYPE_I64, 1, r->n, 1, r->middle, NULL);
    return d->task->input.channels ? add_values(a, split, d, e) : add_tokens(a, split, r, e);
}

int lra_data_arrays(const lra_dataset *d, const char *path, lra_err *e)
{
    static const char *const goals[] = {[LRA_GOAL_CLASS] = "class",
                                        [LRA_GOAL_PAIR] = "pair",
                                        [LRA_GOAL_VALUE] = "value",
                                        [LRA_GOAL_TOKENS] = "steps",
                                        [LRA_GOAL_NEXT] = "next"};
    const lra_task *t = d->task;
    arrays a = {0};
    lra_config *meta = lra_config_new();
    lra_config_set(meta, "task", t->name);
    lra_config_set(meta, "goal", goals[t->goal]);
    lra_config_set(meta, "fingerprint", d->fingerprint);
    lra_config_set_int(meta, "vocab", d->vocab);
    lra_config_set_int(meta, "classes", t->n_classes);
    lra_config_set_int(meta, "channels", t->input.channels);
    lra_config_set_int(meta, "length", d->max_length);
    lra_config_set_int(meta, "image", t->input.image);
    int rc = 0;
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++) rc = add_split(&a, s, d, e);
    if (rc == 0) rc = lra_safetensors_write(path, a.n, a.tensor, meta, e);
    if (rc == 0) lra_note("wrote %s", path);
    lra_config_free(meta);
    free_arrays(&a);
    return rc;
}
