/* What other programs may ask of the report. */
#include "reports/report.h"

#include "reports/unsealed.h"

int lra_report_print(const lra_report_table *t, FILE *out, const lra_report_input *in,
                     const char *format, lra_err *e)
{
    lra_table **list;
    int n = t->make(in, &list, e);
    if (n < 0) return n;
    lra_report_mark_unsealed(in, list, n);
    lra_report_note_levels(in, list, n);
    int rc = lra_tables_print(list, n, format, out, e);
    lra_tables_free(list, n);
    return rc;
}

int lra_report_ladder(FILE *out, const lra_report_input *in, const char *format, lra_err *e)
{
    return lra_report_print(&lra_table_ladder, out, in, format, e);
}

int lra_report_listops(FILE *out, const lra_report_input *in, const char *format, lra_err *e)
{
    return lra_report_print(&lra_table_listops, out, in, format, e);
}
