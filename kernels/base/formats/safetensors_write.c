/* Writes safetensors. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/safetensors.h"

enum { ALIGNMENT = 8 };

/* Compares in the order of the reference implementation: by its ranking of element types, which
 * puts larger elements first, so that each array is aligned to its element size; then by name. */
static int by_type(const void *a, const void *b)
{
    static const int rank[LRA_N_DTYPES] = {
        [LRA_DTYPE_BOOL] = 0,    [LRA_DTYPE_U8] = 1,      [LRA_DTYPE_I8] = 2,
        [LRA_DTYPE_F8_E5M2] = 3, [LRA_DTYPE_F8_E4M3] = 4, [LRA_DTYPE_I16] = 5,
        [LRA_DTYPE_U16] = 6,     [LRA_DTYPE_F16] = 7,     [LRA_DTYPE_BF16] = 8,
        [LRA_DTYPE_I32] = 9,     [LRA_DTYPE_U32] = 10,    [LRA_DTYPE_F32] = 11,
        [LRA_DTYPE_C64] = 12,    [LRA_DTYPE_F64] = 13,    [LRA_DTYPE_I64] = 14,
        [LRA_DTYPE_U64] = 15};
    const lra_safetensor *p = *(const lra_safetensor *const *)a,
                         *q = *(const lra_safetensor *const *)b;
    int n = rank[p->array.dtype], m = rank[q->array.dtype];
    return n != m ? m - n : strcmp(p->name, q->name);
}

static json_t *entry_of(const lra_ndarray *a, uint64_t *at)
{
    json_t *shape = json_array();
    for (int i = 0; i < a->rank; i++)
        json_array_append_new(shape, json_integer((json_int_t)a->dims[i]));
    uint64_t end = *at + (uint64_t)a->n * lra_dtype_bytes(a->dtype);
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", lra_dtype_name(a->dtype), "shape",
                              shape, "data_offsets", (json_int_t)*at, (json_int_t)end);
    *at = end;
    return entry;
}

static json_t *meta_of(const lra_config *meta)
{
    json_t *object = json_object();
    for (int i = 0; lra_config_key(meta, i); i++)
        json_object_set_new(object, lra_config_key(meta, i),
                            json_string(lra_config_value(meta, i)));
    return object;
}

/* The header, padded with spaces. NULL if a name or a text is not UTF-8, or if a name is used
 * twice. */
static char *header_of(int n, const lra_safetensor *const *list, const lra_config *meta)
{
    uint64_t at = 0;
    json_t *root = json_object();
    if (meta && lra_config_key(meta, 0)) json_object_set_new(root, "__metadata__", meta_of(meta));
    bool ok = true;
    for (int i = 0; i < n && ok; i++) {
        ok = !json_object_get(root, list[i]->name) &&
             json_object_set_new(root, list[i]->name, entry_of(&list[i]->array, &at)) == 0;
    }
    char *json = ok ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!json) return NULL;
    lra_text t = {0};
    lra_text_bytes(&t, json, strlen(json));
    while (t.n % ALIGNMENT) lra_text_bytes(&t, " ", 1);
    free(json);
    return t.s;
}

static bool write_all(FILE *f, const char *header, int n, const lra_safetensor *const *list)
{
    size_t length = strlen(header);
    unsigned char start[8];
    for (int i = 0; i < 8; i++) start[i] = (unsigned char)((uint64_t)length >> 8 * i);
    bool ok = fwrite(start, 1, 8, f) == 8 && fwrite(header, 1, length, f) == length;
    for (int i = 0; i < n && ok; i++) {
        size_t bytes = (size_t)list[i]->array.n * lra_dtype_bytes(list[i]->array.dtype);
        ok = bytes == 0 || fwrite(list[i]->array.bytes, 1, bytes, f) == bytes;
    }
    return ok;
}

static int check(const lra_safetensor *t, lra_err *e)
{
    if (lra_safetensors_check_name(t->name, e) != 0) return LRA_FAILED;
    if (t->array.dtype >= LRA_DTYPE_C128)
        return lra_fail(e, "tensor '%s': safetensors has no %s", t->name,
                        lra_dtype_name(t->array.dtype));
    return 0;
}

int lra_safetensors_write(const char *path, int n, const lra_safetensor *tensor,
                          const lra_config *meta, lra_err *e)
{
    lra_safetensor *copy = lra_alloc_array((size_t)n + 1, sizeof *copy);
    const lra_safetensor **list = lra_alloc_array((size_t)n + 1, sizeof *list);
    lra_file *w = NULL;
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        copy[i] = tensor[i], list[i] = &copy[i];
        rc = check(&copy[i], e);
        if (rc == 0) rc = lra_ndarray_count(&copy[i].array, copy[i].name, e);
    }
    if (rc == 0) qsort(list, (size_t)n, sizeof *list, by_type);
    char *header = rc == 0 ? header_of(n, list, meta) : NULL;
    if (rc == 0 && !header) rc = lra_fail(e, "'%s': names are not UTF-8, or not distinct", path);
    if (rc == 0) w = lra_file_create(path, e);
    if (w && !write_all(lra_file_stream(w), header, n, list)) {
        rc = lra_fail_errno(e, "cannot write '%s'", path);
        lra_file_abort(w);
        w = NULL;
    }
    if (w)
        rc = lra_file_commit(w, e);
    else
        rc = LRA_FAILED;
    lra_free(header);
    lra_free(list);
    lra_free(copy);
    return rc;
}
