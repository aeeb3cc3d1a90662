/* IDX: 4 bytes 0 0 8 RANK, RANK extents of 4 bytes in big-endian order, then the bytes. Format of
 * MNIST and of data sets that adopted it. Source: LeCun, Cortes, Burges, "The MNIST database". */
#ifndef LRA_DATASETS_FORMATS_IDX_H
#define LRA_DATASETS_FORMATS_IDX_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_IDX_MAX_RANK = 3 };

typedef struct {
    int rank;
    int64_t extent[LRA_IDX_MAX_RANK]; /* from the header */
    int64_t n;                        /* complete items: extent[0] unless the file ends early */
    int64_t n_extra;                  /* bytes after them */
    const uint8_t *item;              /* (n, ..): points into the bytes */
} lra_idx;

/* Missing items, and bytes after the last one, are counted. name: for messages. */
int lra_idx_parse(const void *bytes, size_t n, const char *name, lra_idx *out, lra_err *e);

#endif
