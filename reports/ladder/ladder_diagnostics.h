/* What stands beside the index of a ladder: validation, information, training, rivals, flags. */
#ifndef LRA_REPORTS_LADDER_LADDER_DIAGNOSTICS_H
#define LRA_REPORTS_LADDER_LADDER_DIAGNOSTICS_H

#include "reports/ladder/ladder_scale.h"

/* Before the scale, which may ask for the best rung. */
void lra_ladder_set_validation(lra_ladder_view *v);
int lra_ladder_set_diagnostics(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e);

#endif
