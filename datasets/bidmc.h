/* Splits of BIDMC. */
#ifndef LRA_DATASETS_BIDMC_H
#define LRA_DATASETS_BIDMC_H

#include "datasets/loader/rows.h"

/* Divides n series into splits as scikit-learn's train_test_split does: seed 0 holds out 30 %, and
 * seed 1 divides these equally into validation and test. Series of the test file are numbered after
 * those of the training file. order: (n) series of the training split, then validation, then test;
 * size: number of series of each split. */
void lra_bidmc_divide(int64_t n, int64_t *order, int64_t size[LRA_N_SPLITS]);

#endif
