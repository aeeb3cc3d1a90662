/* What result files hold, one by one: for people, and as JSON. */
#ifndef LRA_REPORTS_PRINT_DUMP_H
#define LRA_REPORTS_PRINT_DUMP_H

#include <stdio.h>

#include <jansson.h>

#include "reports/results/probe_result.h"

void lra_result_dump(lra_result *r, FILE *out);
/* Of a probe: its run, how it was measured, every number. */
void lra_probe_result_show(const lra_probe_result *r, FILE *out);
json_t *lra_probe_result_json(const lra_probe_result *r); /* a new reference */
/* {"schema": 1, "results": [...]}, and "probes": [...] where there are any: what is not recorded is
 * null. */
void lra_results_dump_json(lra_result *const *list, int n, lra_probe_result *const *probes,
                           int n_probes, FILE *out);

#endif
