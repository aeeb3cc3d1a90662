/* Results of training, as one HDF5 file; FORMAT.md describes it.  lra-report reads result and probe
 * files only, no models and no data sets. */
#ifndef LRA_REPORTS_RESULTS_RESULT_H
#define LRA_REPORTS_RESULTS_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/err.h"
#include "kernels/base/core/history.h"
#include "kernels/base/core/metric.h"
#include "kernels/base/core/origin.h"
#include "kernels/base/core/training.h"

enum { LRA_MAX_BASELINES = 32 };

typedef struct {
    /* Identity of the run; texts are owned. */
    char *task, *model, *preset, *precision, *fingerprint, *run;
    char *config;          /* "key=value" lines: every option that changes the result */
    char *task_parameters; /* all of them, "key=value" lines; "" in older files */
    char *deviations;      /* from the published setting, one per line; "" when there are none */
    lra_origin origin;     /* host, program and time */
    char *sources;         /* hash of the sources of the model and its ops; "" in older files */
    char *user_label;      /* the user's name of the run (--label); "": none, NULL: none */
    char *ladder;          /* the ladder it was trained for (ladder_rungs.h); "": kernel widths */
    int64_t seed, kernel, reach; /* reach: one-sided, tokens; -1: unbounded.  kernel 0: none */
    int64_t max_length;          /* longest example, tokens */
    int64_t grid;                /* pixels in a row of the image that an example is; 0: none */
    lra_training training;       /* steps, selected epoch, seconds: attributes of the root */
    const lra_metric *metric; /* metric of checkpoint selection and of reports.  NULL: accuracy */
    double chance; /* value of the metric by chance; accuracies: see lra_result_chance() */
    int64_t batch; /* rows of a training batch; 0: not known */
    /* (n_epochs, LRA_HISTORY_COLUMNS), a row for each epoch */
    int64_t n_epochs;
    double *history;
    /* Test split: n rows, by the selected epoch, in the order of the split. */
    int64_t n, n_classes; /* n_classes 0: no classes, and no logits and labels */
    float *logits;        /* (n, n_classes) */
    int32_t *label;       /* (n) */
    lra_sums *row;        /* (n) contribution of each row to the metric; NULL: it follows from the
                          logits */
    int64_t n_numbers;    /* predicted values per row; 0: the two arrays below are NULL */
    float *number;        /* (n, n_numbers) predictions and targets; NAN: masked */
    float *target;
    /* Validation split of tasks with classes, by the same weights.  n_val 0: not recorded (see
     * lra_result_val_value) */
    int64_t n_val;
    float *val_logits;  /* (n_val, n_classes) */
    int32_t *val_label; /* (n_val) */
    /* A sample of the training rows, evaluated with the same weights, without dropout and
     * augmentation: at most 10,000, the same of all runs on these data.  n_train 0: not
     * recorded. */
    int64_t n_train;
    double train_value, train_loss; /* metric, and mean loss; NAN: not recorded */
    uint8_t *train_correct;         /* (n_train) 1 if the prediction is right; NULL: no classes */
    /* True if the file has no seal: its contents may have been changed.  Tables and figures mark
     * it. */
    bool unsealed;
    /* Predictions of baselines for the same rows. */
    int n_baselines;
    char *baseline_name[LRA_MAX_BASELINES];
    int32_t *baseline[LRA_MAX_BASELINES]; /* (n) each */
} lra_result;

int lra_result_write(const char *path, const lra_result *r, lra_err *e);
lra_result *lra_result_read(const char *path, lra_err *e);
void lra_result_free(lra_result *r); /* Nullable: r */

/* 1 if the largest logit is that of the label; (n), caller frees with lra_free(). */
uint8_t *lra_result_correct(const lra_result *r);
/* Same, for the validation split; (n_val), the caller frees it; NULL: not recorded. */
uint8_t *lra_result_val_correct(const lra_result *r);
/* Metric of the selected checkpoint on the validation split: computed from the n_val rows, if
 * stored, else read from the history; NAN: not recorded (nothing was trained). */
double lra_result_val_value(const lra_result *r);
/* Majority label, the best constant prediction: the most frequent label of the training rows, taken
 * from the baseline `constant`; of the test rows, if there is no such baseline. */
int32_t lra_result_common_label(const lra_result *r, bool *of_training);
/* Chance: the metric of the best prediction that ignores the inputs; with classes the share of the
 * majority label. */
double lra_result_chance(const lra_result *r);
const lra_metric *lra_result_metric(const lra_result *r);
/* Contribution of each row to the metric, with classes without the loss; (n), the caller frees it
 * with lra_free(). */
lra_sums *lra_result_rows(const lra_result *r);
double lra_result_baseline_accuracy(const lra_result *r, const char *name); /* -1: not there */
/* True for bags of n-grams counted in training rows; they are rows of tables and are not defined by
 * the task. */
bool lra_result_counted(const char *baseline);
/* The best baseline that needs no order of the input ("majority-by-operator", "marker-distance");
 * NULL: none. */
const char *lra_result_simple_baseline(const lra_result *r, double *accuracy);
/* True if the validation rows, which select the checkpoint, are those of the test split
 * (task.val=test). */
bool lra_result_selected_on_test(const lra_result *r);

/* Loads every result.h5 of n places (result_files.h), each configuration with each seed once; files
 * that cannot be read are left out (load_files.h).  Returns their number, or -1; the caller frees
 * the list with lra_results_free(). */
int lra_results_load(int n, const char *const *place, lra_result ***list, lra_err *e);
void lra_results_free(lra_result **list, int n);

#endif
