/* A user's own data as a task. Other tasks state their goal, classes, vocabulary and names in their
 * record; here they are properties of the data (lra_own). They are stored with prepared data as the
 * text lra_dataset.properties, from which lra_own_resolve() makes the instance of the task that
 * lra_dataset.task points to, so that probes of a finished run do not need the user's file. */
#ifndef LRA_DATASETS_OWN_OWN_H
#define LRA_DATASETS_OWN_OWN_H

#include "datasets/loader/dataset.h"

enum {
    LRA_OWN_CLASSES = 10000,  /* maximum number of classes */
    LRA_OWN_WIDTH = 64,       /* maximum number of values per step */
    LRA_OWN_VOCAB = 1 << 24,  /* maximum vocabulary */
    LRA_OWN_LENGTH = 1 << 20, /* maximum of the key `length` */
    LRA_OWN_NAME = 58         /* maximum bytes of the name after "file:" */
};

typedef enum { LRA_OWN_TEXT, LRA_OWN_TOKENS, LRA_OWN_VALUES, LRA_OWN_INPUTS } lra_own_input;
typedef enum { LRA_OWN_UNLABELLED, LRA_OWN_CLASS, LRA_OWN_NUMBER, LRA_OWN_TARGETS } lra_own_target;

/* Properties of the data. The texts belong to the structure. */
typedef struct {
    lra_own_input input;
    lra_own_target target;
    int vocab;         /* text: LRA_BYTES_VOCAB; tokens: ids below this; values: 0 */
    int width;         /* values: numbers per step; others: 1 */
    int n_classes;     /* 0: no classes */
    char **class_name; /* (n_classes) in the order of the labels. NULL: the names are 0, 1, .. */
    char *input_column, *label_column, *split_column; /* NULL: none */
    int64_t n_train;
    /* Counts of the import, for messages: examples in the files, texts without a byte, inputs cut
     * to the key `length`, examples left out by the key `rows`; examples whose input occurs in an
     * earlier example, and whose input occurs with several labels. */
    int64_t n_examples, n_empty, n_truncated, n_left_out, n_repeated, n_contradicted;
} lra_own;

void lra_own_free(lra_own *own);
/* "key=value" lines: properties that determine the meaning of the rows, then those that begin with
 * "note."; caller frees. */
char *lra_own_text(const lra_own *own);
/* The reverse, for texts from files. LRA_FAILED with a message. */
int lra_own_parse(const char *text, lra_own *own, lra_err *e);
/* Number of bytes of the text that are part of the fingerprint: those before the notes. */
size_t lra_own_identity(const char *text);

/* lra_task.resolve of own data. */
int lra_own_resolve(lra_dataset *d, lra_err *e);
/* The name of a task with own data of the file or folder: "file:reviews"; caller frees. */
char *lra_own_name(const char *path);

/* lra_task.baseline of classes: "constant", "length" (the most frequent label among training rows
 * of about the same length), "bag" (naive Bayes of tokens; not of values). */
const char *lra_own_baseline(int b, const lra_sequences *train, const lra_sequences *of,
                             int32_t *predicted);

/* Appends a hint to the message of a failed import of another task if the path looks like own data;
 * returns the code. */
int lra_own_explain(const lra_task *t, const char *path, int code, lra_err *e);

/* Column names in keys: blanks, '%' and control characters as %XX; caller frees. */
char *lra_own_decode(const char *value);

#endif
