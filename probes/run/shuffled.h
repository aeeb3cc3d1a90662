/* The null value `shuffled`: the same measurement of the run that differs only in its labels
 * (setting permute-labels), in the neighbouring folder. */
#ifndef LRA_PROBES_RUN_SHUFFLED_H
#define LRA_PROBES_RUN_SHUFFLED_H

#include "probes/run/finished_run.h"
#include "reports/results/probe_result.h"

/* clang-format off */
#define LRA_NULL_OPTION                                                                            \
    {.name = "null", .kind = LRA_OPTION_CHOICE, .value = "none", .choices = "none|shuffled",       \
     .arg = "KIND",                                                                                \
     .help = "null values to add: shuffled = the same measurement of the run trained with "         \
             "'--permute-labels 1'"}
/* clang-format on */

/* Measures a finished run with loaded data; a probe implements it. */
typedef int lra_run_measure(lra_finished_run *run, const lra_options *o, lra_probe_result *r,
                            lra_err *e);

/* Folder of that run; the caller frees it. NULL: --null does not request it. Fails if it is
 * missing; LRA_ABSENT: this run itself has permuted labels. */
int lra_shuffled_find(const lra_finished_run *run, const lra_options *o, char **folder, lra_err *e);
/* Measures that run, and adds its values to the measurements of the same name in r. */
int lra_shuffled_add(const char *folder, const lra_options *o, lra_run_measure *measure,
                     lra_probe_result *r, lra_err *e);

#endif
