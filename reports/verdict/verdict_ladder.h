/* The verdict of a ladder. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_LADDER_H
#define LRA_REPORTS_VERDICT_VERDICT_LADDER_H

#include "reports/ladder/ladder_view.h"
#include "reports/verdict/verdict.h"

/* Adds sentences: the sufficient reach at a margin of 1 point, with the difference on which it is
 * based; the effect of reach, and the reference compared with chance; the most important caveat, if
 * there is one. */
void lra_verdict_of_ladder(const lra_ladder_view *v, lra_verdict *to);

#endif
