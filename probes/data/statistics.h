/* Statistics of adjacent positions, which reveal noise in place of data. */
#ifndef LRA_PROBES_DATA_STATISTICS_H
#define LRA_PROBES_DATA_STATISTICS_H

#include "datasets/loader/dataset.h"

/* Adds statistics of the training split to the facts. For numbers: mean, standard deviation,
 * correlation of adjacent positions, and that correlation in the published rows. For tokens: number
 * of different tokens, entropy of a token in bits, and its entropy given the previous token. Warns
 * if adjacent positions are independent although they should not be. */
void lra_data_statistics(const lra_dataset *d, lra_facts *found);

#endif
