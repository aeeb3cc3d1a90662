/* Notes below the table of a layout. */
#ifndef LRA_REPORTS_TABLES_LAYOUT_NOTES_H
#define LRA_REPORTS_TABLES_LAYOUT_NOTES_H

#include "reports/print/table.h"
#include "reports/tables/layout_cells.h"

/* Adds the remarks and errata of the layout, the cells that cannot be trained, the command that
 * trains the missing cells, and the differences between the measured cells and the paper. out:
 * folder of the results, for the command; NULL: the default. */
void lra_layout_notes(lra_table *t, const lra_layout_view *v, const char *out);

#endif
