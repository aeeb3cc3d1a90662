/* Synthetic BIDMC files, for trials of the task without the recordings. */
#ifndef LRA_DATASETS_FORMATS_BIDMC_MAKE_H
#define LRA_DATASETS_FORMATS_BIDMC_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* Writes the training and the test file with n synthetic series in total, 30 % of them in the test
 * file. Every call writes the same bytes. again: replaces existing files. */
int lra_bidmc_make(const char *target, int64_t n, const char *folder, bool again, lra_err *e);

#endif
