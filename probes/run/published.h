/* Lists differences between a run and the publication that its preset follows. */
#ifndef LRA_PROBES_RUN_PUBLISHED_H
#define LRA_PROBES_RUN_PUBLISHED_H

#include "probes/run/job.h"

/* Returns the differences, one per line: techniques of the paper that are disabled (technique.h),
 * techniques that the paper does not use, values that the paper does not state, and other known
 * differences. If the preset follows no paper: only the differences of the model. The caller frees
 * the text. */
char *lra_published_deviations(const lra_job *r);

#endif
