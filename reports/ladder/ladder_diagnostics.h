/* Diagnostics of a ladder besides its index: validation, information, training, better baselines,
 * flags. */
#ifndef LRA_REPORTS_LADDER_LADDER_DIAGNOSTICS_H
#define LRA_REPORTS_LADDER_LADDER_DIAGNOSTICS_H

#include "reports/ladder/ladder_scale.h"

/* Sets validation values and best_rung.  Must be called before lra_ladder_set_scale(), which may
 * use the best rung. */
void lra_ladder_set_validation(lra_ladder_view *v);
int lra_ladder_set_diagnostics(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e);

#endif
