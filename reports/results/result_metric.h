/* Results in the metric of their task: value, interval, chance. */
#ifndef LRA_REPORTS_RESULTS_RESULT_METRIC_H
#define LRA_REPORTS_RESULTS_RESULT_METRIC_H

#include "analysis/jackknife.h"
#include "analysis/sample.h"
#include "reports/results/result.h"

/* Row values (jackknife pseudo-values): their mean is the metric, their variance gives its standard
 * error; (n), the caller frees it. */
double *lra_result_row_values(const lra_result *r);
/* Same; negated if smaller values of the metric are better. */
double *lra_result_scores(const lra_result *r);

/* The value on all rows of the test split. */
double lra_result_value(const lra_result *r, const lra_metric *m);
/* Makes one series of results that differ only in their seed: correct rows, or row values; the
 * caller frees it. */
lra_sample *lra_results_sample(lra_result *const *list, int n);
/* Value of this series with its 95 % interval over examples and seeds; Wilson's interval for a
 * single accuracy. */
lra_estimate lra_results_value(lra_result *const *list, int n);
/* Batch R2: mean of 1 - MSE / max(Var, 1e-5) over consecutive complete batches of the test split,
 * of the training batch size.  Code for regression tasks often reports this value, which depends on
 * the batch size.  An incomplete batch counts only if there is no complete one (a single row has no
 * variance).  NAN: no numbers, or the batch is not known. */
double lra_result_batch_r2(const lra_result *r);
/* "accuracy 63.20 % (61.05 to 65.30, 1 seed, 1264 of 2000), chance 17.20 %", "RMSE 4.2130 (4.0010
 * to 4.4310, 1 seed, 832 rows), chance 12.3400; R2 0.8812, R2 of single batches 0.8701"; the caller
 * frees it. */
char *lra_result_text(lra_result *r);

/* Flags of a row or a ladder, in the order of their names in the text. */
enum {
    LRA_FLAG_ONE_SEED = 1 << 0,     /* intervals over examples only */
    LRA_FLAG_FEW_SEEDS = 1 << 1,    /* fewer than 5 seeds, and seed variance exceeds example
                                       variance */
    LRA_FLAG_FAILED_SEEDS = 1 << 2, /* some seeds have not learned, and are left out of all
                                       values */
    LRA_FLAG_AT_CHANCE = 1 << 3,
    LRA_FLAG_SPAN = 1 << 4,         /* the index covers only the trained reaches */
    LRA_FLAG_EXTRAPOLATED = 1 << 5, /* the value of the widest rung is used for wider reaches */
    LRA_FLAG_CENSORED = 1 << 6,     /* a reach lies beyond the widest rung */
    LRA_FLAG_UNRESOLVED = 1 << 7,   /* an interval is wider than the margin of the test */
    LRA_FLAG_REFERENCE_WEAK = 1 << 8,
    LRA_FLAG_OVERFIT = 1 << 9,
    LRA_FLAG_ON_TEST =
        1 << 10, /* the validation rows were the test rows; set automatically, as is the next */
    LRA_FLAG_UNSEALED = 1 << 11,
    LRA_FLAGS_TEXT = 160
};
/* "few-seeds at-chance"; returns text. */
const char *lra_result_flags(const lra_result *r, unsigned flags, char text[LRA_FLAGS_TEXT]);

/* Results that differ only in their seed, in order of task, preset, model, kernel, precision,
 * settings (numbers by size; the default is last) and seed. */
typedef struct {
    lra_result **run; /* (n), owned by the list */
    int n;
} lra_result_group;
/* Returns the number of groups; the caller frees with lra_result_groups_free(). */
int lra_results_group(lra_result *const *list, int n, lra_result_group **groups);
void lra_result_groups_free(lra_result_group *groups, int n);
/* True if these are results of one model with increasing kernel sizes, so that figures show an
 * order. */
bool lra_results_rise(int n, const lra_result *const *list);
/* Identity of a result: task, preset, precision, data, then all lines of the configuration, except
 * for lines that begin with one of the words and for the names of related runs
 * (lra_identity_text()); the caller frees it. */
char *lra_result_identity(const lra_result *r, int n_words, const char *const *word);

#endif
