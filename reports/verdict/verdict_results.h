/* Verdicts of tables of results: `tasks` and `models`, and Table 1 of the locality paper. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_RESULTS_H
#define LRA_REPORTS_VERDICT_VERDICT_RESULTS_H

#include "reports/results/result_metric.h"
#include "reports/verdict/verdict.h"

/* Adds sentences: the number of rows (configurations over their seeds) that are better than chance;
 * on each test set the best row against the next best one; the caveat that matters most.  The best
 * row is compared with the next best one by the two-sided 95 % interval of their paired difference:
 * although both are chosen by their values, the error stays below 5 % (Gutmann & Maymin 1987);
 * Bonferroni over the test sets. */
void lra_verdict_of_results(int n, const lra_result_group *groups, lra_verdict *to);

/* A cell of Table 1: measured and published accuracy, shares. */
typedef struct {
    const lra_result *first;
    int64_t kernel;
    int n_seeds;
    lra_estimate measured;
    double published; /* NAN: not published */
} lra_published_cell;
/* Adds sentences: the number of cells whose interval contains the published value; the largest
 * difference; deviations from the published settings, or another caveat. */
void lra_verdict_of_published(int n, const lra_published_cell *cells, lra_verdict *to);

#endif
