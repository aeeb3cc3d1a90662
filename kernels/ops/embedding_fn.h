/* How the gradient of a table is cut on a GPU. */
#ifndef LRA_OPS_EMBEDDING_FN_H
#define LRA_OPS_EMBEDDING_FN_H

#include <stdint.h>

/* Slices of n places: about 512 each, at most 64, and at most 64 MiB of partial sums. */
static inline int64_t embedding_slices(int64_t n, int64_t table_size)
{
    int64_t slices = (n + 511) / 512, most = ((int64_t)16 << 20) / (table_size ? table_size : 1);
    if (slices > 64) slices = 64;
    if (slices > most) slices = most;
    return slices < 1 ? 1 : slices;
}

#endif
