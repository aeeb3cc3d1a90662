/* Names of the ladders of one figure. */
#ifndef LRA_REPORTS_LADDER_LADDER_NAMES_H
#define LRA_REPORTS_LADDER_LADDER_NAMES_H

#include "reports/ladder/ladder_view.h"

/* The properties that all ladders share: task, preset, model, precision, seeds; the caller frees
 * it. */
char *lra_ladders_shared_name(const lra_ladder_view *views, int n);
/* The properties in which ladder k differs from the others: those above, and settings if all have
 * one task; "" if it is the only ladder.  The caller frees it. */
char *lra_ladder_own_name(const lra_ladder_view *views, int n, int k);

/* Flags of the ladders, for a caption: "flags: few-seeds", for several ladders "NAME: flags
 * few-seeds; ..."; NULL: none.  The caller frees it. */
char *lra_ladders_flags(const lra_ladder_view *views, int n);

#endif
