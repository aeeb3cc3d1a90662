/* The null value `shuffled`: the same of the run that differs from a run in its labels alone
 * (setting permute-labels), which lies beside it. */
#ifndef LRA_PROBES_RUN_SHUFFLED_H
#define LRA_PROBES_RUN_SHUFFLED_H

#include "probes/run/finished_run.h"
#include "reports/results/probe_result.h"

/* clang-format off */
#define LRA_NULL_OPTION                                                                            \
    {.name = "null", .kind = LRA_OPTION_CHOICE, .value = "none", .choices = "none|shuffled",       \
     .arg = "KIND",                                                                                \
     .help = "shuffled: beside it the same of the run that '--permute-labels 1' has trained"}
/* clang-format on */

/* What a probe measures of a run that is open, with its data. */
typedef int lra_run_measure(lra_finished_run *run, const lra_options *o, lra_probe_result *r,
                            lra_err *e);

/* Folder of that run; the caller frees it.  NULL: --null does not ask for it.  Fails when it is not
 * there; LRA_ABSENT: this is one itself. */
int lra_shuffled_find(const lra_finished_run *run, const lra_options *o, char **folder, lra_err *e);
/* Measures it, and puts what it has of the same name beside the measurements of r. */
int lra_shuffled_add(const char *folder, const lra_options *o, lra_run_measure *measure,
                     lra_probe_result *r, lra_err *e);

#endif
