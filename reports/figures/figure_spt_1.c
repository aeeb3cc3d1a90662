/* Figure spt-1: Transformers and S4, trained from scratch and self-pretrained: accuracy on the
 * tasks of the Long Range Arena and their average.
 * Source: figure 1 of "Never Train from Scratch" (Amos et al. 2024). Published values are those
 * of its tables 1 (sinusoidal positions) and 2 (rotary positions, S4), for masked pretraining;
 * in its averages a task that is not reported counts as 50 %. */
#include "reports/report.h"
#include "reports/views/pretraining_bars.h"

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    static const char *const tasks[] = {"listops",    "text",   "retrieval", "image",
                                        "pathfinder", "path-x", "path-x-256"};
    static const lra_bars_panel panels[] = {
        {"Transformer, sinusoidal", "transformer spt-local", "model.positions", "sinusoidal",
         "rotary", "1", "transformer", "from scratch (Tay et al. 2021)",
         "LRA sizes + masked self-pretraining", "avg"},
        {"Transformer, rotary", "transformer spt-local", "model.positions", "rotary", "rotary", "2",
         "transformer", "rotary; from scratch", "rotary; masked self-pretraining", "avg6"},
        {"S4", "s4", NULL, NULL, NULL, "2", "s4", "from scratch (Gu et al. 2022)",
         "masked self-pretraining", "avg6"}};
    static const lra_pretraining_bars bars = {
        .figure = "spt-1",
        .title = "Long Range Arena from scratch and after self-pretraining (average without "
                 "path-x-256)",
        .task = tasks,
        .n_tasks = 7,
        .averaged = 6,
        .n_panels = 3,
        .panel = panels};
    return lra_pretraining_bars_make(&bars, in, f, e);
}

const lra_report_figure lra_figure_spt_1 = {
    "spt-1", "accuracy of Transformers and S4, from scratch and self-pretrained", make,
    LRA_FROM_RESULTS};
