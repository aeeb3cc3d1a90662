/* How local data are, without any model: what a token tells of another one d steps on, and what
 * bags of n-grams tell of the label. */
#ifndef LRA_PROBES_DATA_INFORMATION_H
#define LRA_PROBES_DATA_INFORMATION_H

#include "datasets/loader/dataset.h"

/* Measures, writes OUT/information/TASK-DATA/information.h5, and prints the table. */
int lra_data_information(const lra_dataset *d, const char *preset, const char *out, bool json,
                         lra_err *e);

#endif
