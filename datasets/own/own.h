/* A user's own data as a task. The record of any other task contains its goal, classes, vocabulary
 * and names. Here these are properties of the data (lra_own), stored with the prepared data as the
 * text lra_dataset.properties. From this text lra_own_resolve() makes an instance of the task, a
 * copy of the record with these properties, and sets lra_dataset.task to it. Probes of a finished
 * run therefore do not need the user's file. */
#ifndef LRA_DATASETS_OWN_OWN_H
#define LRA_DATASETS_OWN_OWN_H

#include "datasets/loader/dataset.h"

enum {
    LRA_OWN_CLASSES = 10000,  /* maximum number of classes */
    LRA_OWN_WIDTH = 64,       /* maximum number of values per time step */
    LRA_OWN_VOCAB = 1 << 24,  /* maximum vocabulary */
    LRA_OWN_LENGTH = 1 << 20, /* maximum value of the key `length` */
    LRA_OWN_NAME = 58         /* maximum length in bytes of the name after "file:" */
};

typedef enum { LRA_OWN_TEXT, LRA_OWN_TOKENS, LRA_OWN_VALUES, LRA_OWN_INPUTS } lra_own_input;
typedef enum { LRA_OWN_UNLABELLED, LRA_OWN_CLASS, LRA_OWN_NUMBER, LRA_OWN_TARGETS } lra_own_target;

/* Properties of the data. The texts belong to the structure. */
typedef struct {
    lra_own_input input;
    lra_own_target target;
    int vocab;         /* text: LRA_BYTES_VOCAB; tokens: token ids are below this; values: 0 */
    int width;         /* values: numbers per time step; other inputs: 1 */
    int n_classes;     /* number of classes; 0: the labels are not classes */
    char **class_name; /* (n_classes) in the order of the labels. NULL: the names are 0, 1, .. */
    /* names of the columns that were read; NULL: there is no such column */
    char *input_column, *label_column, *split_column;
    int64_t n_train;
    /* Counts of the import, for messages. n_examples: examples in the files; n_empty: texts without
     * a byte; n_truncated: inputs truncated to the key `length`; n_left_out: examples excluded by
     * the key `rows`; n_repeated: examples with the same input as an earlier one; n_contradicted:
     * examples whose input also occurs with another label. */
    int64_t n_examples, n_empty, n_truncated, n_left_out, n_repeated, n_contradicted;
} lra_own;

void lra_own_free(lra_own *own);
/* Returns the properties as "key=value" lines: first those that determine the meaning of the rows,
 * then those for messages, whose keys begin with "note.". The caller frees the text. */
char *lra_own_text(const lra_own *own);
/* Parses a text of lra_own_text(), which may come from a file of the user. */
int lra_own_parse(const char *text, lra_own *own, lra_err *e);
/* Returns the number of bytes of the text before the first key "note."; only these are part of the
 * fingerprint. */
size_t lra_own_identity(const char *text);

/* Implements lra_task.resolve for own data. */
int lra_own_resolve(lra_dataset *d, lra_err *e);
/* Sets the number of outputs of a model that is measured on rows without labels: n_classes of the
 * task, which has lra_task.unlabelled. */
void lra_own_set_outputs(lra_dataset *d, int64_t outputs);
/* Returns the name of the task with data from this file or folder: "file:reviews". The caller frees
 * it. */
char *lra_own_name(const char *path);

/* Implements lra_task.baseline for classes: "constant"; "length", the most frequent label of the
 * training rows with about the same length; "bag", naive Bayes on token counts (not for values). */
const char *lra_own_baseline(int b, const lra_sequences *train, const lra_sequences *of,
                             int32_t *predicted);

/* Appends a hint to the message of a failed import of another task if the path looks like own data;
 * returns the code. */
int lra_own_explain(const lra_task *t, const char *path, int code, lra_err *e);

/* Decodes a column name that is stored as the value of a key, where blanks, '%' and control
 * characters are %XX. The caller frees it. */
char *lra_own_decode(const char *value);

#endif
