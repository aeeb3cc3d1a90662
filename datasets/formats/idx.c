/* Reads files in the IDX format. */
#include "datasets/formats/idx.h"

enum { HEAD = 4, UNSIGNED_BYTE = 8, MAX_EXTENT = 1 << 28 };

static int64_t number_at(const uint8_t *p)
{
    return (int64_t)p[0] << 24 | (int64_t)p[1] << 16 | (int64_t)p[2] << 8 | p[3];
}

int lra_idx_parse(const void *bytes, size_t n, const char *name, lra_idx *out, lra_err *e)
{
    const uint8_t *p = bytes;
    *out = (lra_idx){0};
    if (n < HEAD || p[0] != 0 || p[1] != 0 || p[2] != UNSIGNED_BYTE || p[3] < 1 ||
        p[3] > LRA_IDX_MAX_RANK)
        return lra_fail(e, "'%s' does not start like an IDX file of bytes (0 0 8 and 1 to %d)",
                        name, (int)LRA_IDX_MAX_RANK);
    out->rank = p[3];
    size_t start = HEAD + 4 * (size_t)out->rank;
    if (n < start) return lra_fail(e, "'%s' ends within its header", name);
    int64_t size = 1;
    for (int k = 0; k < out->rank; k++) {
        out->extent[k] = number_at(p + HEAD + 4 * k);
        if (out->extent[k] < 1 || out->extent[k] > MAX_EXTENT ||
            (k && size > MAX_EXTENT / out->extent[k]))
            return lra_fail(e,
                            "'%s': dimension %d is %lld, expected 1 to %d, and items below 256 MiB",
                            name, k, (long long)out->extent[k], (int)MAX_EXTENT);
        if (k) size *= out->extent[k];
    }
    int64_t found = (int64_t)(n - start);
    out->n = found / size < out->extent[0] ? found / size : out->extent[0];
    out->n_extra = found - out->n * size;
    out->item = p + start;
    return 0;
}
