/* Chance level: the metric of the best constant prediction. */
#ifndef LRA_DATASETS_LOADER_CHANCE_H
#define LRA_DATASETS_LOADER_CHANCE_H

#include "datasets/loader/dataset.h"

/* Returns the metric on a split of the best prediction without inputs: the most frequent label; the
 * mean of the training targets for every row (R2: 0); a uniform distribution over the
 * vocabulary. */
double lra_dataset_chance(const lra_dataset *d, int split);
/* Mean of target number j over the training split, ignoring NAN; 0 if there is none. */
double lra_dataset_mean_target(const lra_dataset *d, int j);

#endif
