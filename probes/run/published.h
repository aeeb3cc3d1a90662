/* Differences between a run and the publication that its preset follows. */
#ifndef LRA_PROBES_RUN_PUBLISHED_H
#define LRA_PROBES_RUN_PUBLISHED_H

#include "probes/run/job.h"

/* Differences, one a line: techniques of the paper that are off (technique.h), techniques that are
 * not in the paper, values that the paper does not state, other known differences. For presets that
 * do not follow a paper: only the differences of the model. The caller frees the text. */
char *lra_published_deviations(const lra_job *r);

#endif
