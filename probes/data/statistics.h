/* Step statistics of the rows, which reveal noise in the form of data. */
#ifndef LRA_PROBES_DATA_STATISTICS_H
#define LRA_PROBES_DATA_STATISTICS_H

#include "datasets/loader/dataset.h"

/* Adds statistics of the training split to the facts. Numbers: mean, standard deviation,
 * correlation of neighbouring steps, and the same correlation in the published rows. Words: number
 * of words used, entropy of a token in bits, and entropy of a token given the one before it. Warns
 * if neighbours are independent although they should not be. */
void lra_data_statistics(const lra_dataset *d, lra_facts *found);

#endif
