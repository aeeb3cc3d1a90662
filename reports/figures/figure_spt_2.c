/* Figure spt-2: the role of explicit priors: DLR with random and with structured initialisation,
 * and S4, trained from scratch and self-pretrained, on four tasks and their average.
 * Source: figure 2 of "Never Train from Scratch" (Amos et al. 2024). Published values are those
 * of its table 2 (S4) and section 3.3 (averages of DLR); the text does not state which
 * initialisation of DLR its two averages have, so that they are in a panel of their own. */
#include "reports/report.h"
#include "reports/views/pretraining_bars.h"

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    static const char *const tasks[] = {"listops", "text", "image", "path-x"};
    static const lra_bars_panel panels[] = {
        {"DLR, random", "dlr", "model.init", "random", "structured", NULL, NULL, NULL, NULL, NULL},
        {"DLR, structured", "dlr", "model.init", "structured", "structured", NULL, NULL, NULL, NULL,
         NULL},
        {"DLR, as published", "", NULL, NULL, NULL, "text", "dlr", "from scratch",
         "self-pretraining", "avg-hard4"},
        {"S4", "s4", NULL, NULL, NULL, "2", "s4", "from scratch (Gu et al. 2022)",
         "masked self-pretraining", NULL}};
    static const lra_pretraining_bars bars = {
        .figure = "spt-2",
        .title = "Explicit priors: DLR and S4 from scratch and after self-pretraining",
        .task = tasks,
        .n_tasks = 4,
        .averaged = 4,
        .n_panels = 4,
        .panel = panels};
    return lra_pretraining_bars_make(&bars, in, f, e);
}

const lra_report_figure lra_figure_spt_2 = {
    "spt-2", "accuracy of DLR and S4, from scratch and self-pretrained", make, LRA_FROM_RESULTS};
