/* A run that is trained, up to its result file. */
#ifndef LRA_PROBES_RUN_TRAIN_JOB_H
#define LRA_PROBES_RUN_TRAIN_JOB_H

#include "probes/run/job.h"

/* Trains what is missing and writes result.h5; a finished run is left alone.
 * 0, LRA_STOPPED or a negative code. */
int lra_job_train(const lra_job *r, int64_t seed, lra_err *e);

#endif
