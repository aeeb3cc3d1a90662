/* Makes and prints tables for other programs (report.h). */
#include "reports/report.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "reports/views/integrity.h"
#include "reports/views/model_names.h"

/* Copies the notes of the tables; equal notes are copied once. */
static void copy_notes(lra_table *to, lra_table *const *list, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < list[i]->n_notes; k++) {
            int known = 0;
            while (known < to->n_notes && strcmp(to->note[known], list[i]->note[k]) != 0) known++;
            if (known == to->n_notes) lra_table_note(to, "%s", list[i]->note[k]);
        }
}

int lra_report_make(const lra_report_table *t, const lra_report_input *in, const char *format,
                    lra_table ***list, lra_err *e)
{
    bool data = strcmp(format, "csv") == 0 || strcmp(format, "json") == 0;
    int n = t->make(in, list, e);
    if (n > 0 && data && t->records) {
        lra_table *all = t->records(in, *list, n);
        copy_notes(all, *list, n);
        for (int i = 0; i < n; i++) lra_table_take_verdict(all, (*list)[i]);
        lra_tables_free(*list, n);
        *list = lra_alloc(sizeof **list);
        (*list)[0] = all;
        n = 1;
    }
    for (int i = 0; i < n && !data; i++) lra_table_note_models((*list)[i]);
    if (n > 0) lra_report_mark_integrity(in, *list, n);
    if (n > 0) lra_report_note_levels(in, *list, n);
    return n;
}

/* Width of a terminal, at least LRA_TABLE_WIDTH; 0 (no limit) for files and pipes. */
static int width_of(FILE *out)
{
    int columns = lra_terminal_columns(out);
    if (!lra_is_tty(out)) return 0;
    return columns > LRA_TABLE_WIDTH ? columns : LRA_TABLE_WIDTH;
}

static int print(const lra_report_table *t, FILE *out, const lra_report_input *in,
                 const char *format, bool brief, lra_err *e)
{
    lra_table **list;
    int n = t->make(in, &list, e);
    if (n < 0) return n;
    for (int i = 0; i < n && strcmp(format, "json") != 0; i++) lra_table_note_models(list[i]);
    lra_report_mark_integrity(in, list, n);
    lra_report_note_levels(in, list, n);
    if (brief && strcmp(format, "json") != 0) lra_tables_brief(list, n);
    int rc = lra_tables_print_wide(list, n, format, width_of(out), out, e);
    lra_tables_free(list, n);
    return rc;
}

int lra_report_print(const lra_report_table *t, FILE *out, const lra_report_input *in,
                     const char *format, lra_err *e)
{
    return print(t, out, in, format, false, e);
}

int lra_report_print_brief(const lra_report_table *t, FILE *out, const lra_report_input *in,
                           const char *format, lra_err *e)
{
    return print(t, out, in, format, true, e);
}

int lra_report_ladder(FILE *out, const lra_report_input *in, const char *format, lra_err *e)
{
    return lra_report_print(&lra_table_ladder, out, in, format, e);
}

int lra_report_listops(FILE *out, const lra_report_input *in, const char *format, lra_err *e)
{
    return lra_report_print(&lra_table_listops, out, in, format, e);
}
