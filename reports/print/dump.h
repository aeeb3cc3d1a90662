/* Prints the contents of result files, one by one, as text or as JSON. */
#ifndef LRA_REPORTS_PRINT_DUMP_H
#define LRA_REPORTS_PRINT_DUMP_H

#include <stdio.h>

#include <jansson.h>

#include "reports/results/probe_result.h"

/* Prints a result. name: its name, composed of the settings in which it differs from other
 * results. */
void lra_result_dump(lra_result *r, const char *name, FILE *out);
/* Prints a probe result: its run, its settings, all measurements. */
void lra_probe_result_show(const lra_probe_result *r, FILE *out);
json_t *lra_probe_result_json(const lra_probe_result *r); /* returns a new reference */
/* Prints one JSON document {"schema": 1, "results": [...]}, with "probes": [...] if there are any;
 * values that are not recorded are null. */
void lra_results_dump_json(lra_result *const *list, char *const *name, int n,
                           lra_probe_result *const *probes, int n_probes, FILE *out);

#endif
