/* What result files hold, one by one: for people, and as JSON. */
#ifndef LRA_REPORTS_SHOW_H
#define LRA_REPORTS_SHOW_H

#include <stdio.h>

#include "reports/result.h"

void lra_result_show(lra_result *r, FILE *out);
/* {"schema": 1, "results": [...]}: what is not recorded is null. */
void lra_results_show_json(lra_result *const *list, int n, FILE *out);

#endif
