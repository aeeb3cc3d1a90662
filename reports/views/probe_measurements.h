/* What probes found, as a table that all of them share. */
#ifndef LRA_REPORTS_VIEWS_PROBE_MEASUREMENTS_H
#define LRA_REPORTS_VIEWS_PROBE_MEASUREMENTS_H

#include "reports/results/probe_result.h"
#include "reports/print/table.h"

/* "resconv K = 13, xor, seed 0 (0123ab)", with the start of its hash; the caller frees it. */
char *lra_probe_run_name(const lra_probe_result *r);
/* Cells: a number x in the measure of f, with as many decimals as that deserves; the interval of
 * f. */
void lra_measurement_add_number(lra_table *t, const lra_measurement *f, double x);
/* The value of f; of a censored one the bound that it exceeds ("> 64"). */
void lra_measurement_add_value(lra_table *t, const lra_measurement *f);
void lra_measurement_add_interval(lra_table *t, const lra_measurement *f);
/* A row for each measurement of every unit whose id is among `ids` (NULL behind the last), as far
 * as there is room: value, interval, what it would be of equal weights and before training, what it
 * rests on. */
lra_table *lra_probe_measurements_table(const char *title, lra_probe_result *const *list, int n,
                                        const char *const *ids);

#endif
