/* Reads files of examples: recognises the format and calls its reader. */
#include <string.h>
#include <strings.h>

#include "datasets/formats/array_columns.h"
#include "datasets/formats/columns.h"
#include "datasets/formats/delimited.h"
#include "datasets/formats/foreign.h"
#include "datasets/formats/json_lines.h"
#include "datasets/formats/npz.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/safetensors.h"
#include "kernels/base/os/file.h"

#define LARGEST_FILE ((size_t)1 << 36)
#define EXTENSIONS   ".csv, .tsv, .jsonl, .ndjson, .npz or .safetensors"

typedef enum { CSV, TSV, JSON_LINES, NPZ, SAFETENSORS, N_FORMATS } format;

static format format_of(const char *path)
{
    static const struct {
        const char *suffix;
        format format;
    } known[] = {
        {".csv", CSV},         {".tsv", TSV}, {".jsonl", JSON_LINES},       {".ndjson", JSON_LINES},
        {".json", JSON_LINES}, {".npz", NPZ}, {".safetensors", SAFETENSORS}};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].suffix);
        if (n > length && strcasecmp(path + n - length, known[i].suffix) == 0)
            return known[i].format;
    }
    return N_FORMATS;
}

/* Fails if the first bytes of the file are not of the format of its extension. */
static int check_start(const char *path, format f, lra_err *e)
{
    char head[4096];
    FILE *file = lra_file_open(path, e);
    if (!file) return LRA_FAILED;
    size_t n = fread(head, 1, sizeof head, file);
    int rc = ferror(file) ? lra_fail_errno(e, "cannot read '%s'", path) : 0;
    fclose(file);
    const char *foreign = rc == 0 ? lra_foreign_format(head, n) : NULL;
    bool expected = (f == NPZ && foreign == lra_foreign_npz) ||
                    (f == SAFETENSORS && foreign == lra_foreign_safetensors);
    if (foreign && !expected) return lra_fail(e, "'%s' is %s", path, foreign);
    if (f == N_FORMATS && rc == 0)
        return lra_fail(e, "'%s' has no known extension, expected " EXTENSIONS, path);
    return rc;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static int load_npz(void *of, int i, lra_ndarray *a, lra_err *e)
{
    return lra_npz_unpack(of, i, a, e);
}

static int read_npz(const char *path, lra_data_columns *out, lra_err *e)
{
    size_t n;
    lra_npz z;
    char *bytes = lra_file_read(path, LARGEST_FILE, &n, e);
    if (!bytes) return LRA_FAILED;
    int rc = lra_npz_parse(bytes, n, path, &z, e);
    lra_array_source *source = lra_alloc_array((size_t)z.n + 1, sizeof *source);
    for (int i = 0; i < z.n; i++)
        source[i] = (lra_array_source){z.member[i].name, z.member[i].array, z.member[i].reason};
    if (rc == 0) rc = lra_data_columns_of_arrays(path, z.n, source, load_npz, &z, out, e);
    if (rc == 0) out->hash = lra_hash64(bytes, n);
    lra_free(source);
    lra_npz_free(&z);
    lra_free_large(bytes);
    return rc;
}

static int load_tensor(void *of, int i, lra_ndarray *a, lra_err *e)
{
    const lra_safetensors *t = of;
    (void)e;
    *a = t->tensor[i].array;
    return 0;
}

static int read_safetensors(const char *path, lra_data_columns *out, lra_err *e)
{
    lra_safetensors t;
    int rc = lra_safetensors_read(path, &t, e);
    lra_array_source *source = lra_alloc_array((size_t)t.n + 1, sizeof *source);
    for (int i = 0; i < t.n; i++)
        source[i] = (lra_array_source){.name = t.tensor[i].name, .array = t.tensor[i].array};
    if (rc == 0) rc = lra_data_columns_of_arrays(path, t.n, source, load_tensor, &t, out, e);
    if (rc == 0) out->hash = t.hash;
    lra_free(source);
    lra_safetensors_free(&t);
    return rc;
}

/* ---- text ------------------------------------------------------------------------------------ */

static int read_text(const char *path, format f, const char *const *as_text, lra_data_columns *out,
                     lra_err *e)
{
    size_t n;
    char *bytes = lra_file_read(path, LARGEST_FILE, &n, e);
    if (!bytes) return LRA_FAILED;
    int rc = f == JSON_LINES
                 ? lra_json_lines_parse(bytes, n, path, out, e)
                 : lra_delimited_parse(bytes, n, path, f == TSV ? '\t' : ',', as_text, out, e);
    if (rc == 0) out->hash = lra_hash64(bytes, n);
    lra_free_large(bytes);
    return rc;
}

int lra_data_columns_read(const char *path, const char *const *as_text, lra_data_columns *out,
                          lra_err *e)
{
    *out = (lra_data_columns){0};
    format f = format_of(path);
    if (check_start(path, f, e) != 0) return LRA_FAILED;
    if (f == NPZ) return read_npz(path, out, e);
    if (f == SAFETENSORS) return read_safetensors(path, out, e);
    return read_text(path, f, as_text, out, e);
}
