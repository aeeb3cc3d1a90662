/* The examples of the user's files, before they are divided into splits and encoded as rows. */
#ifndef LRA_DATASETS_OWN_EXAMPLES_H
#define LRA_DATASETS_OWN_EXAMPLES_H

#include "datasets/formats/columns.h"
#include "datasets/own/own.h"

/* One file. It contains the examples of all splits, or of one split. */
typedef struct {
    char *path;
    int split; /* split of the examples; -1: all splits */
    lra_data_columns columns;
    /* input, label: the chosen columns; marks: column with the split of each example; lengths:
     * column with the length of each example. NULL: there is no such column */
    const lra_data_column *input, *label, *marks, *lengths;
    int64_t first; /* index of its first example among the examples of all files */
} lra_own_file;

typedef struct {
    lra_own own;
    char *folder_format; /* extension of the files of a folder, for messages; NULL: a single file */
    int n_files;
    lra_own_file file[LRA_N_SPLITS];
    int64_t n;      /* number of examples of all files */
    int32_t *label; /* (n) classes; NULL: the labels are not classes */
    float *target;  /* (n) labels that are real numbers; NULL: the labels are not numbers */
    uint64_t *hash; /* (n) hash of each encoded input */
    int8_t *split;  /* (n) split of each example */
    /* true: all splits, or only the validation split, follow from the hash */
    bool made_all, made_val;
    bool by_rank;   /* few distinct inputs: splits follow the rank of the hash, not its value */
    int64_t length; /* value of the key `length` */
    /* The row that lra_own_encode() has encoded; capacity: time steps that its arrays can hold. */
    lra_row row;
    int64_t capacity;
} lra_own_examples;

/* Finds the files: the path itself, or in a folder train.EXT, test.EXT and (optional) val.EXT; also
 * training, testing, and valid, validation or dev. All have one format; auto: the first of csv,
 * tsv, jsonl, ndjson, npz, safetensors for which both train and test exist. Sets path and split of
 * each file. */
int lra_own_files_find(const char *path, const char *format, lra_own_examples *x, lra_err *e);
/* Computes the xxh3-64 hash of the bytes and the splits of all files. File names have no effect. */
int lra_own_files_hash(const lra_own_examples *x, uint64_t *hash, lra_err *e);
/* Reads the files and chooses the columns named by the keys text, tokens, values, label and
 * split. */
int lra_own_files_read(lra_own_examples *x, const lra_config *c, lra_err *e);
/* Converts the labels to classes or numbers: sets own.target, own.n_classes, own.class_name, and
 * x->label or x->target. goal: value of the key `goal`. */
int lra_own_labels(lra_own_examples *x, const char *goal, lra_err *e);
/* Encodes the input of example i of a file in x->row; fails if it is not a valid input. */
int lra_own_encode(lra_own_examples *x, const lra_own_file *f, int64_t i, lra_err *e);
/* Encodes all inputs once: sets vocabulary, width, x->hash, and the counts of empty, truncated and
 * repeated inputs. vocab: value of the key `vocab`; 0: largest token id + 1. */
int lra_own_scan(lra_own_examples *x, int64_t vocab, lra_err *e);
/* Sets x->split from the files or the column of splits. Splits that these do not define follow from
 * the hash of the input, so that equal inputs are in one split. */
int lra_own_divide(lra_own_examples *x, lra_err *e);
/* Fails with "'reviews.csv', example 12: ..." (counted from 1). */
int lra_own_fail(const lra_own_file *f, int64_t i, lra_err *e, const char *fmt, ...)
    LRA_PRINTF(4, 5);
void lra_own_examples_free(lra_own_examples *x);

#endif
