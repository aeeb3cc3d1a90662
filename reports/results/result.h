/* Results of training, as one HDF5 file (described in FORMAT.md). lra-report reads result files and
 * probe files only; it needs no models and no data sets. */
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
    char *task_parameters; /* all parameters of the task as "key=value" lines; "" in older files */
    /* differences from the published settings, one per line; "" if there are none */
    char *deviations;
    lra_origin origin; /* host, program and time */
    char *sources;     /* hash of the sources of the model and its ops; "" in older files */
    char *user_label;  /* value of --label; "" or NULL: none */
    /* paper whose settings the preset has ("locality"); "" or NULL: none, or an older file */
    char *paper;
    /* attributes of the ladder for which it was trained (ladder_rungs.h); "": no ladder, or a
     * ladder of kernels */
    char *ladder;
    /* reach: number of tokens to one side, -1 if unbounded; kernel: 0 if the model has none */
    int64_t seed, kernel, reach;
    int64_t max_length; /* number of tokens of the longest example */
    /* pixels in a row of the image that an example represents; 0: examples are not images */
    int64_t grid;
    /* steps, best epoch, seconds, ...: attributes of the file's root */
    lra_training training;
    const lra_metric *metric; /* metric of checkpoint selection and of reports.  NULL: accuracy */
    /* value of the metric at chance level; for accuracies, use lra_result_chance() */
    double chance;
    int64_t batch; /* number of rows of a training batch; 0: unknown */
    /* (n_epochs, LRA_HISTORY_COLUMNS), one row per epoch */
    int64_t n_epochs;
    double *history;
    /* Test split: n rows in the order of the split, predicted with the weights of the best epoch.
     * n_classes: 0 if the task has no classes; then logits and label are NULL. */
    int64_t n, n_classes;
    float *logits;  /* (n, n_classes) logits */
    int32_t *label; /* (n) labels */
    /* (n) contribution of each row to the metric; NULL: it follows from the logits */
    lra_sums *row;
    /* predicted values per row; 0: the arrays `number` and `target` are NULL */
    int64_t n_numbers;
    float *number; /* (n, n_numbers) predictions and targets; NAN: masked */
    float *target;
    /* Validation split of tasks with classes, predicted with the same weights. n_val = 0: not
     * recorded (see lra_result_val_value()) */
    int64_t n_val;
    float *val_logits;  /* (n_val, n_classes) logits */
    int32_t *val_label; /* (n_val) labels */
    /* A sample of at most 10,000 training rows, the same for all runs on these data, evaluated with
     * the same weights, without dropout and augmentation. n_train = 0: not recorded. */
    int64_t n_train;
    double train_value, train_loss; /* metric and mean loss on the sample; NAN: not recorded */
    /* (n_train) 1 if the prediction is right; NULL: the task has no classes */
    uint8_t *train_correct;
    /* True if the file has no seal (checksum): its contents may have been changed. Tables and
     * figures mark such results. */
    bool unsealed;
    /* Predictions of baselines for the rows of the test split. */
    int n_baselines;
    char *baseline_name[LRA_MAX_BASELINES];
    int32_t *baseline[LRA_MAX_BASELINES]; /* (n) predicted labels of each baseline */
} lra_result;

int lra_result_write(const char *path, const lra_result *r, lra_err *e);
lra_result *lra_result_read(const char *path, lra_err *e);
void lra_result_free(lra_result *r); /* Nullable: r */

/* (n) 1 if the largest logit of a row is that of its label. The caller frees it with lra_free(). */
uint8_t *lra_result_correct(const lra_result *r);
/* (n_val) 1 if the prediction for a validation row is right; NULL: not recorded. The caller frees
 * it. */
uint8_t *lra_result_val_correct(const lra_result *r);
/* Metric of the best checkpoint on the validation split: computed from the n_val rows if they are
 * stored, else read from the history. NAN: not recorded (nothing was trained). */
double lra_result_val_value(const lra_result *r);
/* Majority label (the best constant prediction): the most frequent label of the training rows,
 * taken from the baseline `constant`. If there is no such baseline, that of the test rows; then
 * *of_training is false. */
int32_t lra_result_common_label(const lra_result *r, bool *of_training);
/* Chance: the metric of the best prediction that ignores the inputs; with classes, the share of the
 * majority label in the test rows. */
double lra_result_chance(const lra_result *r);
const lra_metric *lra_result_metric(const lra_result *r);
/* Contribution of each row to the metric, (n); for tasks with classes without the loss. The caller
 * frees it with lra_free(). */
lra_sums *lra_result_rows(const lra_result *r);
/* -1: the result has no such baseline */
double lra_result_baseline_accuracy(const lra_result *r, const char *name);
/* True for n-gram baselines, which are counted on the training rows. Tables show them as rows,
 * because the task does not define them. */
bool lra_result_counted(const char *baseline);
/* The best baseline that does not use the order of the input ("majority-by-operator",
 * "marker-distance"); NULL: there is none. */
const char *lra_result_simple_baseline(const lra_result *r, double *accuracy);
/* True if the checkpoint was selected on the test split: the validation rows are the test rows
 * (task.val=test). */
bool lra_result_selected_on_test(const lra_result *r);

/* Loads every result.h5 of n places (result_files.h); each configuration with each seed is loaded
 * once, and files that cannot be read are skipped (load_files.h). Returns their number, or -1. The
 * caller frees the list with lra_results_free(). */
int lra_results_load(int n, const char *const *place, lra_result ***list, lra_err *e);
void lra_results_free(lra_result **list, int n);

#endif
