/* The prepared data of a task. */
#ifndef LRA_DATASETS_LOADER_DATASET_H
#define LRA_DATASETS_LOADER_DATASET_H

#include "datasets/loader/task.h"

struct lra_dataset {
    const lra_task *task;
    lra_config *config; /* parameters of the generator, or of the import */
    lra_sequences split[LRA_N_SPLITS];
    /* length of a model's input: of a document of a pair; of a window of a stream */
    int64_t max_length;
    int64_t longest;      /* the same as declared by the parameters, for any rows */
    char fingerprint[17]; /* xxh3-64 of all rows */
    /* Set by an import: rows of the official files (of a stream: its tokens) before selection or
     * splitting, 0 if the files have no such part or are not comparable. Not stored with prepared
     * data. */
    int64_t n_official[LRA_N_SPLITS];
    /* The task's vocabulary, unless an import has its own. */
    int vocab;
    char *words; /* the import's vocabulary, a line each, '\n' and '\\' escaped. NULL: none */
    /* Tasks with real inputs but no values(): the input of a model is scale[j] x[j] + shift[j], j
     * counting all numbers of a row. (longest row, width) */
    float *scale, *shift;
    /* Tasks with positions(): its result for rows of max_length steps. (max_length, n_positions) */
    float *positions;
};

/* A data set without rows, with the fields of the task. */
lra_dataset *lra_dataset_new(const lra_task *t);
void lra_dataset_free(lra_dataset *d); /* Nullable: d */
/* Pixels in a row of the task's images, 0: no images. */
int64_t lra_dataset_grid(const lra_dataset *d);

#endif
