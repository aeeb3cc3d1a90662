/* What training measured, as one HDF5 file; FORMAT.md describes it.  The only thing that lra-report
 * reads:
 * no model, no data set. */
#ifndef LRA_REPORTS_RESULTS_RESULT_H
#define LRA_REPORTS_RESULTS_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/err.h"
#include "kernels/base/core/history.h"
#include "kernels/base/core/metric.h"
#include "kernels/base/core/origin.h"

enum { LRA_MAX_BASELINES = 32 };

typedef struct {
    /* Who: texts are owned. */
    char *task, *model, *preset, *precision, *fingerprint, *run;
    char *config;          /* "key=value" lines: every option that changes the result */
    char *task_parameters; /* all of them, "key=value" lines; "" in older files */
    char *deviations;      /* from the published setting, one per line; "" when there are none */
    lra_origin origin;     /* where, by what and when */
    char *sources;         /* hash of the sources of the model and its ops; "" in older files */
    char *user_label;      /* the user's name of the run (--label); "": none, NULL: none */
    char *ladder; /* the ladder it was trained for (ladder_rungs.h); "": a plain one of kernels */
    int64_t seed, kernel, reach; /* reach: one-sided, tokens; -1: unbounded.  kernel 0: none */
    int64_t max_length;          /* longest example, tokens */
    int64_t grid;                /* pixels in a row of the image that an example is; 0: none */
    int64_t parameters, steps, skipped;
    int64_t best_epoch; /* the selected one, from 1; 0: nothing was trained */
    double seconds, step_flops, padding;
    const lra_metric *metric; /* what selected and is reported.  NULL: accuracy */
    double chance; /* of the metric on the test split; accuracies: see lra_result_chance() */
    int64_t batch; /* rows of a training batch; 0: not known */
    /* (n_epochs, LRA_HISTORY_COLUMNS), a row for each epoch */
    int64_t n_epochs;
    double *history;
    /* Test split: n rows, by the selected epoch, in the order of the split. */
    int64_t n, n_classes; /* n_classes 0: no classes, and no logits and labels */
    float *logits;        /* (n, n_classes) */
    int32_t *label;       /* (n) */
    lra_sums *row;     /* (n) what each row adds to the metric; NULL: it follows from the logits */
    int64_t n_numbers; /* of a row's answer; 0: the two below are NULL */
    float *number;     /* (n, n_numbers) answers, and what they should be; NAN: not asked */
    float *target;
    /* Validation split of tasks with classes, by the same weights.  n_val 0: not recorded (see
     * lra_result_val_value) */
    int64_t n_val;
    float *val_logits;  /* (n_val, n_classes) */
    int32_t *val_label; /* (n_val) */
    /* A sample of the rows that were trained on, by the same weights and as they stand (no dropout,
     * not augmented): at most 10,000, the same of all runs on these data.  n_train 0: not
     * recorded. */
    int64_t n_train;
    double train_value, train_loss; /* metric, and mean loss; NAN: not recorded */
    uint8_t *train_correct;         /* (n_train) 1 where the answer was right; NULL: no classes */
    /* The file had no seal: what it says may have been changed since.  Tables and figures say
     * so. */
    bool unsealed;
    /* Predictions of baselines for the same rows. */
    int n_baselines;
    char *baseline_name[LRA_MAX_BASELINES];
    int32_t *baseline[LRA_MAX_BASELINES]; /* (n) each */
} lra_result;

int lra_result_write(const char *path, const lra_result *r, lra_err *e);
lra_result *lra_result_read(const char *path, lra_err *e);
void lra_result_free(lra_result *r); /* Nullable: r */

/* 1 where the largest logit is the label; (n), caller frees with lra_free(). */
uint8_t *lra_result_correct(const lra_result *r);
/* The same of the validation split; (n_val), caller frees; NULL: not recorded. */
uint8_t *lra_result_val_correct(const lra_result *r);
/* The metric on the validation split by the selected weights: of n_val rows, else as the history
 * has it; NAN: not recorded (nothing was trained). */
double lra_result_val_value(const lra_result *r);
/* The label that who has not seen the inputs says: the most frequent one of the training rows,
 * which baseline `constant` knows; without it of the test rows. */
int32_t lra_result_common_label(const lra_result *r, bool *of_training);
/* The metric without a look at the inputs; of classes the share of that label. */
double lra_result_chance(const lra_result *r);
const lra_metric *lra_result_metric(const lra_result *r);
/* What each row adds to the metric, of classes without the loss; (n), caller frees with
 * lra_free(). */
lra_sums *lra_result_rows(const lra_result *r);
double lra_result_baseline_accuracy(const lra_result *r, const char *name); /* -1: not there */
/* A bag of n-grams, counted in training rows: rows of tables, nothing that a task knows. */
bool lra_result_counted(const char *baseline);
/* The best baseline that needs no order of the input ("majority-by-operator", "marker-distance");
 * NULL: none. */
const char *lra_result_simple_baseline(const lra_result *r, double *accuracy);
/* Were the validation rows, which choose the weights, those of the test split (task.val=test)? */
bool lra_result_selected_on_test(const lra_result *r);

/* Every result.h5 of n places (result_files.h), each configuration with each seed once, files that
 * cannot be read left out (load_files.h).  Returns their number, or -1; the caller frees the list
 * with lra_results_free(). */
int lra_results_load(int n, const char *const *place, lra_result ***list, lra_err *e);
void lra_results_free(lra_result **list, int n);

#endif
