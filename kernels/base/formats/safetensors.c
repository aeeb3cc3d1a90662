/* Reads safetensors. jansson parses the JSON, after its outer form has been checked. */
#include "kernels/base/formats/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

enum {
    MAX_HEADER = 16 << 20,
    MAX_TENSORS = 100000,
    MAX_META = 4096,
    MAX_NAME = 512,
    MAX_DEPTH = 3
};
static const json_int_t most = (json_int_t)1 << 48;

int lra_safetensors_check_name(const char *name, lra_err *e)
{
    size_t n = strlen(name);
    if (n == 0 || n > MAX_NAME)
        return lra_fail(e, "a name has %zu bytes, expected 1 to %d", n, MAX_NAME);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return lra_fail(e, "name '%s' holds a control character", name);
    if (*name == '/') return lra_fail(e, "name '%s' starts with '/'", name);
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2]))
            return lra_fail(e, "name '%s' holds the component '..'", name);
    }
    return 0;
}

/* ---- the header as text ---------------------------------------------------------------------- */

/* Rejects what jansson accepts and the format does not allow: nesting (jansson recurses), signs,
 * fractions and exponents, and anything but spaces after the object. */
static int check_text(const char *text, size_t n, lra_err *e)
{
    int depth = 0;
    bool quoted = false;
    if (n == 0 || text[0] != '{') return lra_fail(e, "the header does not start with '{'");
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (quoted) {
            if (c == '\\') i++;
            quoted = c != '"';
        } else if (i > 0 && depth == 0) {
            if (c != ' ') return lra_fail(e, "the header continues after its closing '}'");
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (++depth > MAX_DEPTH)
                return lra_fail(e, "the header is nested deeper than %d", MAX_DEPTH);
        } else if (c == '}' || c == ']') {
            depth--;
        } else if (c == '-' || c == '+' || c == '.') {
            return lra_fail(e, "the header holds a number with '%c', expected plain integers", c);
        }
    }
    return 0;
}

/* ---- one tensor ------------------------------------------------------------------------------ */

typedef struct {
    lra_safetensor t;
    json_int_t begin, end;
} placed;

static int read_dtype(const char *text, lra_dtype *dtype, lra_err *e)
{
    static const char *const newer[] = {"F4",      "F6_E2M3",     "F6_E3M2",
                                        "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"};
    static const char *const known[LRA_N_DTYPES] = {
#define LRA_DTYPE(id, label, bytes, npy) label,
        LRA_DTYPES(LRA_DTYPE)
#undef LRA_DTYPE
    };
    for (int i = 0; i < LRA_N_DTYPES; i++)
        if (known[i] && strcmp(known[i], text) == 0) {
            *dtype = (lra_dtype)i;
            return 0;
        }
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (strcmp(newer[i], text) == 0)
            return lra_fail(e, "dtype %s is not supported; cast to F32", text);
    return lra_fail(e, "dtype '%.40s' is unknown", text);
}

/* Reads an array of `expected` integers (-1: at most 8) from 0 to 2^48. Returns their number. */
static int read_integers(const json_t *list, const char *what, int expected, json_int_t *to,
                         lra_err *e)
{
    size_t n = json_array_size(list);
    if (!json_is_array(list) || (expected >= 0 && n != (size_t)expected))
        return lra_fail(e, "'%s' is not an array of integers%s", what, expected == 2 ? " (2)" : "");
    if (n > LRA_MAX_DIMS)
        return lra_fail(e, "rank is %zu, at most %d is accepted", n, LRA_MAX_DIMS);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, i);
        to[i] = json_integer_value(value);
        if (!json_is_integer(value) || to[i] > most)
            return lra_fail(e, "'%s' contains a value that is not an integer up to 2^48", what);
    }
    return (int)n;
}

/* Reads an entry except for the position of its data. */
static int read_entry(json_t *entry, placed *p, lra_err *e)
{
    json_int_t dims[LRA_MAX_DIMS], offsets[LRA_MAX_DIMS];
    lra_ndarray *a = &p->t.array;
    const char *key;
    json_t *value;
    if (!json_is_object(entry)) return lra_fail(e, "the entry is not an object");
    json_object_foreach(entry, key, value)
    {
        if (strcmp(key, "dtype") && strcmp(key, "shape") && strcmp(key, "data_offsets"))
            return lra_fail(e, "unknown key '%.40s'", key);
    }
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!dtype) return lra_fail(e, "'dtype' is not text");
    if (read_dtype(dtype, &a->dtype, e) != 0) return LRA_FAILED;
    a->rank = read_integers(json_object_get(entry, "shape"), "shape", -1, dims, e);
    if (a->rank < 0) return LRA_FAILED;
    for (int i = 0; i < a->rank; i++) a->dims[i] = dims[i];
    if (lra_ndarray_count(a, p->t.name, e) != 0) return LRA_FAILED;
    if (read_integers(json_object_get(entry, "data_offsets"), "data_offsets", 2, offsets, e) < 0)
        return LRA_FAILED;
    p->begin = offsets[0], p->end = offsets[1];
    a->element = lra_dtype_bytes(a->dtype);
    uint64_t bytes = (uint64_t)a->n * a->element; /* no overflow, because n <= 2^48 */
    if (p->begin > p->end || (uint64_t)(p->end - p->begin) != bytes)
        return lra_fail(e, "data_offsets %lld to %lld, expected %llu bytes", (long long)p->begin,
                        (long long)p->end, (unsigned long long)bytes);
    return 0;
}

static int read_meta(json_t *object, lra_config *meta, lra_err *e)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object)) return lra_fail(e, "'__metadata__' is not an object");
    if (json_object_size(object) > MAX_META)
        return lra_fail(e, "'__metadata__' has %zu keys, at most %d are accepted",
                        json_object_size(object), MAX_META);
    json_object_foreach(object, key, value)
    {
        if (!json_is_string(value)) return lra_fail(e, "'__metadata__': '%.80s' is not text", key);
        lra_config_set(meta, key, json_string_value(value));
    }
    return 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    if (p->begin != q->begin) return p->begin < q->begin ? -1 : 1;
    if (p->end != q->end) return p->end < q->end ? -1 : 1;
    return strcmp(p->t.name, q->t.name);
}

/* Assigns the data to the arrays. Fails if there is a hole, an overlap, or data after the last
 * array. */
static int place(placed *list, int n, const char *data, size_t n_data, lra_err *e)
{
    json_int_t at = 0;
    qsort(list, (size_t)n, sizeof *list, by_place);
    for (int i = 0; i < n; i++) {
        if (list[i].begin != at)
            return lra_fail(e, "'%s' begins at %lld, expected %lld (a hole or an overlap)",
                            list[i].t.name, (long long)list[i].begin, (long long)at);
        at = list[i].end;
        if ((uint64_t)at > n_data)
            return lra_fail(e, "'%s' ends at %lld of %zu bytes of data", list[i].t.name,
                            (long long)at, n_data);
        list[i].t.array.bytes = data + list[i].begin;
    }
    if ((uint64_t)at == n_data) return 0;
    return lra_fail(e, "the arrays end at %lld, the data have %zu bytes", (long long)at, n_data);
}

static int read_root(json_t *root, placed *list, lra_safetensors *t, lra_err *e)
{
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        if (strcmp(key, "__metadata__") == 0) {
            if (read_meta(value, t->meta, e) != 0) return LRA_FAILED;
            continue;
        }
        if (lra_safetensors_check_name(key, e) != 0) return LRA_FAILED;
        placed *p = &list[t->n++];
        p->t.name = lra_copy_text(key);
        if (read_entry(value, p, e) != 0) return lra_fail_in(e, "tensor '%s'", key);
    }
    return 0;
}

static int read_header(const char *text, size_t n, const char *data, size_t n_data,
                       lra_safetensors *t, lra_err *e)
{
    json_error_t why;
    if (check_text(text, n, e) != 0) return LRA_FAILED;
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    if (!root) return lra_fail(e, "the header is not JSON (byte %d): %s", why.position, why.text);
    size_t n_keys = json_object_size(root);
    int rc = n_keys <= MAX_TENSORS + 1
                 ? 0
                 : lra_fail(e, "%zu arrays, at most %d are accepted", n_keys, MAX_TENSORS);
    placed *list = lra_alloc_array(rc == 0 ? n_keys + 1 : 1, sizeof *list);
    if (rc == 0) rc = read_root(root, list, t, e);
    if (rc == 0) rc = place(list, t->n, data, n_data, e);
    t->tensor = lra_alloc_array((size_t)t->n + 1, sizeof *t->tensor);
    for (int i = 0; i < t->n; i++) t->tensor[i] = list[i].t;
    lra_free(list);
    json_decref(root);
    return rc;
}

static bool holds(const unsigned char *p, size_t n, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(p + i, word, length) == 0) return true;
    return false;
}

/* For a file that is not safetensors: the name of its format, and how to save its arrays as
 * safetensors. NULL: unknown. The names of a zip's first entries are among its first bytes. */
static const char *other_format(const unsigned char *p, size_t n)
{
    static const char torch[] = "a PyTorch zip; save with safetensors: "
                                "safetensors.torch.save_file(model.state_dict(), FILE)";
    size_t head = n < 4096 ? n : 4096;
    if (n >= 4 && memcmp(p, "PK\3\4", 4) == 0) {
        if (holds(p, head, ".npy"))
            return "a NumPy zip (npz); save with safetensors: "
                   "safetensors.numpy.save_file(dict(numpy.load(FILE)), OTHER)";
        return holds(p, head, "data.pkl") ? torch : "a zip; save with safetensors";
    }
    if (n >= 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5)
        return "a Python pickle (PyTorch before 1.6 writes these); save with safetensors: "
               "safetensors.torch.save_file(model.state_dict(), FILE)";
    if (n >= 4 && memcmp(p, "\x89HDF", 4) == 0)
        return "an HDF5 file; 'lra-probe export RUN FILE' saves the weights of a run, others with "
               "safetensors.numpy.save_file({NAME: ARRAY}, FILE)";
    if (n >= 6 && memcmp(p, "\x93NUMPY", 6) == 0)
        return "a NumPy array (npy); save with safetensors: "
               "safetensors.numpy.save_file({NAME: numpy.load(FILE)}, OTHER)";
    if (n >= 4 && memcmp(p, "GGUF", 4) == 0) return "a GGUF file; save with safetensors";
    return NULL;
}

int lra_safetensors_parse(const void *bytes, size_t n, const char *name, lra_safetensors *t,
                          lra_err *e)
{
    const unsigned char *p = bytes;
    uint64_t length = 0;
    *t = (lra_safetensors){.meta = lra_config_new()};
    if (n < 8) return lra_fail(e, "'%s' has %zu bytes, a safetensors file at least 8", name, n);
    const char *other = other_format(p, n);
    if (other) return lra_fail(e, "'%s' is %s", name, other);
    for (int i = 7; i >= 0; i--) length = length << 8 | p[i];
    if (length > MAX_HEADER)
        return lra_fail(
            e, "'%s' is no safetensors file: its header has %llu bytes, at most %d are accepted",
            name, (unsigned long long)length, MAX_HEADER);
    if (length > n - 8)
        return lra_fail(
            e, "'%s' is no complete safetensors file: its header has %llu bytes, the file %zu",
            name, (unsigned long long)length, n);
    const char *text = (const char *)bytes + 8, *data = text + length;
    if (read_header(text, (size_t)length, data, n - 8 - (size_t)length, t, e) != 0)
        return lra_fail_in(e, "'%s'", name);
    t->hash = lra_hash64(bytes, n);
    return 0;
}

int lra_safetensors_read(const char *path, lra_safetensors *t, lra_err *e)
{
    size_t n;
    *t = (lra_safetensors){0};
    char *image = lra_file_read(path, (size_t)1 << 40, &n, e);
    if (!image) return LRA_FAILED;
    int rc = lra_safetensors_parse(image, n, path, t, e);
    t->image = image;
    return rc;
}

const lra_ndarray *lra_safetensors_find(const lra_safetensors *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->tensor[i].name, name) == 0) return &t->tensor[i].array;
    return NULL;
}

void lra_safetensors_free(lra_safetensors *t)
{
    for (int i = 0; i < t->n; i++) lra_free(t->tensor[i].name);
    lra_free(t->tensor);
    lra_config_free(t->meta);
    lra_free_large(t->image);
    *t = (lra_safetensors){0};
}
