/* Tables as HTML. */
#ifndef LRA_REPORTS_PRINT_TABLE_HTML_H
#define LRA_REPORTS_PRINT_TABLE_HTML_H

#include "kernels/base/core/mem.h"
#include "reports/print/table.h"

/* Appends a table as an element <table> in a container that scrolls if the table is wider than the
 * page. id: of the table in its page, letters, digits and "-". notes: also appends the notes. */
void lra_table_add_html(lra_text *to, const lra_table *t, const char *id, bool notes);
/* Prints tables with their verdicts and notes as a fragment of a page. */
void lra_tables_print_html(lra_table *const *list, int n, FILE *out);

#endif
