/* Computes one row of a block list; used by the C and the CUDA body. */
#ifndef LRA_OPS_ATTENTION_BIGBIRD_BLOCKS_BODY_H
#define LRA_OPS_ATTENTION_BIGBIRD_BLOCKS_BODY_H

#include "kernels/base/core/philox.h"
#include "kernels/ops/args.h"
#include "kernels/ops/attention/attention.h"

/* Inserts a block into a row of n ascending blocks, unless it is present. Returns the new number of
 * blocks. */
LRA_FN int bigbird_blocks_put(int32_t *row, int n, int32_t block)
{
    int at = 0;
    while (at < n && row[at] < block) at++;
    if (at < n && row[at] == block) return n;
    for (int i = n; i > at; i--) row[i] = row[i - 1];
    row[at] = block;
    return n + 1;
}

/* Writes the visible blocks of query block i of a head; all: number of blocks of the example. row:
 * `most` entries. */
LRA_FN void bigbird_blocks_row(const bigbird_blocks_args *a, int64_t head, int32_t i, int32_t all,
                               int most, int32_t *row)
{
    int n = 0;
    bool whole = i == 0 || i == all - 1;
    if (whole) row[n++] = ATTENTION_ALL_BLOCKS;
    if (!whole && i < all) {
        for (int32_t k = i - 1; k <= i + 1; k++) n = bigbird_blocks_put(row, n, k);
        n = bigbird_blocks_put(row, n, 0);
        n = bigbird_blocks_put(row, n, all - 1);
    }
    lra_philox words = {{0}};
    for (int r = 0; n > 1 && r < a->random && n < all; r++) {
        if (r % 4 == 0)
            words = lra_philox_at((uint32_t)a->layer, (uint32_t)head, (uint32_t)i, (uint32_t)all,
                                  (uint32_t)(r / 4), 0);
        int32_t pick = (int32_t)((uint64_t)words.v[r % 4] * (uint32_t)(all - n) >> 32);
        /* turns an index among the blocks that are not in the row into a block number */
        for (int k = 0; k < n; k++) pick += row[k] <= pick;
        n = bigbird_blocks_put(row, n, pick);
    }
    while (n < most) row[n++] = -1;
}

#endif
