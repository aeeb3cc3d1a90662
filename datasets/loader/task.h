/* A task: a record that a file named after it fills, and one line in datasets.def. */
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

typedef struct lra_dataset lra_dataset; /* dataset.h */

/* Training target of a row. */
typedef enum {
    LRA_GOAL_CLASS, /* its label: accuracy */
    LRA_GOAL_PAIR,  /* the label of two documents: accuracy */
    LRA_GOAL_VALUE, /* real numbers: root mean squared error, R2 */
    LRA_GOAL_STEPS, /* real numbers at every token: R2 */
    LRA_GOAL_NEXT /* the token that follows; a split is one long row: bits per token, perplexity */
} lra_goal;

/* Which sequences of tokens are rows of a task. */
typedef enum {
    LRA_GRAMMAR_NONE,       /* all: a row remains one when some of its tokens are replaced */
    LRA_GRAMMAR_EXPRESSION, /* expressions of datasets/listops/tree.h */
    LRA_GRAMMAR_DRAWING     /* images of dashed paths of fixed lengths with two markers */
} lra_grammar;

/* A preset of a task, for any model. */
typedef struct {
    const char *rows;     /* changes of the task's parameters.  NULL: none */
    const char *training; /* settings of training: duration, batches, schedule */
    int seeds;            /* of a ladder; 0: no such preset */
} lra_budget;

/* A task.  Members that a record omits are 0 or NULL. */
typedef struct lra_task {
    const char *name, *summary;
    lra_goal goal;
    /* Metric for selection and reports (kernels/base/core/metric.h). NULL: the default of the goal:
     * accuracy, rmse, r2, bits-per-token. */
    const char *metric;
    int n_classes, n_targets;
    const lra_key *keys; /* its parameters; defaults are the paper's.  Nullable: none */
    lra_budget quick, small, paper;
    /* Checks parameters that a user changed: 0 or LRA_USAGE.  Nullable. */
    int (*validate)(const lra_config *c, lra_err *e);
    /* Predictions of the b-th baseline for every row of `of`, fitted on `train` if it has
     * parameters; returns its name, NULL after the last. */
    const char *(*baseline)(int b, const lra_sequences *train, const lra_sequences *of,
                            int32_t *predicted);

    /* Rows of a task: their length, generation and augmentation. */
    struct {
        /* Maximum length of a model input in tokens: of a document (pairs), of a window
         * (streams), else of a row. `steps`: every row has this length; 0: longest() returns the
         * maximum for the parameters. */
        int64_t steps;
        int64_t (*longest)(const lra_config *c);
        lra_grammar grammar;
        /* Changes the parameters so that make() returns n rows in total. Nullable: train, val, test
         * keep their proportions. */
        void (*resize)(lra_config *c, int64_t n);
        /* Fills the splits; rows are distinct across them and depend on the parameters alone.
         * Nullable: the task is only imported, and files.source names the origin. */
        int (*make)(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e);
        /* Another row with the same label and length, in place.  Nullable. */
        void (*augment)(const lra_dataset *d, lra_rng *rng, lra_row *row);
        /* augment() draws a new row, label or targets included; training does so in every epoch. */
        bool fresh;
        /* Correlation of adjacent tokens in the official training rows, in one channel; 0:
         * unknown or not measured. */
        double correlation;
    } data;

    /* Official files of a task: their origin, import, export and checks. */
    struct {
        const char *source; /* the official files and their publisher. Nullable: generated */
        /* Python that makes them from the Parquet files of the data set's usual copy, in double
         * quotes. Nullable. */
        const char *from_parquet;
        /* Published rows (of a stream: tokens) of the files, by part; 0: no such part. */
        int64_t published[LRA_N_SPLITS];
        /* Imports the splits from the official files in a folder; LRA_ABSENT: the files are
         * missing. Nullable: the task is only generated. */
        int (*import)(const lra_config *c, const char *folder, lra_dataset *d, lra_err *e);
        /* Adds hashes of the bytes of the imported files. */
        int (*import_hash)(const lra_config *c, const char *folder, lra_digest *to, lra_err *e);
        /* The parameters that select the imported files ("level size").  Nullable: none. */
        const char *import_keys;
        /* A revision word, changed when this program prepares other rows from the same files and
         * parameters than an earlier version did, so that old prepared data are not reused;
         * NULL: never changed. Nullable. */
        const char *(*revision)(const lra_config *c);
        /* Writes the splits as official files into a folder, which exists.  Nullable. */
        int (*write)(const char *folder, const lra_sequences split[LRA_N_SPLITS], lra_err *e);
        /* The same for tasks whose files hold more than rows and labels: makes and writes the
         * missing rows of the parameters (again: all of them). Nullable. */
        int (*make_files)(const lra_config *c, const char *folder, bool again, lra_err *e);
        /* Appends the rows of one official file, every label recomputed.  Nullable. */
        int (*check)(const char *path, lra_sequences *out, lra_err *e);
        /* The file names of write(), for check() of a folder.  Nullable. */
        const char *const *names; /* (LRA_N_SPLITS) */
        /* Checks properties of the official files in a folder beyond single rows, and reports the
         * facts; fails if labels do not fit. Nullable. */
        int (*inspect)(const lra_config *c, const char *folder, lra_facts *found, lra_err *e);
    } files;

    /* Presentation of rows to models: vocabulary, or the real numbers of a step. */
    struct {
        /* ids or levels below this; 0: rows hold values. More than 65,536: a token is stored as
         * two 16-bit words (low, high) */
        int vocab;
        /* ids below first_word are special, and so is mask (0: there is none). */
        int first_word, mask;
        bool image; /* rows are square images, row by row */
        /* Model input at each token: 0: an embedding; else this many real numbers, by default
         * level_scale x + level_shift of each number of the row. */
        int channels;
        double level_scale, level_shift;
        /* Masked tokens are predicted as one of `vocab` levels; else as numbers. */
        bool ask_levels;
        /* Another scale and shift, fitted on the training split.  Nullable. */
        void (*levels)(const lra_dataset *d, float *scale, float *shift);
        /* Writes the model inputs (n, channels) of a row that are not scaled levels. Nullable. */
        void (*values)(const lra_dataset *d, const lra_row *row, float *out);
        /* Position features (n, n_positions) of a row of n tokens: computed once, for values().
         * Nullable. */
        void (*positions)(int64_t n, float *out);
        int n_positions;
        /* The parameters that change only the presentation of rows to models, not the rows:
         * prepared data are shared by all their values, and dataset->config has them together
         * with those that determine the rows. Nullable: none. */
        const char *keys;
    } input;

    /* Names of labels, tokens and groups of rows, and the printed form of a row. */
    struct {
        const char *const *label_names; /* (n_classes).  Nullable */
        const char *const *token_names; /* (input.vocab).  Nullable */
        /* Groups of rows for tables (ListOps: the operator at the root). Nullable: a single
         * group. */
        int n_groups;
        const char *const *group_names; /* (n_groups) */
        int (*group)(const uint16_t *token, int64_t n);
        /* Marks the tokens of a row that the label depends on (n; false at first): ends of the
         * path, words that are not fillers. Nullable. */
        void (*marks)(const lra_row *row, bool *marked);
        /* Prints a row in readable form.  Nullable. */
        void (*show)(const lra_row *row, FILE *out);
    } text;
} lra_task;

const lra_metric *lra_task_metric(const lra_task *t);
/* Budget of a task at "quick", "small" or "paper"; NULL: none. */
const lra_budget *lra_task_budget(const lra_task *t, const char *preset);
/* The task's parameters at a preset; NULL with a message if the task has no such preset. "paper"
 * always exists. */
lra_config *lra_task_config(const lra_task *t, const char *preset, lra_err *e);

/* Maximum input length in tokens for data of these parameters. */
int64_t lra_task_longest(const lra_task *t, const lra_config *c);
/* longest() of tasks with a parameter for it. */
int64_t lra_longest_length(const lra_config *c);  /* "length" */
int64_t lra_longest_context(const lra_config *c); /* "context" */
/* Is the key one of these words ("level size")?  Nullable: words. */
bool lra_task_has_key(const char *words, const char *key);

/* Rows of key tables that tasks share. */
#define LRA_DATA_SEED_KEY                                                                          \
    LRA_INT_KEY("data-seed", "0", 0, 1e9, "seed of everything that is drawn at random")
#define LRA_ROWS_KEY(what) LRA_INT_KEY("rows", "0", 0, 1e9, what)
#define LRA_COUNT_KEYS(train, val, test, most)                                                     \
    LRA_INT_KEY("train", train, 1, most, "number of training rows"),                               \
        LRA_INT_KEY("val", val, 1, most, "number of validation rows"),                             \
        LRA_INT_KEY("test", test, 1, most, "number of test rows")

#endif
