/* Results of runs that never were. */
#ifndef LRA_TESTS_MADE_RESULT_H
#define LRA_TESTS_MADE_RESULT_H

#include "reports/result.h"

enum { MADE_ROWS = 4000, MADE_CLASSES = 4, MADE_LENGTH = 64 };

/* A run whose answers are right in a share of the rows, mostly the same ones, and as sure of the
 * wrong ones.  The caller frees it. */
lra_result *made_result(int kernel, int reach, int seed, double share);

#endif
