/* Implements 'lra-probe data --check'. */
#ifndef LRA_PROBES_DATA_CHECK_H
#define LRA_PROBES_DATA_CHECK_H

#include "datasets/loader/dataset.h"

/* Prints the defects found, as text or one JSON document; fails if labels are wrong. */
int lra_data_check(const lra_task *t, const lra_config *c, const char *path, bool json, lra_err *e);

#endif
