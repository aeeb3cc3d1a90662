/* Checks every task's official files below a folder, and prints one table. */
#ifndef LRA_PROBES_DATA_ALL_H
#define LRA_PROBES_DATA_ALL_H

#include <stdbool.h>

#include "kernels/base/core/err.h"

/* Prints the table as text, or as one JSON document. Fails, after the output, if existing files
 * cannot be read, or if there are none. */
int lra_data_check_all(const char *folder, bool json, lra_err *e);

#endif
