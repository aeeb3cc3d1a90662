/* Chance level: the metric of the best constant prediction. */
#ifndef LRA_DATASETS_LOADER_CHANCE_H
#define LRA_DATASETS_LOADER_CHANCE_H

#include "datasets/loader/dataset.h"

/* The metric on a split of a prediction without inputs: the share of the most frequent label; the
 * mean of the training targets for every row (R2: 0); a uniform distribution over the
 * vocabulary. */
double lra_dataset_chance(const lra_dataset *d, int split);
/* Mean of the j-th target over the training split, without NAN; 0 if there is none. */
double lra_dataset_mean_target(const lra_dataset *d, int j);

#endif
