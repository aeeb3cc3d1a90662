/* IDX: 4 bytes 0 0 8 RANK, then RANK extents of 4 bytes in big-endian order, then the data bytes.
 * MNIST and data sets modelled on it use this format. Source: LeCun, Cortes, Burges, "The MNIST
 * database". */
#ifndef LRA_DATASETS_FORMATS_IDX_H
#define LRA_DATASETS_FORMATS_IDX_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_IDX_MAX_RANK = 3 };

typedef struct {
    int rank;
    int64_t extent[LRA_IDX_MAX_RANK]; /* (rank) extents as stated in the header */
    /* complete items in the file: extent[0] unless the file ends early */
    int64_t n;
    int64_t n_extra;     /* bytes after the last complete item */
    const uint8_t *item; /* (n, ..) data of the items; points into the parsed bytes */
} lra_idx;

/* Parses the bytes of an IDX file. An early end and bytes after the last item are not errors; n and
 * n_extra report them. name: for messages. */
int lra_idx_parse(const void *bytes, size_t n, const char *name, lra_idx *out, lra_err *e);

#endif
