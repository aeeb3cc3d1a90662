/* Outcome of each run, for commands that take one or several runs. */
#ifndef LRA_PROBES_RUN_EACH_RUN_H
#define LRA_PROBES_RUN_EACH_RUN_H

#include "kernels/base/cli/options.h"
#include "reports/results/probe_result.h"

/* Handles the exit code rc of the measurement of one run. If the command was given one run, every
 * failure fails the command (LRA_ABSENT, "the run has no such part", becomes a usage error). If it
 * was given several runs, a run that is unfinished, has no such part, or fails is skipped with a
 * message; *failed counts the failures. Returns 0, or the code with which the command ends (for
 * example, if it was stopped or a run does not exist). */
int lra_run_outcome(const lra_options *o, int rc, int *failed, lra_err *e);
/* Called after the table is printed: fails if any run failed. */
int lra_runs_outcome(const lra_options *o, int failed, lra_err *e);
/* True if `name` is the folder of an unfinished run and the command was given several runs. */
bool lra_run_is_unfinished(const lra_options *o, const char *name);

/* True, with a note, if two runs have the same hash: either the same run was given twice, or one is
 * a copy of the other. name: argument of the later one. */
bool lra_run_is_repeated(const char *name, const char *hash, const char *earlier);
/* Increments *n if list[*n], the result of the argument `name`, belongs to a new run; frees
 * list[*n] if an earlier result belongs to the same run. Does nothing if list[*n] is NULL. */
void lra_run_count(const char *name, lra_probe_result **list, int *n);

#endif
