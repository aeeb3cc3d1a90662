/* Rows that stand in several splits: what is tested on must not have been trained on. */
#ifndef LRA_DATASETS_LOADER_REPEATS_H
#define LRA_DATASETS_LOADER_REPEATS_H

#include "datasets/loader/dataset.h"

/* Rows with the same steps, whatever their labels.  Of a stream: windows of its context, one behind
 * the other, that stand anywhere in the other split. */
typedef struct {
    int64_t in_train[LRA_N_SPLITS]; /* of the training split: rows that stood in an earlier one */
    int64_t in_val;                 /* test rows */
    int64_t n[LRA_N_SPLITS];        /* rows, or windows */
} lra_repeats;
void lra_repeats_count(const lra_dataset *d, lra_repeats *r);
/* Warns when validation or test rows stand in training. */
void lra_repeats_report(const lra_dataset *d);

#endif
