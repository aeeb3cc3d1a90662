/* Division of the gradient of an embedding table on a GPU. */
#ifndef LRA_OPS_DENSE_EMBEDDING_BODY_H
#define LRA_OPS_DENSE_EMBEDDING_BODY_H

#include <stdint.h>

/* Chooses between two algorithms for n positions. Either every row of the table searches for its
 * positions, which takes V n comparisons. Or, if that takes longer than four short kernels, each
 * position is added to its row in fixed point. */
enum { EMBEDDING_PAIRS = 1 << 21, EMBEDDING_BITS = 40 };
static inline int embedding_scatters(int64_t n, int64_t V)
{
    return V * n >= EMBEDDING_PAIRS && n <= (int64_t)1 << (62 - EMBEDDING_BITS);
}
/* Bytes of scratch for scattering: sums of 8 bytes each, and the largest gradient. */
static inline int64_t embedding_scatter_bytes(int64_t table_size)
{
    return (table_size + 1) * (int64_t)sizeof(int64_t);
}

/* Number of slices of n positions: about 512 positions each, at most 64 slices, and at most 64 MiB
 * of partial sums. */
static inline int64_t embedding_slices(int64_t n, int64_t table_size)
{
    int64_t slices = (n + 511) / 512, most = ((int64_t)16 << 20) / (table_size ? table_size : 1);
    if (slices > 64) slices = 64;
    if (slices > most) slices = most;
    return slices < 1 ? 1 : slices;
}

#endif
