/* Locality of data, without a model: mutual information between two tokens at distance d, and
 * between bags of n-grams and the label. */
#ifndef LRA_PROBES_DATA_INFORMATION_H
#define LRA_PROBES_DATA_INFORMATION_H

#include "datasets/loader/dataset.h"

/* Measures, writes OUT/information/TASK-DATA/information.h5, and prints the table. */
int lra_data_information(const lra_dataset *d, const char *preset, const char *out, bool json,
                         lra_err *e);

#endif
