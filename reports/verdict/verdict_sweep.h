/* The verdict of a sweep. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_SWEEP_H
#define LRA_REPORTS_VERDICT_VERDICT_SWEEP_H

#include "reports/ladder/sweep_reach.h"
#include "reports/verdict/verdict.h"

/* Adds sentences. For distances: the number of rungs above chance, separately for rungs whose field
 * covers the distance and for the others; the longest solved distance. For other settings: the
 * number of rungs above chance; the change of the widest rung from the first to the last value,
 * with the interval of Newcombe (1998), which assumes independent test sets. Finally the most
 * important caveat. Nullable: reach (for settings other than the distance) */
void lra_verdict_of_sweep(const lra_sweep *s, const lra_sweep_reach *reach, lra_verdict *to);

#endif
