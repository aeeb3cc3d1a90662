/* The rows of the test split that a loaded model evaluates (its sample), and its outputs for
 * them. */
#ifndef LRA_PROBES_SHARED_SAMPLE_ROWS_H
#define LRA_PROBES_SHARED_SAMPLE_ROWS_H

#include "models/training/loaded_model.h"
#include "models/training/rows.h"
#include "probes/shared/steps.h"

/* Returns the number n of rows in the sample. index (n): their row indices in the split; place: for
 * each row of the split, its rank in the sample. The caller frees both. */
int64_t lra_sample_rows(const lra_loaded_model *m, int64_t **index, int64_t **place);

/* Starts the readback of the network outputs in all graphs; returns the number of elements of the
 * largest output. */
int64_t lra_sample_start_readback(lra_loaded_model *m);

/* Collects the outputs of a sample, one lra_sums for each row. lra_sample_outputs_free() frees all
 * members except row. */
typedef struct {
    const lra_train_spec *run;
    int64_t *place; /* for each row of the split, its rank in the sample */
    lra_sums *row;  /* (n) sums of the outputs of each row */
    float *output;
    lra_sums *batch;
    lra_steps *steps; /* progress display. Nullable */
} lra_sample_outputs;
/* Starts the readback in all graphs and finds the rows of the sample; returns their number n. index
 * (n): row indices in the split, which the caller frees. */
int64_t lra_sample_outputs_open(lra_sample_outputs *a, lra_loaded_model *m, int64_t **index);
void lra_sample_outputs_free(lra_sample_outputs *a);
/* Callback for lra_loaded_run(), with a lra_sample_outputs as its context. */
int lra_sample_keep(const lra_length_graph *v, const lra_batch *b, void *answers, lra_err *e);

#endif
