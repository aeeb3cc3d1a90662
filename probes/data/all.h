/* Every task's official files below a folder: found, read, checked, in one table. */
#ifndef LRA_PROBES_DATA_ALL_H
#define LRA_PROBES_DATA_ALL_H

#include <stdbool.h>

#include "kernels/base/core/err.h"

/* Prints the table as text, or as one JSON document.  Fails, after it, when something that is there
 * cannot be read; and when there is nothing. */
int lra_data_check_all(const char *folder, bool json, lra_err *e);

#endif
