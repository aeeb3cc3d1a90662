/* Sizes of the intermediate results of the CUDA kernels of the profile: sums by offset j - i of a
 * diagonal of tiles. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_PROFILE_H
#define LRA_OPS_ATTENTION_ATTENTION_PROFILE_H

#include "kernels/ops/attention/attention.h"

enum { PROFILE_TILE = ATTENTION_CUDA_TILE, PROFILE_ROW = 2 /* of a query: maximum, 1/(n sum) */ };

/* Number of offsets before that of the tile: those of its last row, and of columns that a key is
 * averaged into. */
LRA_FN int profile_before(const attention_args *a)
{
    return PROFILE_TILE - 1 + (a->smooth_past ? a->smooth - 1 : (a->smooth - 1) / 2);
}
LRA_FN int64_t profile_offsets(const attention_args *a)
{
    return 2 * PROFILE_TILE - 1 + a->smooth - 1;
}

/* Range of the n columns that a key is averaged into: those of its chunk; each takes 1/smooth of
 * it. */
LRA_FN attention_range profile_columns(const attention_args *a, int64_t n, int64_t key)
{
    int64_t first = a->smooth_past ? key - a->smooth + 1 : key - (a->smooth - 1) / 2;
    int64_t low = a->chunk > 0 ? key / a->chunk * a->chunk : 0, high = n;
    if (a->chunk > 0 && low + a->chunk < high) high = low + a->chunk;
    attention_range r = {first > low ? first : low, first + a->smooth};
    if (r.to > high) r.to = high;
    return r;
}
/* Weight of a key in the sum by which a row is divided. */
LRA_FN real profile_counts(const attention_args *a, int64_t n, int64_t key)
{
    attention_range r = profile_columns(a, n, key);
    return a->renorm ? (real)(r.to - r.from) / (real)a->smooth : R(1.0);
}

#endif
