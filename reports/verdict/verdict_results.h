/* Verdicts of tables of results: `tasks` and `models`, and Table 1 of the locality paper. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_RESULTS_H
#define LRA_REPORTS_VERDICT_VERDICT_RESULTS_H

#include "reports/results/result_metric.h"
#include "reports/verdict/verdict.h"

/* Adds sentences: the number of rows (configurations over their seeds) that are better than chance;
 * for each test set the best row compared with the second best; the most important caveat. The
 * comparison uses the two-sided 95 % interval of the paired difference, with a Bonferroni
 * correction over test sets. Although both rows are selected by their values, the error stays below
 * 5 % (Gutmann & Maymin 1987). */
void lra_verdict_of_results(int n, const lra_result_group *groups, lra_verdict *to);

/* A cell of Table 1: measured and published accuracy, as shares (0 to 1). */
typedef struct {
    const lra_result *first;
    int64_t kernel;
    int n_seeds;
    lra_estimate measured;
    double published; /* NAN: not published */
} lra_published_cell;
/* Adds sentences: the number of cells whose interval contains the published value; the largest
 * difference; differences from the published settings, or another caveat. */
void lra_verdict_of_published(int n, const lra_published_cell *cells, lra_verdict *to);

#endif
