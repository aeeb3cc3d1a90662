/* Lists of values: "0.001,0.004". */
#ifndef LRA_PROBES_RUN_VALUES_H
#define LRA_PROBES_RUN_VALUES_H

#include "kernels/base/core/err.h"

/* Splits a list at commas and strips blanks around the values. Returns their number, or LRA_USAGE.
 * The caller frees each value. */
int lra_values_read(const char *list, int most, char **value, lra_err *e);

#endif
