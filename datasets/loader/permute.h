/* Permuted labels: each row has the label of another row, so that labels are independent of the
 * inputs (the null value `shuffled` of a measurement). */
#ifndef LRA_DATASETS_LOADER_PERMUTE_H
#define LRA_DATASETS_LOADER_PERMUTE_H

#include <stdint.h>

/* Returns a permutation p of n, keyed by (seed, split), which the caller frees: row i of a split
 * gets the label of row p[i]. */
int64_t *lra_label_permutation(int64_t n, uint64_t seed, int split);

#endif
