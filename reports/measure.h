/* What results say in their task's metric: value, interval, chance. */
#ifndef LRA_REPORTS_MEASURE_H
#define LRA_REPORTS_MEASURE_H

#include "analysis/bootstrap.h"
#include "reports/result.h"

/* Fills n uniform words for draws with replacement, by (key, replicate). */
void lra_bootstrap_words(uint64_t key, uint64_t replicate, int64_t n, uint32_t *out);

/* The metric of n rows as a measure, and those rows; the caller frees them.  score: the negative where less is
 * better. */
lra_measure lra_metric_measure(const lra_metric *m, int64_t n, bool score);
double *lra_result_measured_rows(const lra_result *r);

/* The value on all rows of the test split. */
double lra_result_value(const lra_result *r, const lra_metric *m);
/* Mean over results that differ in their seed alone, with its 95 % interval: Wilson's for one accuracy, else the
 * bootstrap of rows, from three seeds on crossed with seeds. */
lra_estimate lra_results_value(lra_result *const *list, int n);
/* Mean over consecutive whole batches of the test split, as large as in training, of 1 - MSE / max(Var, 1e-5): how code
 * for regression tasks often reports R2, which depends on the batch.  What is left over (a last row alone has no
 * variance) counts only where there is no whole batch.  NAN: no numbers, or the batch is not known. */
double lra_result_batch_r2(const lra_result *r);
/* "accuracy 63.20 % (61.05 to 65.30, 1 seed, 1264 of 2000), chance 17.20 %", "RMSE 4.2130 (4.0010 to 4.4310, 1 seed,
 * 832 rows), chance 12.3400; R2 0.8812, R2 of single batches 0.8701"; the caller frees it. */
char *lra_result_text(lra_result *r);

/* Flags of a row: few-seeds: the intervals do not cover the variation of training; at-chance; selected-on-test: the
 * validation rows were the test's.  Returns text. */
const char *lra_result_flags(const lra_result *r, int n_seeds, bool at_chance, char text[64]);

/* Results that differ in their seed alone, in order of task, configuration and seed. */
typedef struct {
    lra_result **run; /* (n), owned by the list */
    int n;
} lra_result_group;
/* Returns the number of groups; the caller frees with lra_result_groups_free(). */
int lra_results_group(lra_result *const *list, int n, lra_result_group **groups);
void lra_result_groups_free(lra_result_group *groups, int n);
/* What the configuration says but for lines that begin with one of the words, and the name of the run that this one
 * started from or is the control of: task, preset, precision, data, then
 * every option; the caller frees it. */
char *lra_result_identity(const lra_result *r, int n_words, const char *const *word);

#endif
