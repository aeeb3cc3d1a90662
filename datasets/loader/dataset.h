/* The prepared data of a task. */
#ifndef LRA_DATASETS_LOADER_DATASET_H
#define LRA_DATASETS_LOADER_DATASET_H

#include "datasets/loader/task.h"

struct lra_dataset {
    const lra_task *task;
    lra_config *config; /* parameters of the generator, or of the import */
    lra_sequences split[LRA_N_SPLITS];
    int64_t
        max_length;  /* steps a model must hold: of a document of a pair; of a window of a stream */
    int64_t longest; /* the same as the parameters declare it, whatever rows there are */
    char fingerprint[17]; /* xxh3-64 of all rows */
    /* An import's: rows of the official files (of a stream: its tokens) before any are chosen or
     * carved, 0 where files have no such part or may not be compared.  Not kept with prepared
     * data. */
    int64_t n_official[LRA_N_SPLITS];
    /* The task's, unless an import found its own vocabulary. */
    int vocab;
    char *words; /* that vocabulary, a line each, '\n' and '\\' escaped.  NULL: none */
    /* Tasks with real inputs but no values(): a model sees scale[j] x[j] + shift[j], j counting all
     * numbers of a row.  (longest row, width) */
    float *scale, *shift;
    /* Tasks with positions(): what they give for rows of max_length steps.  (max_length,
     * n_positions) */
    float *positions;
};

/* Without rows, and with what the task says of them. */
lra_dataset *lra_dataset_new(const lra_task *t);
void lra_dataset_free(lra_dataset *d); /* Nullable: d */
/* Pixels in a row of the task's images, 0: no images. */
int64_t lra_dataset_grid(const lra_dataset *d);

#endif
