/* Splits of official training and test files with rows of equal length: validation rows are split
 * off the training file by torch's random_split with seed 42, as in the public pipelines.
 * Parameters: val-split, the share of validation rows; rows, the maximum number of rows of each
 * split, evenly spaced (0: all). */
#ifndef LRA_DATASETS_LOADER_OFFICIAL_H
#define LRA_DATASETS_LOADER_OFFICIAL_H

#include "datasets/loader/dataset.h"

/* Keys of tasks with official training and test files. */
#define LRA_OFFICIAL_ROWS                                                                          \
    LRA_REAL_KEY("val-split", "0.1", 0.001, 0.9,                                                   \
                 "share of the training file used for validation"),                                \
        LRA_ROWS_KEY("maximum number of rows of each split, evenly spaced (0 = all)")
#define LRA_OFFICIAL_KEYS "val-split rows"

/* Training settings of tasks on images of objects and digits, except for "paper". */
#define LRA_OFFICIAL_QUICK                                                                         \
    {                                                                                              \
        "rows=2000", "batch=16 epochs=8 warmup=0.05 final-share=0.34 final-rate=0.1", 2            \
    }
#define LRA_OFFICIAL_SMALL                                                                         \
    {                                                                                              \
        NULL, "batch=64 epochs=20 warmup=0.02", 3                                                  \
    }

typedef struct {
    int64_t n_train, n_test; /* number of rows in the training file and in the test file */
    int64_t length;          /* number of tokens of a row */
    int width;               /* numbers per token */
    /* Writes row i and its label. Rows of the test file are numbered after those of the training
     * file. token: (length, width). */
    void (*row)(const void *of, int64_t i, uint16_t *token, int32_t *label);
    const void *of;
} lra_official;

int lra_official_divide(const lra_official *o, const lra_config *c, lra_dataset *d, lra_err *e);
/* Baseline for classes that always predicts the most frequent label of the training split. */
const char *lra_baseline_constant(int b, const lra_sequences *train, const lra_sequences *of,
                                  int32_t *predicted);

#endif
