/* The rows of the test split that a run of an opened model takes, and its answers to them. */
#ifndef LRA_PROBES_SHARED_SAMPLE_ROWS_H
#define LRA_PROBES_SHARED_SAMPLE_ROWS_H

#include "models/training/loaded_model.h"
#include "models/training/rows.h"
#include "probes/shared/steps.h"

/* How many; index: (n) which; place: by row of the split, where it stands among them.  The caller
 * frees both. */
int64_t lra_sample_rows(const lra_loaded_model *m, int64_t **index, int64_t **place);

/* Asks all graphs for what the network answers; returns the elements of the largest answer. */
int64_t lra_sample_ask(lra_loaded_model *m);

/* What the answers to a batch add up to, row by row.  lra_sample_answers_free(): all but row. */
typedef struct {
    const lra_train_spec *run;
    int64_t *place; /* of a row of the split among those that are asked */
    lra_sums *row;  /* (n) where they go */
    float *output;
    lra_sums *batch;
    lra_steps *steps; /* Nullable */
} lra_sample_answers;
/* Asks all graphs, and finds the rows: n of them, `index` (the caller frees it). */
int64_t lra_sample_answers_open(lra_sample_answers *a, lra_loaded_model *m, int64_t **index);
void lra_sample_answers_free(lra_sample_answers *a);
/* For lra_loaded_run(), with a lra_sample_answers. */
int lra_sample_keep(const lra_length_graph *v, const lra_batch *b, void *answers, lra_err *e);

/* Opens a run in float32, for answers that lie close together, asks for them and for features, and
 * goes through the sample; the caller closes it, whatever happened.  placed: tokens may be told
 * where they stand. */
int lra_sample_each(lra_loaded_model *m, const lra_train_spec *run, lra_device *dev,
                    lra_weights_kind weights, int64_t sample, bool placed,
                    int (*each)(const lra_length_graph *v, const lra_batch *b, void *context,
                                lra_err *e),
                    void *context, lra_err *e);

#endif
