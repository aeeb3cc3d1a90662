/* Differences between a run and the publication whose settings its preset names. */
#ifndef LRA_PROBES_RUN_PUBLISHED_H
#define LRA_PROBES_RUN_PUBLISHED_H

#include "probes/run/job.h"

/* One a line: techniques of the paper that are off (technique.h), techniques that are not the
 * paper's, values that the paper does not state, other known differences.  Of a preset that is not
 * a paper's: the differences of the model alone.  The caller frees the text. */
char *lra_published_deviations(const lra_job *r);

#endif
