/* The rows of the test split in the sample of a run's loaded model, and its outputs for them. */
#ifndef LRA_PROBES_SHARED_SAMPLE_ROWS_H
#define LRA_PROBES_SHARED_SAMPLE_ROWS_H

#include "models/training/loaded_model.h"
#include "models/training/rows.h"
#include "probes/shared/steps.h"

/* Returns the number of rows; index: (n) their rows in the split; place: by row of the split, its
 * rank in the sample. The caller frees both. */
int64_t lra_sample_rows(const lra_loaded_model *m, int64_t **index, int64_t **place);

/* Starts the readback of the network outputs in all graphs; returns the elements of the largest
 * output. */
int64_t lra_sample_ask(lra_loaded_model *m);

/* Sums of the outputs for a batch, row by row. lra_sample_answers_free() frees all but row. */
typedef struct {
    const lra_train_spec *run;
    int64_t *place; /* rank in the sample, by row of the split */
    lra_sums *row;  /* (n) the sums */
    float *output;
    lra_sums *batch;
    lra_steps *steps; /* Nullable */
} lra_sample_answers;
/* Starts the readback in all graphs, and finds the rows: n of them, `index` (the caller frees
 * it). */
int64_t lra_sample_answers_open(lra_sample_answers *a, lra_loaded_model *m, int64_t **index);
void lra_sample_answers_free(lra_sample_answers *a);
/* Callback for lra_loaded_run(), with a lra_sample_answers as its context. */
int lra_sample_keep(const lra_length_graph *v, const lra_batch *b, void *answers, lra_err *e);

/* Loads a run in float32, for outputs that are close together, requests outputs and features, and
 * iterates over the sample; the caller closes it in every case. placed: tokens may have explicit
 * position ids. */
int lra_sample_each(lra_loaded_model *m, const lra_train_spec *run, lra_device *dev,
                    lra_weights_kind weights, int64_t sample, bool placed,
                    int (*each)(const lra_length_graph *v, const lra_batch *b, void *context,
                                lra_err *e),
                    void *context, lra_err *e);

#endif
