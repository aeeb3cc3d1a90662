/* Weights: checkpoint -> safetensors -> parameters. */
#include "models/training/weights.h"

#include <math.h>
#include <string.h>

#include "kernels/base/h5.h"
#include "kernels/base/mem.h"
#include "kernels/base/options.h"

enum { MAX_DEPTH = 32, MAX_TENSORS = 100000 };

/* ---- layout --------------------------------------------------------------------------------------------- */

/* Kernels and matrices have their dimensions in the opposite order. */
static bool is_reversed(const char *path, int rank)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    return (rank == 3 && strcmp(last, "kernel") == 0) || (rank == 2 && strcmp(last, "w") == 0);
}

static void reverse_dims(int rank, int64_t *dims)
{
    for (int i = 0; i < rank / 2; i++) {
        int64_t kept = dims[i];
        dims[i] = dims[rank - 1 - i];
        dims[rank - 1 - i] = kept;
    }
}

/* out[c][b][a] = in[a][b][c]; rank 2 has b = 0 alone. */
static void reverse_values(int rank, const int64_t *dims, const float *in, float *out)
{
    int64_t A = dims[0], B = rank == 3 ? dims[1] : 1, C = dims[rank - 1];
    for (int64_t a = 0; a < A; a++)
        for (int64_t b = 0; b < B; b++)
            for (int64_t c = 0; c < C; c++) out[(c * B + b) * A + a] = in[(a * B + b) * C + c];
}

/* ---- export --------------------------------------------------------------------------------------------- */

typedef struct {
    lra_h5 *file;
    lra_safetensor *tensor;
    int n;
} collection;

/* Adds the dataset at `path` ("/param/..."), in PyTorch's layout. */
static int add_array(collection *c, const char *path, const lra_h5_info *info, lra_err *e)
{
    if (info->type != LRA_H5_F32)
        return lra_fail(e, "'%s' does not hold float32: weights of a float32 or bf16 run are",
                        path);
    if (c->n == MAX_TENSORS) return lra_fail(e, "more than %d arrays", MAX_TENSORS);
    float *values = lra_try_array(info->n, sizeof *values, path, e);
    if (!values) return LRA_FAILED;
    c->tensor = lra_resize(c->tensor, (size_t)(c->n + 1) * sizeof *c->tensor);
    lra_safetensor *t = &c->tensor[c->n++];
    *t = (lra_safetensor){lra_copy_text(path + 1), {.dtype = LRA_DTYPE_F32, .rank = info->rank}};
    memcpy(t->array.dims, info->dims, sizeof t->array.dims);
    t->array.bytes = values;
    if (lra_h5_get(c->file, path, LRA_H5_F32, info->rank, info->dims, values, e) != 0)
        return LRA_FAILED;
    if (!is_reversed(path, info->rank)) return 0;
    float *turned = lra_try_array(info->n, sizeof *turned, path, e);
    if (!turned) return LRA_FAILED;
    reverse_values(info->rank, info->dims, values, turned);
    reverse_dims(info->rank, t->array.dims);
    lra_free(values);
    t->array.bytes = turned;
    return 0;
}

/* Everything below a group, in the order of names. */
static int add_group(collection *c, const char *group, int depth, lra_err *e)
{
    char **names = NULL;
    if (depth > MAX_DEPTH) return lra_fail(e, "'%s' is nested deeper than %d", group, MAX_DEPTH);
    int n = lra_h5_list(c->file, group, &names, e), rc = n < 0 ? LRA_FAILED : 0;
    for (int i = 0; i < n && rc == 0; i++) {
        char *path = lra_format("%s/%s", group, names[i]);
        lra_h5_info info;
        lra_err ignored;
        rc = lra_h5_find(c->file, path, &info, &ignored) == 0 ? add_array(c, path, &info, e)
                                                              : add_group(c, path, depth + 1, e);
        lra_free(path);
    }
    if (n > 0) lra_h5_free_names(names, n);
    return rc;
}

static void copy_value(lra_config *meta, const char *to, const lra_config *from, const char *key)
{
    if (lra_config_has(from, key)) lra_config_set(meta, to, lra_config_text(from, key));
}

/* Who made the weights. */
static int describe(lra_h5 *file, lra_config *meta, lra_err *e)
{
    int64_t step;
    char *lines = lra_h5_get_text(file, "/config", e);
    lra_config *config = lines ? lra_config_parse(lines, e) : NULL;
    int rc = config ? 0 : LRA_FAILED;
    lra_config_set(meta, "lra.format", "1");
    lra_config_set(meta, "lra.framework", "lra-locality " LRA_VERSION);
    if (rc == 0) {
        copy_value(meta, "lra.task", config, "task");
        copy_value(meta, "lra.model", config, "model");
        copy_value(meta, "lra.seed", config, "seed");
        lra_config_set(meta, "config", lines);
        if (lra_h5_has_attr(file, "/", "step")) {
            rc = lra_h5_get_int(file, "/", "step", &step, e);
            if (rc == 0) lra_config_set_int(meta, "lra.step", step);
        }
    }
    lra_config_free(config);
    lra_free(lines);
    return rc;
}

int lra_weights_export(const char *checkpoint, const char *to, int *n_arrays, lra_err *e)
{
    collection c = {.file = lra_h5_open(checkpoint, "checkpoint", e)};
    if (!c.file) return LRA_FAILED;
    lra_config *meta = lra_config_new();
    int rc = describe(c.file, meta, e);
    if (rc == 0) rc = add_group(&c, "/param", 0, e);
    if (rc == 0 && lra_h5_has(c.file, "/state")) rc = add_group(&c, "/state", 0, e);
    lra_h5_close(c.file);
    if (rc != 0)
        lra_fail_in(e, "cannot export '%s'", checkpoint);
    else
        rc = lra_safetensors_write(to, c.n, c.tensor, meta, e);
    *n_arrays = c.n;
    for (int i = 0; i < c.n; i++) {
        lra_free(c.tensor[i].name);
        lra_free((void *)(uintptr_t)c.tensor[i].array.bytes);
    }
    lra_free(c.tensor);
    lra_config_free(meta);
    return rc;
}

/* ---- import --------------------------------------------------------------------------------------------- */

int lra_weights_check(const lra_safetensors *t, const char *name, lra_err *e)
{
    static const char *const known[] = {"lra.format", "lra.task",  "lra.causal",
                                        "lra.grid",   "lra.model", "lra.framework",
                                        "lra.seed",   "lra.step",  "lra.note"};
    enum { N_KNOWN = sizeof known / sizeof *known };
    for (int i = 0; lra_config_key(t->meta, i); i++) {
        const char *key = lra_config_key(t->meta, i);
        bool found = strncmp(key, "lra.", 4) != 0;
        for (int k = 0; k < N_KNOWN && !found; k++) found = strcmp(key, known[k]) == 0;
        const char *near = found ? NULL : lra_nearest(key, N_KNOWN, known);
        if (!found)
            return near ? lra_fail(e, "'%s': unknown metadata '%s'; did you mean '%s'?", name, key,
                                   near)
                        : lra_fail(e, "'%s': unknown metadata '%s'", name, key);
    }
    const char *format = lra_config_text_or(t->meta, "lra.format", "");
    if (strcmp(format, "1") == 0) return 0;
    if (!*format)
        return lra_fail(
            e, "'%s' has no metadata 'lra.format'; save it with {\"lra.format\": \"1\"}", name);
    return lra_fail(e, "'%s' has format '%s', this program reads 1", name, format);
}

/* The name of the i-th array in a file; NULL: a moment or a constant, which has none.  Caller frees. */
static char *tensor_name(const lra_params *p, int i)
{
    const char *path = lra_params_path(p, i);
    if (lra_params_constant(p, i) || strncmp(path, "adam/", 5) == 0) return NULL;
    return lra_format("%s/%s", lra_params_trained(p, i) ? "param" : "state", path);
}

static int fail_shape(const lra_ndarray *a, lra_shape wanted, const char *tensor, const char *name,
                      lra_err *e)
{
    char found[96], expected[96];
    lra_shape s = {0};
    bool shown = a->rank <= LRA_MAX_RANK;
    if (shown) s = lra_shape_from(a->rank, a->dims);
    return lra_fail(e, "'%s': '%s' has shape %s, expected %s%s", name, tensor,
                    shown ? lra_shape_text(s, found) : "of a higher rank",
                    lra_shape_text(wanted, expected),
                    is_reversed(tensor, wanted.n) ? " (outputs first, as PyTorch has it)" : "");
}

/* Reads one array in our layout; values: (n). */
static int read_values(const lra_ndarray *a, const char *tensor, const char *name, lra_shape ours,
                       float *values, float *scratch, lra_err *e)
{
    bool turn = is_reversed(tensor, ours.n);
    char *where = lra_format("%s': '%s", name, tensor);
    int rc = lra_ndarray_get_f32(a, where, turn ? scratch : values, e);
    lra_free(where);
    if (rc != 0) return rc;
    if (turn) {
        reverse_dims(ours.n, ours.d);
        reverse_values(ours.n, ours.d, scratch, values);
    }
    for (int64_t i = 0; i < a->n; i++)
        if (!isfinite(values[i]))
            return lra_fail(e, "'%s': '%s' holds values that are not finite", name, tensor);
    return 0;
}

static int import_one(lra_params *p, int i, const lra_ndarray *a, const char *tensor,
                      const char *name, lra_err *e)
{
    lra_shape ours = lra_params_shape(p, i), theirs = ours;
    if (is_reversed(tensor, ours.n)) reverse_dims(theirs.n, theirs.d);
    bool same = a->rank == theirs.n;
    for (int k = 0; k < theirs.n && same; k++) same = a->dims[k] == theirs.d[k];
    if (!same) return fail_shape(a, theirs, tensor, name, e);
    float *values = lra_try_array(a->n, sizeof *values, tensor, e);
    float *scratch = values ? lra_try_array(a->n, sizeof *scratch, tensor, e) : NULL;
    int rc = scratch ? read_values(a, tensor, name, ours, values, scratch, e) : LRA_FAILED;
    if (rc == 0) rc = lra_params_set(p, lra_params_path(p, i), values, e);
    lra_free(values);
    lra_free(scratch);
    return rc;
}

/* Names that the model does not have. */
static int check_names(const lra_params *p, const lra_safetensors *t, const char *name, lra_err *e)
{
    int n = 0, n_model = lra_params_count(p);
    char **all = lra_alloc_array((size_t)n_model + 1, sizeof *all);
    const char *unknown = NULL;
    for (int i = 0; i < n_model; i++) {
        all[n] = tensor_name(p, i);
        n += all[n] != NULL;
    }
    for (int i = 0; i < t->n && !unknown; i++) {
        bool found = false;
        for (int k = 0; k < n && !found; k++) found = strcmp(all[k], t->tensor[i].name) == 0;
        if (!found) unknown = t->tensor[i].name;
    }
    const char *near = unknown ? lra_nearest(unknown, n, (const char *const *)all) : NULL;
    if (near)
        lra_fail(e, "'%s': the model has no '%s'; did you mean '%s'?", name, unknown, near);
    else if (unknown)
        lra_fail(e, "'%s': the model has no '%s'; its first array is '%s'", name, unknown,
                 n ? all[0] : "");
    for (int i = 0; i < n; i++) lra_free(all[i]);
    lra_free(all);
    return unknown ? LRA_FAILED : 0;
}

int lra_weights_import(lra_params *p, const lra_safetensors *t, const char *name, int *n_converted,
                       lra_err *e)
{
    int rc = lra_weights_check(t, name, e);
    if (rc == 0) rc = check_names(p, t, name, e);
    *n_converted = 0;
    for (int i = 0; i < lra_params_count(p) && rc == 0; i++) {
        char *tensor = tensor_name(p, i);
        if (!tensor) continue;
        const lra_ndarray *a = lra_safetensors_find(t, tensor);
        if (!a)
            rc = lra_fail(e, "'%s' has no '%s', which the model needs", name, tensor);
        else
            rc = import_one(p, i, a, tensor, name, e);
        *n_converted += a && a->dtype != LRA_DTYPE_F32;
        lra_free(tensor);
    }
    return rc;
}
