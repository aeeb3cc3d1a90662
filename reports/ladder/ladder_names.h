/* Names of the ladders in one figure. */
#ifndef LRA_REPORTS_LADDER_LADDER_NAMES_H
#define LRA_REPORTS_LADDER_LADDER_NAMES_H

#include "reports/ladder/ladder_view.h"

/* The properties that all ladders share: task, preset, model, precision, seeds. The caller frees
 * the text. */
char *lra_ladders_shared_name(const lra_ladder_view *views, int n);
/* The properties in which ladder k differs from the others: those of lra_ladders_shared_name(), and
 * settings if all ladders have the same task. "" if it is the only ladder. The caller frees the
 * text. */
char *lra_ladder_own_name(const lra_ladder_view *views, int n, int k);

/* Flags of the ladders for a caption: "flags, explained below table 'ladder': few-seeds", for several
 * ladders each with its name: "NAME: few-seeds; ..". NULL: no ladder has a flag. The caller frees
 * the text. */
char *lra_ladders_flags(const lra_ladder_view *views, int n);

#endif
