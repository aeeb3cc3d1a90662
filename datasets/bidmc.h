/* How BIDMC is divided. */
#ifndef LRA_DATASETS_BIDMC_H
#define LRA_DATASETS_BIDMC_H

#include "datasets/loader/rows.h"

/* Divides the series into splits (series of the test file are numbered after those of the training
 * file): scikit-learn's train_test_split with seed 0 holds out 30 %, which seed 1 divides equally
 * into validation and test. order: (n) train, then val, then test; size: of each. */
void lra_bidmc_divide(int64_t n, int64_t *order, int64_t size[LRA_N_SPLITS]);

#endif
