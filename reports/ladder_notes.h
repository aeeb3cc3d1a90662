/* What stands below the table of a ladder. */
#ifndef LRA_REPORTS_LADDER_NOTES_H
#define LRA_REPORTS_LADDER_NOTES_H

#include "reports/ladder_view.h"
#include "reports/table.h"

/* Deeper shallow evaluators belong to the breakdown by operator. */
bool lra_ladder_shows(const char *baseline);
/* "LI 0.952 (0.941 to 0.959)", "LI[8..60] ...", or why there is none; caller frees. */
char *lra_ladder_index_text(const lra_ladder_view *v, const lra_ladder *l);
void lra_ladder_add_notes(lra_table *t, const lra_ladder_view *v);
/* The same for JSON. */
void lra_ladder_add_facts(lra_table *t, const lra_ladder_view *v);

#endif
