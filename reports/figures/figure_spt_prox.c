/* Figure spt-prox: phases of self-pretraining, one panel for each measurement: the distance of
 * attention, kernels or Jacobians relative to uniform weights, and the shares of position and
 * content in attention weights. Groups: random, pretrained and fine-tuned weights, and weights
 * trained from scratch. Points are means over heads or layers and over seeds, bars 95 %
 * intervals over seeds.
 * Source: the definition is from this project; the runs are those of "Never Train from Scratch"
 * (Amos et al. 2024). */
#include <math.h>

#include "reports/draw/groups.h"
#include "reports/report.h"
#include "reports/views/weight_phases.h"

enum { PANELS = 4 };
static const char *const ids[PANELS] = {"dist.mean.rel", "share.relative", "share.absolute",
                                        "share.content"};
static const char *const axes[PANELS] = {"mean distance / uniform weights",
                                         "share of relative position", "share of absolute position",
                                         "share of content"};

/* Name of a pair; the caller frees it. */
static char *name_of(const lra_phase_pair *p)
{
    const lra_probe_result *r = p->tuned->seed[0];
    char *model = lra_phase_model(p);
    char *name = lra_format("%s, %s: %s%s%s", model, r->task, lra_phase_parts(p),
                            *p->objective ? ", " : "", p->objective);
    lra_free(model);
    return name;
}

/* Fills a panel with measurement k; returns false if no pair has it. */
static bool fill_panel(int n, const lra_phase_pair *pairs, int k, lra_group_panel *panel)
{
    bool any = false;
    lra_group_panel_clear(panel);
    panel->title = "", panel->axis = axes[k];
    for (int i = 0; i < n; i++)
        for (int phase = 0; phase < LRA_PHASES; phase++) {
            lra_measurement m = lra_phase_value(&pairs[i], (lra_phase)phase, ids[k], -1);
            panel->at[phase][i] = (lra_group_value){m.value, m.lo, m.hi, NAN};
            any = any || !isnan(m.value);
        }
    return any;
}

static void draw(int n, const lra_phase_pair *pairs, lra_plot *f)
{
    lra_group_panel *panel = lra_alloc_array(PANELS, sizeof *panel);
    char *name[LRA_PLOT_STYLES];
    lra_groups g = {.n_groups = LRA_PHASES, .n_series = n, .panel = panel};
    for (int k = 0; k < LRA_PHASES; k++) g.group[k] = lra_phase_names[k];
    for (int i = 0; i < n; i++) g.series[i] = name[i] = name_of(&pairs[i]);
    for (int p = 0; p < PANELS; p++) g.n_panels += fill_panel(n, pairs, p, &panel[g.n_panels]);
    f->title = n == 1 ? lra_format("Phases of self-pretraining: %s", name[0])
                      : lra_copy_text("Phases of self-pretraining");
    for (int i = 0; i < n && !f->caption; i++)
        if (pairs[i].control)
            f->caption = lra_copy_text("'from scratch' are controls with the steps of both phases, "
                                       "where there are any");
    lra_groups_draw(f, "spt-prox", &g);
    for (int i = 0; i < n; i++) lra_free(name[i]);
    lra_free(panel);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_probe_cell *cells;
    lra_phase_pair *pairs;
    int n_cells = lra_probe_cells(in->n_probes, in->probes, &cells);
    int n = lra_phase_pairs(n_cells, cells, &pairs), rc = 0;
    if (n == 0)
        rc = lra_fail(e, "no pair of a fine-tuned run ('train --from') and a run from scratch with "
                         "the same task and model");
    if (n > LRA_PLOT_STYLES)
        rc = lra_fail(
            e, "%d pairs of runs, one figure holds at most %d; name fewer on the command line", n,
            (int)LRA_PLOT_STYLES);
    for (int i = 0; i < n && rc == 0; i++) {
        for (int s = 0; s < pairs[i].scratch->n_seeds; s++)
            lra_plot_source(f, "run", pairs[i].scratch->seed[s]->run);
        for (int s = 0; s < pairs[i].tuned->n_seeds; s++)
            lra_plot_source(f, "run", pairs[i].tuned->seed[s]->run);
        lra_plot_source(f, "data", pairs[i].tuned->seed[0]->fingerprint);
    }
    if (rc == 0) draw(n, pairs, f);
    lra_free(pairs);
    lra_probe_cells_free(cells, n_cells);
    return rc;
}

const lra_report_figure lra_figure_spt_prox = {
    "spt-prox",
    "distance of attention, kernels, Jacobian: random, pretrained, fine-tuned, from scratch", make,
    LRA_FROM_RESULTS_AND_PROBES};
