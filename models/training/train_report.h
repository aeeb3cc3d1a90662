/* Results of training. */
#ifndef LRA_MODELS_TRAINING_TRAIN_REPORT_H
#define LRA_MODELS_TRAINING_TRAIN_REPORT_H

#include "kernels/base/core/metric.h"
#include "kernels/base/core/training.h"
#include "models/training/train_spec.h"

/* Maximum number of training rows that are evaluated after training. The sample is keyed by the
 * fingerprint of the data (lra_loader_spec.sample). */
enum { LRA_TRAIN_SAMPLE = 10000 };

typedef struct {
    lra_epoch_record *history;
    int64_t n_epochs;
    lra_training training;
    double best_val;
    char level[96]; /* instruction levels of all sessions, "avx512+avx2"; "": unknown */
    int64_t n_rows; /* number of rows of the test split; streams: of windows */
    lra_sums test;
    lra_sums *row; /* (n_rows) contribution of each test row to `test`, in the order of the split */
    /* (n_rows, outputs) logits or predicted numbers of the test rows; NULL for heads with an output
     * at every token. */
    float *output;
    /* Tasks with classes: number of rows of the validation split, evaluated with the same weights.
     * 0: none. */
    int64_t n_val;
    float *val_output; /* (n_val, outputs) logits */
    /* A sample of the training rows, evaluated with the same weights, without augmentation and
     * dropout. */
    int64_t n_train;
    lra_sums train;
    lra_sums *train_row; /* (n_train) contribution of each sampled row, in the order of the split */
    uint64_t hash;       /* hash of the final parameters, moments and states */
    bool diverged;       /* training failed because consecutive updates were not finite */
} lra_train_report;
void lra_train_report_free(lra_train_report *r);

#endif
