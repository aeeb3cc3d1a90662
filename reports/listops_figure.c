/* Figures of ListOps breakdowns. */
#include "reports/listops_figure.h"

#include "reports/plot.h"

int lra_listops_figure_write(const char *folder, const char *name, const lra_report_input *in,
                             int (*fill)(const lra_listops_view *v, lra_text *data,
                                         lra_text *script, lra_err *e),
                             lra_err *e)
{
    lra_listops_view *v;
    int rc = lra_listops_view_only(in->listops, in->n_listops, &v, e);
    if (rc != 0) return rc;
    lra_text data = {0}, script = {0};
    rc = fill(v, &data, &script, e);
    if (rc == 0) rc = lra_plot_write(folder, name, &data, &script, e);
    lra_text_free(&data);
    lra_text_free(&script);
    lra_listops_views_free(v, 1);
    return rc;
}
