/* Figure las-fig3: perplexity of language models on the validation split of WikiText-103, by epoch.
 * Source: figure 3 of "Viewing Transformers Through the Lens of Long Convolutions Layers" (Zimerman
 * and Wolf, ICML 2024). Published values are those of its appendix C, at the end of training. */
#include "reports/report.h"
#include "reports/views/epoch_curves.h"

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    static const char *const tasks[] = {"wikitext-103", NULL};
    static const lra_epoch_curves curves = {.figure = "las-fig3",
                                            .title = "Perplexity during training (thin: seeds, "
                                                     "thick: mean)",
                                            .task = tasks,
                                            .metric = "perplexity",
                                            .paper = "las",
                                            .table = "appendix C"};
    return lra_epoch_curves_make(&curves, in, f, e);
}

const lra_report_figure lra_figure_las_fig3 = {
    "las-fig3", "perplexity of language models on WikiText-103, by epoch", make, LRA_FROM_RESULTS};
