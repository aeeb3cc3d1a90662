/* The prepared data of a task. */
#ifndef LRA_DATASETS_LOADER_DATASET_H
#define LRA_DATASETS_LOADER_DATASET_H

#include "datasets/loader/task.h"
#include "kernels/base/core/mem.h"

struct lra_dataset {
    const lra_task *task; /* the record of the task; for tasks with resolve(): `own` */
    /* Tasks with resolve(), else NULL. own: instance of the task, allocated in `arena`; properties:
     * text from which it is made; name: its name for users, which follows from the file name;
     * resolved: parameters whose values follow from the data. */
    lra_task *own;
    lra_arena *arena;
    char *properties, *name;
    lra_config *resolved;
    lra_config *config; /* parameters of the generator or of the import */
    lra_sequences split[LRA_N_SPLITS];
    /* maximum length of a model input in tokens: a row; of pairs, a document; of streams, a
     * window */
    int64_t max_length;
    /* maximum length of a model input in tokens for any rows that the parameters allow */
    int64_t longest;
    char fingerprint[17]; /* xxh3-64 hash of all rows, in hexadecimal */
    /* Set by an import: number of rows (of a stream: tokens) in the official file of each split
     * before selection or splitting; 0 if there is no such file or the numbers are not comparable.
     * Not stored with prepared data. */
    int64_t n_official[LRA_N_SPLITS];
    /* Number of token ids: the task's vocabulary size, or that of the import. */
    int vocab;
    /* words of the import's vocabulary, one on each line, '\n' and '\\' escaped. NULL: none */
    char *words;
    /* Tasks with real inputs but no values(): the input of a model is scale[j] x[j] + shift[j],
     * where j counts the numbers of a row. Shape: (longest row, width). */
    float *scale, *shift;
    /* Tasks with positions(): the position features of rows of max_length tokens. (max_length,
     * n_positions) */
    float *positions;
};

/* Returns a data set of the task without rows. */
lra_dataset *lra_dataset_new(const lra_task *t);
/* Changes d->name, for tasks with resolve(). */
void lra_dataset_rename(lra_dataset *d, const char *name);
void lra_dataset_free(lra_dataset *d); /* Nullable: d */
/* Returns the side length of the task's square images in pixels; 0: rows are not images. */
int64_t lra_dataset_grid(const lra_dataset *d);

#endif
