/* The verdict of a sweep. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_SWEEP_H
#define LRA_REPORTS_VERDICT_VERDICT_SWEEP_H

#include "reports/ladder/sweep_reach.h"
#include "reports/verdict/verdict.h"

/* Adds sentences.  Distances: the number of rungs above chance among those whose field covers the
 * distance and among the others; the longest solved distance.  Other settings: the number of rungs
 * above chance; the change of the widest rung from the first to the last value, with the interval
 * of Newcombe (1998), which takes the two test sets as independent.  Last, the caveat that matters
 * most.  Nullable: reach (settings other than the distance) */
void lra_verdict_of_sweep(const lra_sweep *s, const lra_sweep_reach *reach, lra_verdict *to);

#endif
