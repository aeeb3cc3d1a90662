/* Columns and notes of tables of measurements, derived from the declarations of the ids
 * (analysis/measurement_info.h). */
#ifndef LRA_REPORTS_VIEWS_MEASUREMENT_COLUMNS_H
#define LRA_REPORTS_VIEWS_MEASUREMENT_COLUMNS_H

#include <stdbool.h>

#include "reports/print/table.h"

/* Heads and keys of the columns of a table, from left to right. */
typedef struct {
    int n;
    char *head[LRA_TABLE_COLUMNS], *key[LRA_TABLE_COLUMNS];
} lra_columns;

/* Kinds of columns of a measurement: its value, its interval, its interquartile range over
 * channels, its value at initialisation, with uniform weights, and for permuted labels. */
typedef enum {
    LRA_COLUMN_VALUE,
    LRA_COLUMN_INTERVAL,
    LRA_COLUMN_IQR,
    LRA_COLUMN_INITIAL,
    LRA_COLUMN_UNIFORM,
    LRA_COLUMN_SHUFFLED,
    LRA_COLUMN_KINDS
} lra_column_kind;
/* Heads of the columns that follow a value: "95 %", "uniform", ..; the head of the value itself is
 * "". */
extern const char *const lra_column_heads[LRA_COLUMN_KINDS];

/* Adds a column. If head is "", only CSV and JSON output contain it. */
void lra_columns_add(lra_columns *c, const char *head, const char *key);
/* Adds a column of a measurement. Its key is the id with underscores: "dist_q95", or
 * "dist_q95_lo,dist_q95_hi" for an interval. prefix: of head and key, such as "kernels". shown:
 * false if only CSV and JSON output contain the column. Nullable: prefix */
void lra_columns_measurement(lra_columns *c, const char *prefix, const char *id,
                             lra_column_kind kind, bool shown);
/* Same as lra_columns_measurement(), with the key as in the files: "dist.q95",
 * "dist.q95.lo,dist.q95.hi". */
void lra_columns_measurement_dotted(lra_columns *c, const char *id, lra_column_kind kind,
                                    bool shown);
/* Creates an empty table with these columns, and frees the columns. */
lra_table *lra_columns_table(lra_columns *c, const char *title);

/* Adds notes that explain n ids: one note per declaration, then one per modifier, in the order of
 * the ids. A note begins with the pattern of the ids (by_id: true) or with the heads. */
void lra_note_measurements(lra_table *t, int n, const char *const *id, bool by_id);

#endif
