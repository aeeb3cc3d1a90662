/* Series of the time series regression archive, as text: header lines that start with '@' (or '#':
 * comments), the line "@data", then one series on each line. The dimensions of a series are
 * separated by ':', the values of a dimension by ','; the target follows the last ':'. '?' is a
 * missing value.
 * Source: Tan, Bergmeir, Petitjean, Webb 2021, "Time series extrinsic regression". */
#ifndef LRA_DATASETS_FORMATS_TS_H
#define LRA_DATASETS_FORMATS_TS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_TS_MAX_DIMENSIONS = 16, LRA_TS_MAX_LENGTH = 1 << 20 };

/* Series of one or several files. Initialise with {0}; the first series determines dimensions and
 * length. */
typedef struct {
    int dimensions;
    int64_t length;
    int64_t n, capacity;
    float *value;      /* (n, length, dimensions) values of each series */
    float *target;     /* (n) target of each series */
    int64_t n_missing; /* series skipped because a value or the target is missing ('?') */
    /* series skipped because they have other dimensions or another length, or are not numbers */
    int64_t n_damaged;
    lra_err first; /* error of the first damaged series */
} lra_ts;

/* Appends the series of a file.  name: for messages. */
int lra_ts_parse(const void *bytes, size_t n, const char *name, lra_ts *to, lra_err *e);
void lra_ts_free(lra_ts *t);

#endif
