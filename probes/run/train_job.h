/* Trains a run, and writes its result file. */
#ifndef LRA_PROBES_RUN_TRAIN_JOB_H
#define LRA_PROBES_RUN_TRAIN_JOB_H

#include "probes/run/job.h"

/* Deviations from the publication, a line each; caller frees. */
char *lra_job_deviations(const lra_job *r);
/* Trains the missing seeds and writes result.h5; a finished run is left alone. 0, LRA_STOPPED or a
 * negative code. */
int lra_job_train(const lra_job *r, int64_t seed, lra_err *e);

#endif
