/* Made-up BIDMC files, for trying the task without patients. */
#ifndef LRA_DATASETS_FORMATS_BIDMC_MAKE_H
#define LRA_DATASETS_FORMATS_BIDMC_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* Writes both files with n made-up series in all, 30 % of them in the test file; the same bytes
 * each time.
 * again: replaces files that are there. */
int lra_bidmc_make(const char *target, int64_t n, const char *folder, bool again, lra_err *e);

#endif
