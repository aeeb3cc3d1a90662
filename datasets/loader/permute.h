/* Permuted labels: each row has the label of another row, so that the task cannot be learned from
 * them (the null value `shuffled` of a measurement). */
#ifndef LRA_DATASETS_LOADER_PERMUTE_H
#define LRA_DATASETS_LOADER_PERMUTE_H

#include <stdint.h>

/* Row i of a split gets the label of row [i]: a permutation of n, keyed (seed, split).  The caller
 * frees it. */
int64_t *lra_label_permutation(int64_t n, uint64_t seed, int split);

#endif
