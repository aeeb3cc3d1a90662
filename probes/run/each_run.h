/* Outcome of one of several runs that a command was given. */
#ifndef LRA_PROBES_RUN_EACH_RUN_H
#define LRA_PROBES_RUN_EACH_RUN_H

#include "kernels/base/cli/options.h"
#include "reports/results/probe_result.h"

/* Handles the exit code rc of the measurement of one run. If only one run was given, every failure
 * fails the command (LRA_ABSENT, "it has no such part", becomes a usage error). If several were
 * given, a run that is unfinished, that has no such part or that fails is skipped with a message,
 * and the others are measured; *failed counts the failures. Returns 0, or the code that ends the
 * command (stopped, no such run). */
int lra_run_outcome(const lra_options *o, int rc, int *failed, lra_err *e);
/* Call it at the end, after the table was printed: fails if any run failed. */
int lra_runs_outcome(const lra_options *o, int failed, lra_err *e);
/* Returns true if it is the folder of an unfinished run, and one of several that were given. */
bool lra_run_is_unfinished(const lra_options *o, const char *name);

/* True, with a note, if two runs have the same hash: one was given twice, or is a copy of the
 * other.  name: the argument of the later one. */
bool lra_run_is_repeated(const char *name, const char *hash, const char *earlier);
/* Counts the result list[*n] of the argument `name`; frees it instead if an earlier one is of the
 * same run.  NULL: there is none. */
void lra_run_count(const char *name, lra_probe_result **list, int *n);

#endif
