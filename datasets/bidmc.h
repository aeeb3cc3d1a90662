/* How BIDMC is divided. */
#ifndef LRA_DATASETS_BIDMC_H
#define LRA_DATASETS_BIDMC_H

#include "datasets/loader/rows.h"

/* Numbers of the series (those of the test file behind those of the training file) of each split: a
 * part of 30 % is held out by scikit-learn's train_test_split with seed 0, and halved with seed 1
 * into validation and test.
 * order: (n) train, val, test one behind the other; size: of each. */
void lra_bidmc_divide(int64_t n, int64_t *order, int64_t size[LRA_N_SPLITS]);

#endif
