/* Notes and facts of the table of a ladder. */
#ifndef LRA_REPORTS_LADDER_LADDER_NOTES_H
#define LRA_REPORTS_LADDER_LADDER_NOTES_H

#include "reports/ladder/ladder_view.h"
#include "reports/print/table.h"

/* True if the table of a ladder shows this baseline. Deeper shallow evaluators are shown only in
 * the breakdown by operator. */
bool lra_ladder_shows(const char *baseline);
/* The index as text, "0.95 (0.94 to 0.96), LI.raw ...", or the reason why there is none. The caller
 * frees it. */
char *lra_ladder_index_text(const lra_ladder_view *v, const lra_ladder *l);
/* A difference of the ladder's values in the unit of the metric: "+1.78 points (-1.24 to +4.80)",
 * "+0.2130 (...)". The caller frees it. */
char *lra_ladder_difference_text(const lra_ladder_view *v, lra_estimate score);
void lra_ladder_add_notes(lra_table *t, const lra_ladder_view *v);
/* Adds the contents of the notes as facts of the JSON output. */
void lra_ladder_add_facts(lra_table *t, const lra_ladder_view *v);

#endif
