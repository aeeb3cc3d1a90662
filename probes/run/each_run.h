/* What becomes of one of several runs that a command was given. */
#ifndef LRA_PROBES_RUN_EACH_RUN_H
#define LRA_PROBES_RUN_EACH_RUN_H

#include "kernels/base/cli/options.h"

/* After a run was measured with exit code rc.  Of one run alone every failure is the command's
 * (LRA_ABSENT, "it has no such part", is wrong usage).  Of several, a run that is not finished, that
 * has no such part or that fails is left out with a line, and the others are measured; *failed
 * counts those that fail.  Returns 0, or the code that ends the command (stopped, no such run). */
int lra_run_outcome(const lra_options *o, int rc, int *failed, lra_err *e);
/* At the end: fails where runs failed, after the table of the others was printed. */
int lra_runs_outcome(const lra_options *o, int failed, lra_err *e);
/* Is it the folder of a run without a result yet, one of several? */
bool lra_run_is_unfinished(const lra_options *o, const char *name);

#endif
