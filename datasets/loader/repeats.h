/* Counts rows that occur in several splits: test rows must not occur in training. */
#ifndef LRA_DATASETS_LOADER_REPEATS_H
#define LRA_DATASETS_LOADER_REPEATS_H

#include "datasets/loader/dataset.h"

/* Counts of repeated rows: rows with the same tokens, whatever their labels. Of a stream:
 * consecutive windows of `context` tokens that occur anywhere in the other split. */
typedef struct {
    /* rows that occur in the training split; of the training split: rows that equal an earlier
     * row */
    int64_t in_train[LRA_N_SPLITS];
    int64_t in_val;          /* test rows that occur in the validation split */
    int64_t n[LRA_N_SPLITS]; /* number of rows, or of windows */
} lra_repeats;
void lra_repeats_count(const lra_dataset *d, lra_repeats *r);
/* Warns if validation or test rows occur in the training split. */
void lra_repeats_report(const lra_dataset *d);

#endif
