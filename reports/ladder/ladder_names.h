/* Names for ladders that stand in one figure. */
#ifndef LRA_REPORTS_LADDER_LADDER_NAMES_H
#define LRA_REPORTS_LADDER_LADDER_NAMES_H

#include "reports/ladder/ladder_view.h"

/* What all of them share: task, preset, model, precision, seeds; caller frees. */
char *lra_ladders_shared_name(const lra_ladder_view *views, int n);
/* What the others do not share with ladder k: of the above, and settings of one task; "" when it is
 * the only one. Caller frees. */
char *lra_ladder_own_name(const lra_ladder_view *views, int n, int k);

/* Their flags, for a caption: "flags: few-seeds", of several "NAME: flags few-seeds; ..."; NULL:
 * none.  Caller frees. */
char *lra_ladders_flags(const lra_ladder_view *views, int n);

#endif
