/* Comparison: one row per model, by locality if probes measured it, else by the test metric. */
#include "reports/html/page.h"

static void write(lra_page *p, lra_text *to)
{
    const lra_page_section *s = &lra_section_comparison;
    const lra_page_tables *made = lra_page_tables_of(p, s);
    bool probed = p->source[LRA_FROM_RESULTS_AND_PROBES].n_probes > 0;
    if (probed && made->n > 0) {
        lra_page_paragraph(to, "", s->how_to_read);
        /* the verdict compares models, so that it is shown only if there are several */
        lra_page_add_table(p, to, made->list[0], made->list[0]->n_rows > 1);
        lra_page_add_figure(p, to, &lra_figure_locality, &p->source[LRA_FROM_RESULTS_AND_PROBES]);
        return;
    }
    lra_table **list;
    lra_err e;
    if (lra_page_tables_of(p, &lra_section_ladder)->n > 0 || p->all->n == 0) return;
    int n = lra_report_make(&lra_table_models, &p->source[LRA_FROM_RESULTS], "html", &list, &e);
    for (int i = 0; i < n; i++) lra_page_add_table(p, to, list[i], true);
    if (n > 0) {
        lra_page_add_figure(p, to, &lra_figure_models, &p->source[LRA_FROM_RESULTS]);
        lra_tables_free(list, n);
    }
}

const lra_page_section lra_section_comparison = {
    .id = "comparison",
    .title = "Comparison",
    .write = write,
    .table = &lra_table_locality,
    .how_to_read =
        "Each row is one model. The distance columns are distances of the tokens that influence its "
        "outputs: a smaller value means a more local model. Each value is compared with uniform "
        "weights under the same mask and with the same model at initialisation.",
    .null_value = "Uniform weights under the mask of the model, and the model at initialisation. A "
                  "value that does not differ from both shows no learned locality.",
    .rank = 3,
};
