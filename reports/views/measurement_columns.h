/* Columns and notes of tables of measurements, from the declarations of the ids
 * (analysis/measurement_info.h). */
#ifndef LRA_REPORTS_VIEWS_MEASUREMENT_COLUMNS_H
#define LRA_REPORTS_VIEWS_MEASUREMENT_COLUMNS_H

#include <stdbool.h>

#include "reports/print/table.h"

/* Heads and keys of a table, from the left. */
typedef struct {
    int n;
    char *head[LRA_TABLE_COLUMNS], *key[LRA_TABLE_COLUMNS];
} lra_columns;

/* A column of a measurement: its value, interval, interquartile range over channels, value at
 * initialisation, value of uniform weights, value for permuted labels. */
typedef enum {
    LRA_COLUMN_VALUE,
    LRA_COLUMN_INTERVAL,
    LRA_COLUMN_IQR,
    LRA_COLUMN_INITIAL,
    LRA_COLUMN_UNIFORM,
    LRA_COLUMN_SHUFFLED,
    LRA_COLUMN_KINDS
} lra_column_kind;
/* Heads of the columns that follow a value: "95 %", "uniform"; "" of the value itself. */
extern const char *const lra_column_heads[LRA_COLUMN_KINDS];

/* Adds a column.  head "": CSV and JSON only. */
void lra_columns_add(lra_columns *c, const char *head, const char *key);
/* Adds a column of a measurement; its key is the id with underscores, "dist_q95",
 * "dist_q95_lo,dist_q95_hi".  Nullable: prefix of head and key, such as "kernels".  shown: false if
 * in CSV and JSON only. */
void lra_columns_measurement(lra_columns *c, const char *prefix, const char *id,
                             lra_column_kind kind, bool shown);
/* Same, with a key as in the files, "dist.q95", "dist.q95.lo,dist.q95.hi". */
void lra_columns_measurement_dotted(lra_columns *c, const char *id, lra_column_kind kind,
                                    bool shown);
/* Makes the empty table and frees the columns. */
lra_table *lra_columns_table(lra_columns *c, const char *title);

/* Adds notes that explain n ids: one for each declaration, then one for each modifier, in the order
 * of the ids.  A note begins with the pattern of the ids (by_id) or of the heads. */
void lra_note_measurements(lra_table *t, int n, const char *const *id, bool by_id);

#endif
