/* Trains a run, and writes its result file. */
#ifndef LRA_PROBES_RUN_TRAIN_JOB_H
#define LRA_PROBES_RUN_TRAIN_JOB_H

#include "probes/run/job.h"

/* Differences from the publication, one per line. The caller frees it. */
char *lra_job_deviations(const lra_job *r);
enum { LRA_HELD = 2 /* another process trains the run */ };
/* Trains the run of one seed and writes result.h5; does nothing if it is finished. Returns 0,
 * LRA_STOPPED, LRA_HELD (if r->no_wait is set and another process trains the run; the message
 * names it) or a negative code. */
int lra_job_train(const lra_job *r, int64_t seed, lra_err *e);

#endif
