/* Reads files of examples: recognises the format and calls its reader. */
#include <string.h>
#include <strings.h>

#include "datasets/formats/columns.h"
#include "datasets/formats/delimited.h"
#include "datasets/formats/json_lines.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"

#define LARGEST_FILE ((size_t)1 << 36)

typedef enum { CSV, TSV, JSON_LINES, N_FORMATS } format;

static format format_of(const char *path)
{
    static const struct {
        const char *suffix;
        format format;
    } known[] = {{".csv", CSV}, {".tsv", TSV}, {".jsonl", JSON_LINES}, {".ndjson", JSON_LINES}};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].suffix);
        if (n > length && strcasecmp(path + n - length, known[i].suffix) == 0)
            return known[i].format;
    }
    return N_FORMATS;
}

int lra_columns_read(const char *path, const char *const *as_text, lra_columns *out, lra_err *e)
{
    size_t n;
    *out = (lra_columns){0};
    format f = format_of(path);
    if (f == N_FORMATS)
        return lra_fail(e, "'%s' has no known extension, expected .csv, .tsv, .jsonl or .ndjson",
                        path);
    char *bytes = lra_file_read(path, LARGEST_FILE, &n, e);
    if (!bytes) return LRA_FAILED;
    int rc = f == JSON_LINES
                 ? lra_json_lines_parse(bytes, n, path, out, e)
                 : lra_delimited_parse(bytes, n, path, f == TSV ? '\t' : ',', as_text, out, e);
    out->hash = rc == 0 ? lra_hash64(bytes, n) : 0;
    lra_free_large(bytes);
    return rc;
}
