/* What stands below the table of a ladder. */
#ifndef LRA_REPORTS_LADDER_LADDER_NOTES_H
#define LRA_REPORTS_LADDER_LADDER_NOTES_H

#include "reports/ladder/ladder_view.h"
#include "reports/print/table.h"

/* Deeper shallow evaluators belong to the breakdown by operator. */
bool lra_ladder_shows(const char *baseline);
/* "0.95 (0.94 to 0.96), LI.raw ...", or why there is none; caller frees. */
char *lra_ladder_index_text(const lra_ladder_view *v, const lra_ladder *l);
/* "+1.78 points (-1.24 to +4.80)", "+0.2130 (...)": a difference of the ladder's values, better is
 * positive where more of the metric is; caller frees. */
char *lra_ladder_difference_text(const lra_ladder_view *v, lra_estimate score);
void lra_ladder_add_notes(lra_table *t, const lra_ladder_view *v);
/* The same for JSON. */
void lra_ladder_add_facts(lra_table *t, const lra_ladder_view *v);

#endif
