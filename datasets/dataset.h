/* What a task is, and what its prepared data look like.  To add one: a file named after the task and one
 * line in datasets.def. */
#ifndef LRA_DATASETS_DATASET_H
#define LRA_DATASETS_DATASET_H

#include <stdio.h>

#include "kernels/base/config.h"
#include "kernels/base/err.h"
#include "kernels/base/philox.h"

enum { LRA_TRAIN_SPLIT, LRA_VAL_SPLIT, LRA_TEST_SPLIT, LRA_N_SPLITS };
extern const char *const lra_split_names[LRA_N_SPLITS]; /* "train" "val" "test" */

/* Sequences of tokens, one behind the other: row i is token[start[i] .. start[i+1]-1]. */
typedef struct {
    int64_t n;
    int64_t *start; /* (n+1) */
    uint16_t *token;
    int32_t *label; /* (n) */
    int64_t row_capacity, token_capacity;
} lra_sequences;

typedef struct lra_task lra_task;
typedef struct {
    const lra_task *task;
    lra_config *config; /* parameters of the generator, or of the import */
    lra_sequences split[LRA_N_SPLITS];
    int64_t max_length;
    char fingerprint[17]; /* xxh3-64 of all tokens and labels */
} lra_dataset;

struct lra_task {
    const char *name, *summary;
    int n_classes, vocab;
    const char *const *token_names; /* (vocab) */
    const char *defaults;           /* parameters as for lra_config_parse(): the paper's */
    /* Parameters that a preset changes; NULL: no such preset of this task. */
    const char *quick, *small;
    /* Checks parameters that a user changed: 0 or LRA_USAGE.  Nullable. */
    int (*validate)(const lra_config *c, lra_err *e);
    /* Fills the splits; rows are distinct across them and depend on the parameters alone. */
    int (*make)(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e);
    /* The same from the official files in a folder; import_hash: xxh3-64 of their bytes. */
    int (*import)(const char *folder, lra_sequences split[LRA_N_SPLITS], lra_err *e);
    int (*import_hash)(const char *folder, uint64_t *hash, lra_err *e);
    /* Another row with the same label and length, in place.  Nullable. */
    void (*augment)(lra_rng *rng, uint16_t *token, int64_t n);
    /* Predictions of the b-th baseline for every row of `of`, fitted on `train` where it learns; returns
     * its name, NULL after the last. */
    const char *(*baseline)(int b, const lra_sequences *train, const lra_sequences *of,
                            int32_t *predicted);

    /* Groups of rows that tables tell apart (ListOps: the operator at the root).  Nullable: all. */
    int n_groups;
    const char *const *group_names;
    int (*group)(const uint16_t *token, int64_t n);
    /* The splits as official files in a folder, which exists.  Nullable. */
    int (*write)(const char *folder, const lra_sequences split[LRA_N_SPLITS], lra_err *e);
    /* Appends the rows of one official file, every label recomputed.  Nullable. */
    int (*check)(const char *path, lra_sequences *out, lra_err *e);
    /* The file names of write(), for check() of a folder.  Nullable. */
    const char *const *file_names; /* (LRA_N_SPLITS) */
    /* Draws a row for people.  Nullable. */
    void (*show)(const uint16_t *token, int64_t n, FILE *out);
};

#define LRA_TASK(name) extern const lra_task lra_task_##name;
#include "datasets/datasets.def"
#undef LRA_TASK
const lra_task *lra_task_at(int i); /* NULL after the last */
const lra_task *lra_task_find(const char *name, lra_err *e);

/* The parameters of a preset ("quick", "small", "paper"); NULL with a message when the task lacks it. */
lra_config *lra_task_config(const lra_task *t, const char *preset, lra_err *e);

/* Prepared data: read from OUT/data/TASK-HASH.h5 (checked against their fingerprint) or made and kept
 * there.  Nullable: data_dir (then generated). */
lra_dataset *lra_dataset_open(const lra_task *t, const lra_config *c, const char *out,
                              const char *data_dir, lra_err *e);
/* Prepared data below OUT/data with this fingerprint, imported or generated; NULL without a message when
 * there are none. */
lra_dataset *lra_dataset_find(const lra_task *t, const char *out, const char *fingerprint);
void lra_dataset_free(lra_dataset *d); /* Nullable: d */

/* Growing rows. */
void lra_sequences_add(lra_sequences *r, const uint16_t *token, int64_t n, int32_t label);
void lra_sequences_free(lra_sequences *r);
/* Share of the most frequent label, and that label. */
double lra_sequences_majority(const lra_sequences *r, int n_classes, int32_t *label);

#endif
