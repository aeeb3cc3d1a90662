/* The examples of the user's files before they are rows of splits. */
#ifndef LRA_DATASETS_OWN_EXAMPLES_H
#define LRA_DATASETS_OWN_EXAMPLES_H

#include "datasets/formats/columns.h"
#include "datasets/own/own.h"

/* One file: all splits, or one of them. */
typedef struct {
    char *path;
    int split; /* LRA_TRAIN_SPLIT ..; -1: all */
    lra_columns columns;
    const lra_column *input, *label, *marks, *lengths; /* marks: the column of splits. NULL: none */
    int64_t first; /* number of its first example, counted over all files */
} lra_own_file;

typedef struct {
    lra_own own;
    char *folder_format; /* of a folder: the files that are read, for messages. NULL: one file */
    int n_files;
    lra_own_file file[LRA_N_SPLITS];
    int64_t n;               /* examples of all files */
    int32_t *label;          /* (n); NULL: no classes */
    float *target;           /* (n); NULL: no numbers */
    uint64_t *hash;          /* (n) of the row that the model gets */
    int8_t *split;           /* (n) */
    bool made_all, made_val; /* splits that the files lack, made from the hash */
    bool by_rank;            /* few distinct inputs: by their order instead of by thresholds */
    int64_t length;          /* key `length` */
    /* One encoded row. */
    lra_row row;
    int64_t capacity;
} lra_own_examples;

/* Finds the files of a path: itself, or of a folder train.EXT, test.EXT and val.EXT (also training;
 * valid, validation, dev; testing), of one format (auto: the first of csv, tsv, jsonl, ndjson, npz,
 * safetensors that has both train and test). Sets path and split of each. */
int lra_own_files_find(const char *path, const char *format, lra_own_examples *x, lra_err *e);
/* xxh3-64 of the bytes of the files and of their splits, independent of names. */
int lra_own_files_hash(const lra_own_examples *x, uint64_t *hash, lra_err *e);
/* Reads the files and chooses the columns named by the keys text, tokens, values, label and
 * split. */
int lra_own_files_read(lra_own_examples *x, const lra_config *c, lra_err *e);
/* Labels as classes or numbers: own.target, n_classes, class_name; x->label or x->target. goal:
 * key `goal`. */
int lra_own_labels(lra_own_examples *x, const char *goal, lra_err *e);
/* Encodes example i of a file as x->row. LRA_FAILED if it cannot be a row. */
int lra_own_encode(lra_own_examples *x, const lra_own_file *f, int64_t i, lra_err *e);
/* Properties of the inputs, x->hash, and the counts of empty and truncated inputs. vocab: key
 * `vocab`, 0: largest id + 1. */
int lra_own_scan(lra_own_examples *x, int64_t vocab, lra_err *e);
/* x->split: by file or column; missing ones from the hash. Equal inputs are never divided by it. */
int lra_own_divide(lra_own_examples *x, lra_err *e);
/* Fails with "'reviews.csv', example 12: ..." (counted from 1). */
int lra_own_fail(const lra_own_file *f, int64_t i, lra_err *e, const char *fmt, ...)
    LRA_PRINTF(4, 5);
void lra_own_examples_free(lra_own_examples *x);

#endif
