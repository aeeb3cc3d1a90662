/* Rows that occur in several splits: test rows must not be training rows. */
#ifndef LRA_DATASETS_LOADER_REPEATS_H
#define LRA_DATASETS_LOADER_REPEATS_H

#include "datasets/loader/dataset.h"

/* Rows with the same steps and any labels. Of a stream: consecutive windows of its context that
 * occur anywhere in the other split. */
typedef struct {
    int64_t in_train[LRA_N_SPLITS]; /* of the training split: rows that occur in an earlier one */
    int64_t in_val;                 /* test rows */
    int64_t n[LRA_N_SPLITS];        /* rows, or windows */
} lra_repeats;
void lra_repeats_count(const lra_dataset *d, lra_repeats *r);
/* Warns if validation or test rows occur in training. */
void lra_repeats_report(const lra_dataset *d);

#endif
