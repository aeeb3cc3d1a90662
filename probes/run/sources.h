/* Checks whether a finished run was trained by the sources of this program. */
#ifndef LRA_PROBES_RUN_SOURCES_H
#define LRA_PROBES_RUN_SOURCES_H

#include "probes/run/job.h"
#include "reports/results/result.h"

/* Hash (16 hexadecimal digits) of the sources of the model, of the ops in its training graph, and
 * of the engine code that every model uses (kernels/base/core/sources.h). Comments, paths and
 * messages are excluded. The data of the job must be loaded. */
void lra_job_sources(const lra_job *r, char hash[17]);
/* Reason why a result may differ from that of this program, one sentence, which the caller frees.
 * NULL if it was computed with the same sources. */
char *lra_job_sources_differ(const lra_job *r, const lra_result *result);
/* True if the result at a path was computed with other sources; false if it cannot be read, or if
 * its sources are not recorded. */
bool lra_job_is_stale(const lra_job *r, const char *path);
/* Removes all files of a finished run except its lock file, so that it can be trained again. */
int lra_run_discard(const char *folder, lra_err *e);

#endif
