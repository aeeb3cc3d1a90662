/* Permutations that reproduce published splits bit for bit. (All other random numbers are
 * Philox.) */
#ifndef LRA_DATASETS_LOADER_SPLIT_H
#define LRA_DATASETS_LOADER_SPLIT_H

#include <stdint.h>

/* order[n] = the permutation of 0..n-1 that torch.randperm(n) returns after manual_seed(seed).
 * torch's random_split() divides it into consecutive parts (train, validation, test). 0 <= n < 2^32
 * / 20. */
void lra_split_torch(uint32_t seed, int64_t n, int64_t *order);

/* order[n] = numpy.random.RandomState(seed).permutation(n). scikit-learn's train_test_split() with
 * test fraction f uses the first ceil(f n) entries for test and the others for training. 0 <= n <=
 * 2^32. */
void lra_split_numpy(uint32_t seed, int64_t n, int64_t *order);

/* torch's two-way random_split of n rows, as in the public pipelines. order: (n) as
 * lra_split_torch(). Returns the number of training rows, floor(n (1 - share)); these are the first
 * entries of `order`. The number is at least 1, and leaves at least 1 row for validation if n >
 * 1. */
int64_t lra_split_carve(uint32_t seed, int64_t n, double share, int64_t *order);
/* Returns the index of the k-th of `taken` evenly spaced rows of n. */
int64_t lra_split_spaced(int64_t k, int64_t n, int64_t taken);

#endif
