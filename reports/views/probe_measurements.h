/* Measurements of probes in a common table. */
#ifndef LRA_REPORTS_VIEWS_PROBE_MEASUREMENTS_H
#define LRA_REPORTS_VIEWS_PROBE_MEASUREMENTS_H

#include "reports/results/probe_result.h"
#include "reports/print/table.h"

/* "resconv K = 13, xor, seed 0 (0123ab)", with a prefix of its hash; the caller frees it. */
char *lra_probe_run_name(const lra_probe_result *r);
/* Adds cells.  Number: x in the unit of f, with a number of decimals that suits it. */
void lra_measurement_add_number(lra_table *t, const lra_measurement *f, double x);
/* Adds the value of f; of a censored one the bound that it exceeds ("> 64"). */
void lra_measurement_add_value(lra_table *t, const lra_measurement *f);
void lra_measurement_add_interval(lra_table *t, const lra_measurement *f);
/* True if the id is `wanted`, or begins with its text before a final '*'. */
bool lra_measurement_is(const char *id, const char *wanted);
/* Returns a table with a row for each measurement of each unit whose id is in `ids` (NULL after the
 * last; lra_measurement_is()), up to the maximum size: value, interval, null values for uniform
 * weights and at initialisation, numbers of examples and seeds; and notes that explain them. */
lra_table *lra_probe_measurements_table(const char *title, lra_probe_result *const *list, int n,
                                        const char *const *ids);

#endif
