/* Shared by the CUDA kernels of the attention profile: sizes of the sums of weights by offset
 * j - i, one array for each diagonal of tiles; and the columns over which the moving average
 * spreads the weight of a key. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_PROFILE_H
#define LRA_OPS_ATTENTION_ATTENTION_PROFILE_H

#include "kernels/ops/attention/attention.h"

/* PROFILE_ROW: two numbers per query: maximum, 1/(n sum) */
enum { PROFILE_TILE = ATTENTION_CUDA_TILE, PROFILE_ROW = 2 };

/* Diagonal delta consists of the tiles whose first row and first column have the offset 64 delta.
 * Returns the index of this offset in the sums of the diagonal. Smaller offsets occur in the later
 * rows of a tile, and because the moving average spreads a key to earlier columns. */
LRA_FN int profile_before(const attention_args *a)
{
    return PROFILE_TILE - 1 + (a->smooth_past ? a->smooth - 1 : (a->smooth - 1) / 2);
}
LRA_FN int64_t profile_offsets(const attention_args *a)
{
    return 2 * PROFILE_TILE - 1 + a->smooth - 1;
}

/* Range of columns, of n, over which the moving average spreads the weight of a key. The range is
 * clipped to the key's chunk. Each column gets 1/smooth of the weight. */
LRA_FN attention_range profile_columns(const attention_args *a, int64_t n, int64_t key)
{
    int64_t first = a->smooth_past ? key - a->smooth + 1 : key - (a->smooth - 1) / 2;
    int64_t low = a->chunk > 0 ? key / a->chunk * a->chunk : 0, high = n;
    if (a->chunk > 0 && low + a->chunk < high) high = low + a->chunk;
    attention_range r = {first > low ? first : low, first + a->smooth};
    if (r.to > high) r.to = high;
    return r;
}
/* Share of a key's weight that counts in the sum by which a row is divided: with renorm the share
 * that is not lost at the borders, else 1. */
LRA_FN real profile_counts(const attention_args *a, int64_t n, int64_t key)
{
    attention_range r = profile_columns(a, n, key);
    return a->renorm ? (real)(r.to - r.from) / (real)a->smooth : R(1.0);
}

#endif
