/* Sizes of what the CUDA kernels of the profile leave for each other: sums by offset j - i of a diagonal of tiles. */
#ifndef LRA_OPS_ATTENTION_PROFILE_H
#define LRA_OPS_ATTENTION_PROFILE_H

#include "kernels/ops/attention.h"

enum { PROFILE_TILE = ATTENTION_CUDA_TILE, PROFILE_ROW = 2 /* of a query: maximum, 1/(n sum) */ };

/* Offsets in front of that of the tile: those of its last row, and of columns that a key is averaged into. */
LRA_FN int profile_before(const attention_args *a)
{
    return PROFILE_TILE - 1 + (a->causal ? a->smooth - 1 : (a->smooth - 1) / 2);
}
LRA_FN int64_t profile_offsets(const attention_args *a)
{
    return 2 * PROFILE_TILE - 1 + a->smooth - 1;
}

#endif
