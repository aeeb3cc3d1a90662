/* The verdict of a ladder. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_LADDER_H
#define LRA_REPORTS_VERDICT_VERDICT_LADDER_H

#include "reports/ladder/ladder_view.h"
#include "reports/verdict/verdict.h"

/* Adds sentences: the sufficient reach at 1 point with the difference that it is based on; the
 * effect of reach and the reference against chance; the caveat that matters most, if there is
 * one. */
void lra_verdict_of_ladder(const lra_ladder_view *v, lra_verdict *to);

#endif
