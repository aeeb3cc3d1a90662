/* A task: a record in a file with the task's name, and one line in datasets.def. */
#ifndef LRA_DATASETS_LOADER_TASK_H
#define LRA_DATASETS_LOADER_TASK_H

#include <stdio.h>

#include "datasets/loader/digest.h"
#include "datasets/loader/facts.h"
#include "datasets/loader/rows.h"
#include "kernels/base/core/config.h"
#include "kernels/base/core/key.h"
#include "kernels/base/core/metric.h"
#include "kernels/base/core/philox.h"

typedef struct lra_dataset lra_dataset; /* defined in dataset.h */

/* Kind of target that a model of the task predicts, and its metrics. */
typedef enum {
    LRA_GOAL_CLASS,  /* a class label per row: accuracy */
    LRA_GOAL_PAIR,   /* a class label per pair of documents: accuracy */
    LRA_GOAL_VALUE,  /* real numbers per row: root mean squared error, R2 */
    LRA_GOAL_TOKENS, /* real numbers at every token: R2 */
    LRA_GOAL_NEXT    /* the next token; a split is one long row: bits per token, perplexity */
} lra_goal;

/* Grammar: which token sequences are valid rows of a task. */
typedef enum {
    /* all sequences: a row stays valid if some of its tokens are replaced */
    LRA_GRAMMAR_NONE,
    LRA_GRAMMAR_EXPRESSION, /* ListOps expressions (datasets/listops/tree.h) */
    LRA_GRAMMAR_DRAWING     /* images with two markers and dashed paths of fixed lengths */
} lra_grammar;

/* Budget of a task at a preset, for any model. */
typedef struct {
    const char *rows;     /* changes to the task's parameters. NULL: none */
    const char *training; /* settings of training: duration, batches, schedule */
    int seeds;            /* number of seeds of a ladder; 0: no such preset */
} lra_budget;

/* A task. Members that a record omits are 0 or NULL. */
typedef struct lra_task {
    const char *name, *summary;
    /* For tasks whose goal, classes and vocabulary follow from the data: makes an instance of the
     * task from d->properties and sets d->task to it. Nullable: the record is complete. */
    int (*resolve)(lra_dataset *d, lra_err *e);
    /* Instances: the record of the task, whose name is part of the identity of runs and of file
     * names; the name of the instance is only printed ("file:reviews"). NULL: this is a record. */
    const struct lra_task *record;
    lra_goal goal;
    /* Name of the metric for selection and reports (kernels/base/core/metric.h). NULL: the default
     * of the goal: accuracy, rmse, r2 or bits-per-token. */
    const char *metric;
    int n_classes, n_targets;
    /* The rows have no labels (goal LRA_GOAL_CLASS): label is 0 in every row, and n_classes is 0,
     * or the number of outputs of a model that is measured on these rows. */
    bool unlabelled;
    /* parameters of the task; their defaults are those of the paper. Nullable: none */
    const lra_key *keys;
    lra_budget quick, small, paper;
    /* Checks parameters that a user set; returns 0 or LRA_USAGE. Nullable. */
    int (*validate)(const lra_config *c, lra_err *e);
    /* Predicts a label for every row of `of` by baseline number b, which is fitted on `train` if it
     * has parameters. Returns the baseline's name, NULL after the last. */
    const char *(*baseline)(int b, const lra_sequences *train, const lra_sequences *of,
                            int32_t *predicted);

    /* Rows of a task: their length, generation and augmentation. */
    struct {
        /* Maximum length of a model input in tokens: of a document (pairs), of a window (streams),
         * else of a row. steps > 0: every row has exactly this length. steps = 0: longest() returns
         * the maximum for the parameters. */
        int64_t steps;
        int64_t (*longest)(const lra_config *c);
        lra_grammar grammar;
        /* Changes the parameters so that make() returns n rows in total. Nullable: the parameters
         * train, val and test are scaled in proportion. */
        void (*resize)(lra_config *c, int64_t n);
        /* Generates the rows of all splits. Rows are distinct across splits and depend on the
         * parameters alone. Nullable: the task is only imported, and files.source names the
         * origin. */
        int (*make)(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e);
        /* Replaces the row by another row with the same label and length, in place. Nullable. */
        void (*augment)(const lra_dataset *d, lra_rng *rng, lra_row *row);
        /* augment() draws a completely new row, including label or targets; training always calls
         * it. */
        bool fresh;
        /* Pearson correlation between the values of adjacent tokens of a row (all channels
         * together), measured on published training rows; 0: not measured. A command warns if
         * imported rows have much less. */
        double correlation;
    } data;

    /* Official files of a task: their origin, import, export and checks. */
    struct {
        /* name and publisher of the official files. Nullable: the task is only generated */
        const char *source;
        /* Python program that writes the official files from Parquet files, the usual form in which
         * the data set is distributed. It contains no double quotes. Nullable. */
        const char *from_parquet;
        /* Published number of rows (of a stream: tokens) in the files of each split; 0: no such
         * file. */
        int64_t published[LRA_N_SPLITS];
        /* Imports the splits from the official files in a folder. LRA_ABSENT: the files are
         * missing. Nullable: the task is only generated. */
        int (*import)(const lra_config *c, const char *folder, lra_dataset *d, lra_err *e);
        /* Adds the bytes of the imported files to a digest. */
        int (*import_hash)(const lra_config *c, const char *folder, lra_digest *to, lra_err *e);
        /* Parameters that select the imported files ("level size"). Nullable: none. */
        const char *import_keys;
        /* Returns a word that is part of the name of prepared data. It changes when a new version
         * of this program prepares other rows from the same files and parameters, so that old
         * prepared data are not reused. NULL: never changed. Nullable. */
        const char *(*revision)(const lra_config *c);
        /* Writes the splits as official files into an existing folder. Nullable. */
        int (*write)(const char *folder, const lra_sequences split[LRA_N_SPLITS], lra_err *e);
        /* Replaces write() for tasks whose files contain more than rows and labels: generates and
         * writes the rows of the parameters that the folder lacks (again: all rows). Nullable. */
        int (*make_files)(const lra_config *c, const char *folder, bool again, lra_err *e);
        /* Appends the rows of one official file and recomputes every label to check it.
         * Nullable. */
        int (*check)(const char *path, lra_sequences *out, lra_err *e);
        /* Names of the files that write() writes. A command that writes them refuses a folder that
         * already contains one of them. Nullable. */
        const char *const *names; /* (LRA_N_SPLITS) file names */
        /* Checks properties of the official files in a folder beyond single rows, and reports
         * facts; fails if labels contradict the rows. Nullable. */
        int (*inspect)(const lra_config *c, const char *folder, lra_facts *found, lra_err *e);
    } files;

    /* Inputs of models: vocabulary, or the real numbers at each token. */
    struct {
        /* Number of ids or levels; 0: rows hold real numbers. Above 65,536 a token is stored as two
         * 16-bit words (low, high). */
        int vocab;
        /* Ids below first_word are special, and so is mask (0: the task has no mask id). */
        int first_word, mask;
        bool image; /* rows are square images, row by row */
        /* Model input at each token. 0: the embedding of an id. Otherwise the number of real
         * inputs; by default level_scale x + level_shift for each number x of the row. */
        int channels;
        double level_scale, level_shift;
        /* Masked tokens are predicted as one of `vocab` levels; otherwise as real numbers. */
        bool predicts_levels;
        /* Computes another scale and shift, fitted on the training split. Nullable. */
        void (*levels)(const lra_dataset *d, float *scale, float *shift);
        /* Writes the model inputs (n, channels) of a row, if they are not scaled levels.
         * Nullable. */
        void (*values)(const lra_dataset *d, const lra_row *row, float *out);
        /* Writes the position features (n, n_positions) of a row of n tokens, which values() uses;
         * computed once. Nullable. */
        void (*positions)(int64_t n, float *out);
        int n_positions;
        /* Names of the parameters that change only the inputs of models, not the rows. Data sets
         * that differ only in these share their prepared data; dataset->config contains them, too.
         * Nullable: none. */
        const char *keys;
    } input;

    /* Names of labels, tokens and groups of rows, and the printed form of a row. */
    struct {
        const char *const *label_names; /* (n_classes) names of labels. Nullable */
        const char *const *token_names; /* (input.vocab) names of tokens. Nullable */
        /* Groups of rows in tables (ListOps: the operator at the root). Nullable: a single
         * group. */
        int n_groups;
        const char *const *group_names; /* (n_groups) names of groups */
        int (*group)(const uint16_t *token, int64_t n);
        /* Marks the tokens of a row on which the label depends: ends of the path, words that are
         * not fillers. marked: (n) all false on entry. Nullable. */
        void (*marks)(const lra_row *row, bool *marked);
        /* Prints a row in readable form.  Nullable. */
        void (*show)(const lra_row *row, FILE *out);
    } text;
} lra_task;

/* lra_task_record(): the record of an instance, or t itself. lra_task_id(): the name of the
 * record. */
const lra_task *lra_task_record(const lra_task *t);
const char *lra_task_id(const lra_task *t);
const lra_metric *lra_task_metric(const lra_task *t);
/* Returns the budget of a task at "quick", "small" or "paper"; NULL: the task has no such
 * preset. */
const lra_budget *lra_task_budget(const lra_task *t, const char *preset);
/* Returns the task's parameters at a preset; NULL and a message if the task has no such preset.
 * "paper" always exists. */
lra_config *lra_task_config(const lra_task *t, const char *preset, lra_err *e);

/* Returns the maximum length of a model input in tokens for data of these parameters. */
int64_t lra_task_longest(const lra_task *t, const lra_config *c);
/* Functions for data.longest of tasks whose maximum length is one of their parameters. */
int64_t lra_longest_length(const lra_config *c);  /* returns the parameter "length" */
int64_t lra_longest_context(const lra_config *c); /* returns the parameter "context" */
/* Returns true if the key is one of the words, which are separated by blanks ("level size").
 * Nullable: words. */
bool lra_task_has_key(const char *words, const char *key);

/* Keys that several tasks have. */
#define LRA_DATA_SEED_KEY                                                                          \
    LRA_INT_KEY("data-seed", "0", 0, 1e9, "seed of the random numbers that generate the rows")
#define LRA_ROWS_KEY(what) LRA_INT_KEY("rows", "0", 0, 1e9, what)
#define LRA_COUNT_KEYS(train, val, test, most)                                                     \
    LRA_INT_KEY("train", train, 1, most, "number of training rows"),                               \
        LRA_INT_KEY("val", val, 1, most, "number of validation rows"),                             \
        LRA_INT_KEY("test", test, 1, most, "number of test rows")

#endif
