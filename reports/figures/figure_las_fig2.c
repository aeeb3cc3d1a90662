/* Figure las-fig2: training curves of language models, validation bits per byte or character by
 * epoch: left enwik8, right text8.
 * Source: figure 2 of "Viewing Transformers Through the Lens of Long Convolutions Layers" (Zimerman
 * and Wolf, ICML 2024). Published values are those of its table 8, at the end of training. */
#include "reports/report.h"
#include "reports/views/epoch_curves.h"

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    static const char *const tasks[] = {"enwik8", "text8", NULL};
    static const lra_epoch_curves curves = {.figure = "las-fig2",
                                            .title = "Training curves of language models (thin: "
                                                     "seeds, thick: mean)",
                                            .task = tasks,
                                            .metric = "bpb",
                                            .paper = "las",
                                            .table = "8"};
    return lra_epoch_curves_make(&curves, in, f, e);
}

const lra_report_figure lra_figure_las_fig2 = {
    "las-fig2", "bits per byte of language models on enwik8 and text8, by epoch", make,
    LRA_FROM_RESULTS};
