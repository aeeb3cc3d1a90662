/* Exports and imports weights as safetensors. */
#include "models/training/weights.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "kernels/base/os/file.h"

/* ---- layout ---------------------------------------------------------------------------------- */

static void reverse_dims(int rank, int64_t *dims)
{
    for (int i = 0; i < rank / 2; i++) {
        int64_t kept = dims[i];
        dims[i] = dims[rank - 1 - i];
        dims[rank - 1 - i] = kept;
    }
}

void lra_weights_reverse(lra_shape *s, size_t element, const void *in, void *out)
{
    int64_t A = s->d[0], B = s->n == 3 ? s->d[1] : 1, C = s->d[s->n - 1];
    const char *from = in;
    char *to = out;
    for (int64_t a = 0; a < A; a++)
        for (int64_t b = 0; b < B; b++)
            for (int64_t c = 0; c < C; c++, from += element)
                memcpy(to + ((c * B + b) * A + a) * (int64_t)element, from, element);
    reverse_dims(s->n, s->d);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Returns the name of array i in a file; NULL for moments and constants, which are not exported.
 * The caller frees it. */
static char *tensor_name(const lra_params *p, int i)
{
    const char *path = lra_params_path(p, i);
    if (lra_params_constant(p, i) || strncmp(path, "adam/", 5) == 0) return NULL;
    return lra_format("%s/%s", lra_params_trained(p, i) ? "param" : "state", path);
}

static bool is_reversed(const lra_params *p, int i)
{
    return lra_params_layout(p, i) == LRA_LAYOUT_REVERSED;
}

/* ---- export ---------------------------------------------------------------------------------- */

/* Sets the dimensions of an array in a file; a scalar becomes an array of one element. */
static void set_dims(lra_ndarray *a, lra_shape s)
{
    a->rank = s.n ? s.n : 1;
    a->dims[0] = 1;
    for (int i = 0; i < s.n; i++) a->dims[i] = s.d[i];
}

/* Reads array i from the store, in PyTorch's layout. */
static int read_tensor(const lra_params *p, int i, lra_safetensor *t, lra_err *e)
{
    lra_shape s = lra_params_shape(p, i);
    int64_t n = lra_shape_elements(s);
    float *values = lra_try_array(n, sizeof *values, lra_params_path(p, i), e);
    if (!values) return LRA_FAILED;
    t->array.dtype = LRA_DTYPE_F32;
    t->array.bytes = values;
    set_dims(&t->array, s);
    if (lra_params_get(p, lra_params_path(p, i), values, e) != 0) return LRA_FAILED;
    if (!is_reversed(p, i)) return 0;
    float *turned = lra_try_array(n, sizeof *turned, lra_params_path(p, i), e);
    if (!turned) return LRA_FAILED;
    lra_weights_reverse(&s, sizeof *values, values, turned);
    set_dims(&t->array, s);
    lra_free(values);
    t->array.bytes = turned;
    return 0;
}

static void copy_value(lra_config *meta, const char *to, const lra_config *from, const char *key)
{
    if (lra_config_has(from, key)) lra_config_set(meta, to, lra_config_text(from, key));
}

int lra_weights_describe(const char *lines, int64_t step, lra_config *meta, lra_err *e)
{
    lra_config *config = lra_config_parse(lines, e);
    lra_config_set(meta, "lra.format", "1");
    lra_config_set(meta, "lra.framework", "lra-locality " LRA_VERSION);
    lra_config_set(meta, "config", lines);
    if (step >= 0) lra_config_set_int(meta, "lra.step", step);
    if (!config) return LRA_FAILED;
    copy_value(meta, "lra.task", config, "task");
    copy_value(meta, "lra.model", config, "model");
    copy_value(meta, "lra.seed", config, "seed");
    lra_config_free(config);
    return 0;
}

int lra_weights_export(const lra_params *p, const char *config, int64_t step, const char *to,
                       int *n_arrays, lra_err *e)
{
    int all = lra_params_count(p), n = 0;
    lra_safetensor *t = lra_alloc_array((size_t)all + 1, sizeof *t);
    lra_config *meta = lra_config_new();
    int rc = lra_weights_describe(config, step, meta, e);
    for (int i = 0; i < all && rc == 0; i++) {
        char *name = tensor_name(p, i);
        if (!name) continue;
        t[n].name = name;
        rc = read_tensor(p, i, &t[n++], e);
    }
    if (rc == 0) rc = lra_safetensors_write(to, n, t, meta, e);
    *n_arrays = n;
    for (int i = 0; i < n; i++) {
        lra_free(t[i].name);
        lra_free((void *)(uintptr_t)t[i].array.bytes);
    }
    lra_free(t);
    lra_config_free(meta);
    return rc;
}

/* ---- import ---------------------------------------------------------------------------------- */

/* Returns true if any array has a name as lra_weights_export() writes them. */
static bool has_own_name(const lra_safetensors *t)
{
    for (int i = 0; i < t->n; i++)
        if (strncmp(t->tensor[i].name, "param/", 6) == 0 ||
            strncmp(t->tensor[i].name, "state/", 6) == 0)
            return true;
    return false;
}

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
    /* Names of another program: lra_weights_import() compares them with those of the model. */
    if (!*format && !has_own_name(t)) return 0;
    if (!*format)
        return lra_fail(
            e, "'%s' has no metadata 'lra.format'; save it with {\"lra.format\": \"1\"}", name);
    return lra_fail(e, "'%s' has format '%s', this program reads 1", name, format);
}

static int fail_shape(const lra_ndarray *a, lra_shape wanted, bool turned, const char *tensor,
                      const char *name, lra_err *e)
{
    char found[96], expected[96];
    lra_shape s = {0};
    bool shown = a->rank <= LRA_MAX_RANK;
    if (shown) s = lra_shape_from(a->rank, a->dims);
    return lra_fail(e, "'%s': '%s' has shape %s, expected %s%s", name, tensor,
                    shown ? lra_shape_text(s, found) : "of a higher rank",
                    lra_shape_text(wanted, expected),
                    turned ? " (outputs first, as in PyTorch)" : "");
}

/* Reads one array in this suite's layout; values and scratch: (n). */
static int read_values(const lra_ndarray *a, const char *tensor, const char *name, lra_shape ours,
                       bool turn, float *values, float *scratch, lra_err *e)
{
    char *where = lra_format("%s': '%s", name, tensor);
    int rc = lra_ndarray_get_f32(a, where, turn ? scratch : values, e);
    lra_free(where);
    if (rc != 0) return rc;
    if (turn) {
        reverse_dims(ours.n, ours.d);
        lra_weights_reverse(&ours, sizeof *values, scratch, values);
    }
    for (int64_t i = 0; i < a->n; i++)
        if (!isfinite(values[i]))
            return lra_fail(e, "'%s': '%s' contains values that are not finite", name, tensor);
    return 0;
}

int lra_weights_put(lra_params *p, int i, const lra_ndarray *a, const char *tensor,
                    const char *name, lra_err *e)
{
    lra_shape ours = lra_params_shape(p, i), theirs = ours;
    if (is_reversed(p, i)) reverse_dims(theirs.n, theirs.d);
    bool same = a->rank == theirs.n;
    for (int k = 0; k < theirs.n && same; k++) same = a->dims[k] == theirs.d[k];
    if (!same) return fail_shape(a, theirs, is_reversed(p, i), tensor, name, e);
    float *values = lra_try_array(a->n, sizeof *values, tensor, e);
    float *scratch = values ? lra_try_array(a->n, sizeof *scratch, tensor, e) : NULL;
    int rc = scratch ? read_values(a, tensor, name, ours, is_reversed(p, i), values, scratch, e)
                     : LRA_FAILED;
    if (rc == 0) rc = lra_params_set(p, lra_params_path(p, i), values, e);
    lra_free(values);
    lra_free(scratch);
    return rc;
}

int lra_weights_fail_names(const lra_weights_names *n, const char *name, lra_err *e)
{
    static const char *const be[2] = {"is", "are"};
    lra_text t = {0};
    if (n->n_unknown == 0 && n->n_missing == 0) return 0;
    lra_text_add(&t, "'%s' does not fit the model: ", name);
    if (n->n_unknown)
        lra_text_add(&t, "%d of its %d arrays %s unknown, the first is '%s'", n->n_unknown,
                     n->n_file, be[n->n_unknown > 1], n->unknown);
    if (n->near) lra_text_add(&t, " (did you mean '%s'?)", n->near);
    if (n->n_missing)
        lra_text_add(&t, "%s%d of the model's %d arrays %s missing, the first is '%s'",
                     n->n_unknown ? "; " : "", n->n_missing, n->n_model, be[n->n_missing > 1],
                     n->missing);
    if (n->n_unknown == n->n_file)
        lra_text_add(&t, "; 'lra-probe export' of a run of the model shows its names");
    lra_fail(e, "%s", t.s);
    lra_text_free(&t);
    return LRA_FAILED;
}

static bool is_among(const char *name, int n, char *const *all)
{
    for (int i = 0; i < n; i++)
        if (strcmp(all[i], name) == 0) return true;
    return false;
}

/* Fails unless the array names of the file and of the model are the same. */
static int check_names(const lra_params *p, const lra_safetensors *t, const char *name, lra_err *e)
{
    int n = 0, n_model = lra_params_count(p);
    char **all = lra_alloc_array((size_t)n_model + 1, sizeof *all);
    for (int i = 0; i < n_model; i++) {
        all[n] = tensor_name(p, i);
        n += all[n] != NULL;
    }
    lra_weights_names names = {.n_file = t->n, .n_model = n};
    for (int i = 0; i < t->n; i++) {
        if (is_among(t->tensor[i].name, n, all)) continue;
        if (names.n_unknown++ == 0) names.unknown = t->tensor[i].name;
    }
    for (int i = 0; i < n; i++) {
        if (lra_safetensors_find(t, all[i])) continue;
        if (names.n_missing++ == 0) names.missing = all[i];
    }
    if (names.unknown) names.near = lra_nearest(names.unknown, n, (const char *const *)all);
    int rc = lra_weights_fail_names(&names, name, e);
    lra_names_free(all, n);
    return rc;
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
        rc = lra_weights_put(p, i, a, tensor, name, e);
        *n_converted += a->dtype != LRA_DTYPE_F32;
        lra_free(tensor);
    }
    return rc;
}
