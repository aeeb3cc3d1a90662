/* Checks of the numbers in result files, when a file is written and when it is read. */
#ifndef LRA_REPORTS_RESULTS_CHECK_NUMBERS_H
#define LRA_REPORTS_RESULTS_CHECK_NUMBERS_H

#include <stdint.h>

#include "kernels/base/core/err.h"

/* Fails if v is not in [0, most]. */
int lra_check_number(const char *what, double v, double most, lra_err *e);
/* Fails if a value is not finite: a row of NaN would count as a prediction of class 0.
 * v: (rows,columns).  Nullable: v. */
int lra_check_labels(const char *what, int64_t rows, int64_t columns, const float *v, lra_err *e);

#endif
