/* Checks the official files of every task below a folder, and prints one table. */
#ifndef LRA_PROBES_DATA_ALL_H
#define LRA_PROBES_DATA_ALL_H

#include <stdbool.h>

#include "kernels/base/core/err.h"

/* Prints the table as text, or as one JSON document. After the output, fails if files exist that
 * cannot be read, or if no files exist. */
int lra_data_check_all(const char *folder, bool json, lra_err *e);

#endif
