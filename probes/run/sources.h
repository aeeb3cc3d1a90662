/* Checks whether a finished run was trained by the sources of this program. */
#ifndef LRA_PROBES_RUN_SOURCES_H
#define LRA_PROBES_RUN_SOURCES_H

#include "probes/run/job.h"
#include "reports/results/result.h"

/* Hash of 16 hexadecimal digits of the sources of the model, of the ops of its training graph and
 * of the engine code that every model uses (kernels/base/core/sources.h). Comments, paths and
 * messages are excluded. The data of the job must be loaded. */
void lra_job_sources(const lra_job *r, char hash[17]);
/* Why the result may differ from the result of this program: one sentence, which the caller frees.
 * NULL: the result has the sources of this program. */
char *lra_job_sources_differ(const lra_job *r, const lra_result *result);
/* The same for the result at a path; false if it cannot be read. */
bool lra_job_is_stale(const lra_job *r, const char *path);
/* Removes all files of a finished run except its lock, so that it is trained again. */
int lra_run_discard(const char *folder, lra_err *e);

#endif
