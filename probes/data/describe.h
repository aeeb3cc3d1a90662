/* Statistics of a data set: lengths, labels by group, accuracy of simple predictors. */
#ifndef LRA_PROBES_DATA_DESCRIBE_H
#define LRA_PROBES_DATA_DESCRIBE_H

#include "datasets/loader/dataset.h"

/* Prints to stdout as text, or as one JSON document. */
int lra_data_describe(const lra_dataset *d, bool json, lra_err *e);

#endif
