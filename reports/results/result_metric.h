/* Results in the metric of their task: values, intervals, chance. */
#ifndef LRA_REPORTS_RESULTS_RESULT_METRIC_H
#define LRA_REPORTS_RESULTS_RESULT_METRIC_H

#include "analysis/jackknife.h"
#include "analysis/sample.h"
#include "reports/results/result.h"

/* Jackknife pseudo-values of the rows, (n): their mean is the metric, and their variance gives its
 * standard error. The caller frees them. */
double *lra_result_row_values(const lra_result *r);
/* The values of lra_result_row_values(), negated if smaller values of the metric are better. */
double *lra_result_scores(const lra_result *r);

/* Value of a metric over all rows of the test split. */
double lra_result_value(const lra_result *r, const lra_metric *m);
/* Creates a sample with one series from results that differ only in their seed: whether each row is
 * right, or row values. The caller frees it. */
lra_sample *lra_results_sample(lra_result *const *list, int n);
/* Value over n results that differ only in their seed, with its 95 % interval over examples and
 * seeds; for a single accuracy, Wilson's interval. */
lra_estimate lra_results_value(lra_result *const *list, int n);
/* Batch R2: mean of 1 - MSE / max(Var, 1e-5) over consecutive complete batches of the test split,
 * of the training batch size. Code for regression tasks often reports this value, although it
 * depends on the batch size. An incomplete batch is used only if there is no complete one (a single
 * row has no variance). NAN: the result has no predicted numbers, or the batch size is unknown. */
double lra_result_batch_r2(const lra_result *r);
/* A result as text: "accuracy 63.20 % (61.05 to 65.30, 1 seed, 1264 of 2000), chance 17.20 %", or
 * "RMSE 4.2130 (4.0010 to 4.4310, 1 seed, 832 rows), chance 12.3400; R2 0.8812, R2 of single
 * batches 0.8701". The caller frees it. */
char *lra_result_text(lra_result *r);

/* Flags of a table row or a ladder, in the order in which lra_result_flags() writes their names. */
enum {
    LRA_FLAG_ONE_SEED = 1 << 0,     /* intervals cover examples only, not seeds */
    LRA_FLAG_FEW_SEEDS = 1 << 1,    /* fewer than 5 seeds, and seed variance exceeds example
                                       variance */
    LRA_FLAG_FAILED_SEEDS = 1 << 2, /* some seeds have not learned; all values exclude them */
    LRA_FLAG_AT_CHANCE = 1 << 3,
    LRA_FLAG_SPAN = 1 << 4,         /* the index covers only the trained reaches */
    LRA_FLAG_EXTRAPOLATED = 1 << 5, /* the value of the widest rung is used for wider reaches */
    LRA_FLAG_CENSORED = 1 << 6,     /* a reach lies beyond the widest rung */
    LRA_FLAG_UNRESOLVED = 1 << 7,   /* an interval is wider than the test's margin */
    LRA_FLAG_REFERENCE_WEAK = 1 << 8,
    LRA_FLAG_OVERFIT = 1 << 9,
    LRA_FLAG_ON_TEST =
        /* checkpoints were selected on the test rows; lra_result_flags() adds this flag and the
         * next one */
    1 << 10,
    LRA_FLAG_UNSEALED = 1 << 11,
    LRA_FLAGS_TEXT = 160
};
/* Writes the names of the flags, "few-seeds at-chance"; returns text. */
const char *lra_result_flags(const lra_result *r, unsigned flags, char text[LRA_FLAGS_TEXT]);

/* A group of results that differ only in their seed. Groups are ordered by task, preset, model,
 * kernel, precision and settings (numbers by size; the default is last), and runs within a group by
 * seed. */
typedef struct {
    lra_result **run; /* (n) results; the list owns them */
    int n;
} lra_result_group;
/* Groups n results; returns the number of groups. The caller frees them with
 * lra_result_groups_free(). */
int lra_results_group(lra_result *const *list, int n, lra_result_group **groups);
void lra_result_groups_free(lra_result_group *groups, int n);
/* True if the results belong to one model with increasing kernel sizes, so that figures can use an
 * ordered colour scale. */
bool lra_results_rise(int n, const lra_result *const *list);
/* Identity of a result: task, preset, precision, data, and all lines of the configuration, except
 * for lines that begin with one of the words and for the names of related runs
 * (lra_identity_text()). The caller frees it. */
char *lra_result_identity(const lra_result *r, int n_words, const char *const *word);

#endif
