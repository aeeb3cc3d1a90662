/* Notes below the table of a ladder. */
#ifndef LRA_REPORTS_LADDER_LADDER_NOTES_H
#define LRA_REPORTS_LADDER_LADDER_NOTES_H

#include "reports/ladder/ladder_view.h"
#include "reports/print/table.h"

/* True if the baseline is shown with a ladder.  Deeper shallow evaluators are shown in the
 * breakdown by operator only. */
bool lra_ladder_shows(const char *baseline);
/* The index as text, "0.95 (0.94 to 0.96), LI.raw ...", or the reason for a missing index; the
 * caller frees it. */
char *lra_ladder_index_text(const lra_ladder_view *v, const lra_ladder *l);
/* "+1.78 points (-1.24 to +4.80)", "+0.2130 (...)": a difference of the ladder's values in the unit
 * of the metric; the caller frees it. */
char *lra_ladder_difference_text(const lra_ladder_view *v, lra_estimate score);
void lra_ladder_add_notes(lra_table *t, const lra_ladder_view *v);
/* Adds the same information as facts of the JSON output. */
void lra_ladder_add_facts(lra_table *t, const lra_ladder_view *v);

#endif
