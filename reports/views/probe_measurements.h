/* Makes tables of the measurements of several probe results. */
#ifndef LRA_REPORTS_VIEWS_PROBE_MEASUREMENTS_H
#define LRA_REPORTS_VIEWS_PROBE_MEASUREMENTS_H

#include "reports/results/probe_result.h"
#include "reports/print/table.h"

/* Name of a run with a prefix of its hash: "resconv K = 13, xor, seed 0 (0123ab)". The caller frees
 * it. */
char *lra_probe_run_name(const lra_probe_result *r);
/* Adds a cell with the number x in the unit of f, with a suitable number of decimals. */
void lra_measurement_add_number(lra_table *t, const lra_measurement *f, double x);
/* Adds a cell with the value of f; for a censored value, the bound that it exceeds ("> 64"). */
void lra_measurement_add_value(lra_table *t, const lra_measurement *f);
void lra_measurement_add_interval(lra_table *t, const lra_measurement *f);
/* True if the id equals `wanted`, or if `wanted` ends with '*' and the id begins with the text
 * before it. */
bool lra_measurement_is(const char *id, const char *wanted);
/* Returns a table with one row for each measurement of each unit whose id is in `ids` (NULL after
 * the last; see lra_measurement_is()), up to the maximum size of a table. Columns: value, interval,
 * null values for uniform weights and at initialisation, number of examples and of seeds. Notes
 * explain them. */
lra_table *lra_probe_measurements_table(const char *title, lra_probe_result *const *list, int n,
                                        const char *const *ids);

#endif
