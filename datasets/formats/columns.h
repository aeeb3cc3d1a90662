/* A file of examples as named columns of equal length, read from csv, tsv, jsonl, npz or
 * safetensors.
 *   .csv .tsv          delimited.h: a line of names, then one line per example
 *   .jsonl .ndjson     json_lines.h: one object per line
 *   .npz .safetensors  array_columns.h: arrays whose first dimension is the example
 * Nothing here depends on tasks: which column is the label is the caller's choice. */
#ifndef LRA_DATASETS_FORMATS_COLUMNS_H
#define LRA_DATASETS_FORMATS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* TEXT: a string per example.  NUMBER: a number per example.  IDS: a sequence of integers per
 * example (token ids).  VALUES: a sequence of `width` real numbers per time step and example.
 * REFUSED: no column that can be used, for a `reason` that names the line or the element; the other
 * columns of the file can be.
 * IDS or VALUES follows the way in which the numbers are written: [1, 2] and integer arrays are
 * IDS, [1.0, 2.0] and arrays of floats are VALUES.  lra_columns_take() converts. */
typedef enum {
    LRA_COLUMN_TEXT,
    LRA_COLUMN_NUMBER,
    LRA_COLUMN_IDS,
    LRA_COLUMN_VALUES,
    LRA_COLUMN_REFUSED
} lra_column_kind;

typedef struct {
    char *name;
    lra_column_kind kind;
    int64_t *start;  /* (n+1) TEXT: bytes; IDS, VALUES: time steps; else NULL */
    char *text;      /* TEXT: UTF-8, validated; not terminated by zeros */
    double *number;  /* (n) NUMBER; NAN: missing */
    bool integral;   /* NUMBER: every present number is an integer */
    int64_t missing; /* number of examples without a value (NUMBER: NAN; others: empty) */
    int64_t *id;     /* IDS: (start[n]); negative ids are possible */
    float *value;    /* VALUES: (start[n], width); may be NAN (null in jsonl) or infinite */
    int width;       /* VALUES: numbers per time step, at least 1 */
    char *reason;    /* REFUSED: why; else NULL */
} lra_column;

typedef struct {
    int64_t n; /* examples, at least 1 */
    int n_columns;
    lra_column *column; /* in the order of the file */
    uint64_t hash;      /* xxh3-64 of all bytes of the file */
} lra_columns;

/* Reads the file; its format is that of the extension, checked against the first bytes (a zip named
 * .csv, a parquet file: one line that says what it is and what to do).  A csv or tsv column is
 * NUMBER if every non-empty field is a number, else TEXT; `as_text` (NULL after the last name,
 * nullable): columns that stay TEXT.  Messages name file, line (of the file, from 1) and column.
 * LRA_FAILED with a message. */
int lra_columns_read(const char *path, const char *const *as_text, lra_columns *out, lra_err *e);

/* Column of this name, of any kind but REFUSED.  NULL with a message that lists the columns of the
 * file and the nearest name, or says why the column is refused; `path` is used in messages. */
const lra_column *lra_columns_find(const lra_columns *c, const char *name, const char *path,
                                   lra_err *e);

/* The same as a column of one kind: a column of another kind is converted, in place, if it holds
 * the same information.
 *   IDS     VALUES of width 1 that are integers below 2^24; TEXT that lists integers: 1 2 3 or
 *           [1, 2, 3], as pandas writes lists to csv
 *   VALUES  IDS (integers above 2^24 are rounded to float32); TEXT that lists numbers
 *   NUMBER  no other kind
 *   TEXT    no other kind: numbers of a csv stay text with `as_text`
 * NULL with a message that names the example (from 1). */
const lra_column *lra_columns_take(lra_columns *c, const char *name, lra_column_kind kind,
                                   const char *path, lra_err *e);

void lra_columns_free(lra_columns *c); /* after a failure too; leaves it empty */

const char *lra_column_kind_text(lra_column_kind kind); /* "text", "lists of integers", ... */

#endif
