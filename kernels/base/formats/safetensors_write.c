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

/* Returns the metadata as a JSON object; NULL if a text is not UTF-8. */
static json_t *meta_of(const lra_config *meta)
{
    json_t *object = json_object();
    for (int i = 0; object && lra_config_key(meta, i); i++) {
        if (json_object_set_new(object, lra_config_key(meta, i),
                                json_string(lra_config_value(meta, i))) == 0)
            continue;
        json_decref(object);
        object = NULL;
    }
    return object;
}

/* Returns the JSON header, padded with spaces; NULL if a name or a text is not UTF-8, or if a name
 * is used twice. */
static char *header_of(int n, const lra_safetensor *const *list, const lra_config *meta)
{
    uint64_t at = 0;
    json_t *root = json_object();
    bool ok = true;
    if (meta && lra_config_key(meta, 0))
        ok = json_object_set_new(root, "__metadata__", meta_of(meta)) == 0;
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

static void put_length(char to[8], size_t length)
{
    for (int i = 0; i < 8; i++) to[i] = (char)(unsigned char)((uint64_t)length >> 8 * i);
}

static size_t array_bytes(const lra_safetensor *t)
{
    return (size_t)t->array.n * lra_dtype_bytes(t->array.dtype);
}

static bool write_all(FILE *f, const char *header, int n, const lra_safetensor *const *list)
{
    size_t length = strlen(header);
    char start[8];
    put_length(start, length);
    bool ok = fwrite(start, 1, 8, f) == 8 && fwrite(header, 1, length, f) == length;
    for (int i = 0; i < n && ok; i++) {
        size_t bytes = array_bytes(list[i]);
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

/* Tensors in the order of the file, after all checks, and the header of the file. */
typedef struct {
    lra_safetensor *copy;
    const lra_safetensor **list;
    char *header;
} layout;

static void free_layout(layout *w)
{
    lra_free(w->header);
    lra_free(w->list);
    lra_free(w->copy);
}

/* Fills the layout, which the caller frees with free_layout(), also after a failure. */
static int lay_out(layout *w, const char *name, int n, const lra_safetensor *tensor,
                   const lra_config *meta, lra_err *e)
{
    *w = (layout){.copy = lra_alloc_array((size_t)n + 1, sizeof *w->copy),
                  .list = lra_alloc_array((size_t)n + 1, sizeof *w->list)};
    for (int i = 0; i < n; i++) {
        w->copy[i] = tensor[i], w->list[i] = &w->copy[i];
        if (check(&w->copy[i], e) != 0) return LRA_FAILED;
        if (lra_ndarray_count(&w->copy[i].array, w->copy[i].name, e) != 0) return LRA_FAILED;
    }
    qsort(w->list, (size_t)n, sizeof *w->list, by_type);
    w->header = header_of(n, w->list, meta);
    return w->header
               ? 0
               : lra_fail(e, "'%s': names or metadata are not UTF-8, or names are not distinct",
                          name);
}

int lra_safetensors_write(const char *path, int n, const lra_safetensor *tensor,
                          const lra_config *meta, lra_err *e)
{
    layout w;
    int rc = lay_out(&w, path, n, tensor, meta, e);
    lra_file *file = rc == 0 ? lra_file_create(path, e) : NULL;
    if (file && !write_all(lra_file_stream(file), w.header, n, w.list)) {
        lra_fail_errno(e, "cannot write '%s'", path);
        lra_file_abort(file);
        file = NULL;
    }
    rc = file ? lra_file_commit(file, e) : LRA_FAILED;
    free_layout(&w);
    return rc;
}

char *lra_safetensors_image(const char *name, int n, const lra_safetensor *tensor,
                            const lra_config *meta, size_t before, size_t *bytes, lra_err *e)
{
    layout w;
    char *image = NULL;
    if (lay_out(&w, name, n, tensor, meta, e) == 0) {
        size_t length = strlen(w.header), at = before + 8 + length;
        *bytes = at;
        for (int i = 0; i < n; i++) *bytes += array_bytes(w.list[i]);
        image = lra_try_alloc(*bytes, name, e);
        if (image) {
            memset(image, 0, before);
            put_length(image + before, length);
            memcpy(image + before + 8, w.header, length);
        }
        for (int i = 0; i < n && image; i++) {
            size_t size = array_bytes(w.list[i]);
            if (size) memcpy(image + at, w.list[i]->array.bytes, size);
            at += size;
        }
    }
    free_layout(&w);
    return image;
}
