/* What can be had without a look at the inputs. */
#ifndef LRA_DATASETS_LOADER_CHANCE_H
#define LRA_DATASETS_LOADER_CHANCE_H

#include "datasets/loader/dataset.h"

/* The metric on a split without a look at the inputs: the share of the most frequent label; the
 * mean of the training targets for every row (R2: 0); every token of the vocabulary alike. */
double lra_dataset_chance(const lra_dataset *d, int split);
/* Mean of the j-th target over the training split, NAN left out; 0 without any. */
double lra_dataset_mean_target(const lra_dataset *d, int j);

#endif
