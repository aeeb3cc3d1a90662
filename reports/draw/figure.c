/* Code that figures share (figure.h). */
#include "reports/draw/figure.h"

int lra_figure_make_listops(const lra_report_input *in, lra_plot *p,
                            int (*fill)(const lra_listops_view *v, lra_plot *p, lra_err *e),
                            lra_err *e)
{
    lra_listops_view *v;
    int rc = lra_listops_view_only(in->listops, in->n_listops, &v, e);
    if (rc != 0) return rc;
    rc = fill(v, p, e);
    lra_listops_views_free(v, 1);
    return rc;
}

void lra_figure_add_cell(lra_plot *p, const lra_listops_cell *c)
{
    for (int s = 0; s < c->data.n_seeds; s++) lra_plot_source(p, "run", c->run[s]->run);
    lra_plot_source(p, "data", c->run[0]->fingerprint);
}

void lra_figure_add_ladder(lra_plot *p, const lra_ladder_view *v)
{
    for (int r = 0; r < v->data.n_rungs; r++)
        for (int s = 0; s < v->data.rung[r].n_seeds; s++)
            lra_plot_source(p, "run", v->run[r][s]->run);
    lra_plot_source(p, "data", v->first->fingerprint);
}
