/* The null value `shuffled`: the same measurement of another run that was trained with permuted
 * labels (setting permute-labels) and is otherwise identical. That run is in a neighbouring
 * folder. */
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

/* Type of the function with which a probe measures a finished run; data are loaded. */
typedef int lra_run_measure(lra_finished_run *run, const lra_options *o, lra_probe_result *r,
                            lra_err *e);

/* Finds the folder of the run on permuted labels. NULL if --null does not request it. Fails if the
 * folder is missing; returns LRA_ABSENT if `run` itself has permuted labels. The caller frees
 * it. */
int lra_shuffled_find(const lra_finished_run *run, const lra_options *o, char **folder, lra_err *e);
/* Measures the run on permuted labels, and adds its values as null values to the measurements of
 * the same name in r. */
int lra_shuffled_add(const char *folder, const lra_options *o, lra_run_measure *measure,
                     lra_probe_result *r, lra_err *e);

#endif
