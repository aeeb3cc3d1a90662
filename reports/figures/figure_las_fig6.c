/* Figure las-fig6: test accuracy by the fraction of the training rows, one panel for each task.
 * Source: figure 6 of "Viewing Transformers Through the Lens of Long Convolutions Layers"
 * (Zimerman and Wolf, ICML 2024), printed as "Table 6"; its values are not printed. Published
 * values are those of table 2, for all training rows. */
#include <math.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "reports/results/published.h"
#include "reports/views/setting_curves.h"

static double fraction_of(const lra_result *r, const lra_config *c)
{
    (void)r;
    return lra_config_real_or(c, "train.fraction", 1);
}

/* Returns "chunk 128" if attention is computed in chunks, else "". */
static char *variant_of(const lra_result *r, const lra_config *c)
{
    const char *chunk = lra_config_text_or(c, "model.chunk", "0");
    (void)r;
    return strcmp(chunk, "0") == 0 ? lra_copy_text("") : lra_format("chunk %s", chunk);
}

static int published(const lra_result *r, const char *variant, double x[LRA_SETTING_PUBLISHED],
                     double y[LRA_SETTING_PUBLISHED])
{
    x[0] = 1;
    y[0] = strcmp(r->model, "las") == 0
               ? lra_published("las", "2", "las", *variant ? variant : "full attention", r->task,
                               "accuracy")
               : NAN;
    return !isnan(y[0]);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    static const lra_setting_curves curves = {.figure = "las-fig6",
                                              .title = "Accuracy by fraction of the training rows",
                                              .axis = "fraction of the training rows",
                                              .value = fraction_of,
                                              .variant = variant_of,
                                              .published = published};
    return lra_setting_curves_make(&curves, in, f, e);
}

const lra_report_figure lra_figure_las_fig6 = {
    "las-fig6", "test metric against the fraction of the training rows, per task", make,
    LRA_FROM_RESULTS};
