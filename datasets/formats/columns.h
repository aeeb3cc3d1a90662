/* A file of examples as named columns of equal length, read from csv, tsv, jsonl, npz or
 * safetensors.
 *   .csv .tsv          delimited.h: a line of names, then one line per example
 *   .jsonl .ndjson     json_lines.h: one object per line
 *   .npz .safetensors  array_columns.h: arrays whose first dimension is the example
 * Columns do not depend on tasks: the caller chooses which column is the label. */
#ifndef LRA_DATASETS_FORMATS_COLUMNS_H
#define LRA_DATASETS_FORMATS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* Kinds of columns. TEXT: one string per example. NUMBER: one number per example. IDS: a sequence
 * of integers (token ids) per example. VALUES: a sequence of time steps per example, each of
 * `width` real numbers. REFUSED: a column that cannot be used; `reason` names the line or the
 * element. The other columns of the file can be used.
 * IDS or VALUES is decided by how the numbers are written: [1, 2] and integer arrays are IDS, [1.0,
 * 2.0] and arrays of floats are VALUES. lra_data_columns_take() converts columns. */
typedef enum {
    LRA_DATA_COLUMN_TEXT,
    LRA_DATA_COLUMN_NUMBER,
    LRA_DATA_COLUMN_IDS,
    LRA_DATA_COLUMN_VALUES,
    LRA_DATA_COLUMN_REFUSED
} lra_data_column_kind;

typedef struct {
    char *name;
    lra_data_column_kind kind;
    /* (n+1) offset of each example: TEXT in bytes; IDS and VALUES in time steps; else NULL */
    int64_t *start;
    char *text;      /* TEXT: valid UTF-8 of all examples, without terminating zeros */
    double *number;  /* NUMBER: (n); NAN: missing */
    bool integral;   /* NUMBER: all numbers that are not missing are integers */
    int64_t missing; /* number of examples without a value (NUMBER: NAN; other kinds: empty) */
    int64_t *id;     /* IDS: (start[n]) integers, which may be negative */
    /* VALUES: (start[n], width) numbers, which may be NAN (null in jsonl) or infinite */
    float *value;
    int width;    /* VALUES: numbers per time step, at least 1 */
    char *reason; /* REFUSED: the reason; else NULL */
} lra_data_column;

typedef struct {
    int64_t n; /* number of examples, at least 1 */
    int n_columns;
    lra_data_column *column; /* (n_columns) in the order of the file */
    uint64_t hash;           /* xxh3-64 of all bytes of the file */
} lra_data_columns;

/* Reads a file, whose format follows from its extension and is checked by its first bytes (for a
 * zip named .csv or a parquet file, the message states what it is and what to do). A csv or tsv
 * column is NUMBER if every non-empty field is a number, else TEXT. as_text: names of columns that
 * stay TEXT, terminated by NULL. Messages state the file, its line (from 1) and the column. Returns
 * 0, or LRA_FAILED and a message. Nullable: as_text. */
int lra_data_columns_read(const char *path, const char *const *as_text, lra_data_columns *out,
                          lra_err *e);

/* Returns the column with this name. Returns NULL and a message if there is none (the message lists
 * the columns and the most similar name) or if it is REFUSED (the message states the reason). path:
 * for messages. */
const lra_data_column *lra_data_columns_find(const lra_data_columns *c, const char *name,
                                             const char *path, lra_err *e);

/* Returns the column with this name as a column of the wanted kind. A column of another kind is
 * converted in place, if it contains the same information:
 *   IDS     from VALUES of width 1 that are integers below 2^24, and from TEXT that lists integers:
 *           1 2 3 or [1, 2, 3], as pandas writes lists to csv
 *   VALUES  from IDS (integers above 2^24 are rounded to float32), and from TEXT that lists numbers
 *   NUMBER  from no other kind
 *   TEXT    from no other kind; `as_text` keeps the numbers of a csv as text
 * Returns NULL and a message that states the example (from 1). */
const lra_data_column *lra_data_columns_take(lra_data_columns *c, const char *name,
                                             lra_data_column_kind kind, const char *path,
                                             lra_err *e);

void lra_data_columns_free(lra_data_columns *c); /* valid also after a failure; empties *c */

/* name for messages: "text", "a list of integers", ... */
const char *lra_data_column_kind_text(lra_data_column_kind kind);

#endif
