/* Results that nobody trained, in memory. */
#ifndef LRA_TESTS_SMALL_RESULTS_H
#define LRA_TESTS_SMALL_RESULTS_H

#include "reports/listops_result.h"
#include "reports/result.h"

enum { SMALL_ROWS = 50, SMALL_CLASSES = 4, SMALL_LISTOPS_ROWS = 240 };

/* ListOps; the first `right` rows are right, label i % SMALL_CLASSES. */
lra_result *small_result(const char *preset, int kernel, int seed, int right);
int small_results_free(int n, lra_result **list); /* 0 */
/* A breakdown that is right in rows whose number modulo 10 is below `right`, and says what greedy
 * says elsewhere. */
lra_listops *small_listops(int kernel, int seed, int right);

#endif
