/* Locality of the data, without a model: mutual information between a token and another one d steps
 * later, and between bags of n-grams and the label. */
#ifndef LRA_PROBES_DATA_INFORMATION_H
#define LRA_PROBES_DATA_INFORMATION_H

#include "datasets/loader/dataset.h"

/* Measures, writes OUT/information/TASK-DATA/information.h5, and prints the table. */
int lra_data_information(const lra_dataset *d, const char *preset, const char *out, bool json,
                         lra_err *e);

#endif
