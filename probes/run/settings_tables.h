/* Tables of settings in the papers, printed from the presets of this program: one column per task,
 * one row per setting. */
#ifndef LRA_PROBES_RUN_SETTINGS_TABLES_H
#define LRA_PROBES_RUN_SETTINGS_TABLES_H

#include "reports/print/table.h"

/* Name of table number i ("loc-T5"), and its title; NULL after the last. */
const char *lra_settings_table_at(int i, const char **title);
/* Creates the table with this name; the caller frees it. NULL: there is no such table, or a preset
 * is not valid. */
lra_table *lra_settings_table(const char *name, lra_err *e);

#endif
