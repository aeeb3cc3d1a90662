/* Experiment: the table of a paper with the measured values (--experiment NAME). */
#include "reports/html/page.h"
#include "reports/tables/layout_table.h"

static void write(lra_page *p, lra_text *to)
{
    const lra_layout *l = p->all->layout;
    lra_report_input in = p->source[LRA_FROM_RESULTS];
    lra_table **list;
    lra_err e;
    if (!l) return;
    lra_report_table table = lra_layout_table(l);
    in.layout = l;
    int n = lra_report_make(&table, &in, "html", &list, &e);
    lra_page_paragraph(to, "", lra_section_experiment.how_to_read);
    for (int i = 0; i < n; i++) lra_page_add_table(p, to, list[i], false);
    if (n > 0) lra_tables_free(list, n);
}

const lra_page_section lra_section_experiment = {
    .id = "experiment",
    .title = "Experiment of a paper",
    .write = write,
    .how_to_read =
        "Rows and columns are those of the paper. Below each row of published values are "
        "the measured values and their intervals; cells that were not run are blank.",
};
