/* Checks of an external model before it was measured. */
#include "reports/html/facts.h"

/* Nothing is written, and nothing is listed as left out, if no model of the page is external. */
static void write(lra_page *p, lra_text *to)
{
    lra_table **list;
    lra_err e;
    int n = lra_report_make(&lra_table_checks, &p->source[LRA_FROM_RESULTS_AND_PROBES], "html",
                            &list, &e);
    if (n < 0) {
        if (lra_page_is_audit(p)) lra_page_leave_out(p, "Checks of the model", e.msg);
        return;
    }
    lra_page_paragraph(to, "",
                       "A failed check disables the parts that need the property. A skipped check "
                       "does not apply to the model; its column 'result' states the reason.");
    for (int i = 0; i < n; i++) lra_page_add_table(p, to, list[i], false);
    lra_tables_free(list, n);
}

const lra_page_section lra_section_checks = {
    .id = "checks", .title = "Checks of the model", .write = write};
