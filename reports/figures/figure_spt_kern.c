/* Figure spt-kern: effect of pretraining on the decay of kernels. One panel for each layer of each
 * pair of runs that differ in their initialisation: from scratch, or from a pretrained run
 * (train.from). Lines are medians over channels of the envelope (the largest |k| at this or a
 * larger distance, divided by the largest |k| of the channel):
 *   from scratch   at random initialisation (dashed) and after training
 *   pretrained     after pretraining (dashed) and after fine-tuning on the task
 * If there is a control with the same number of steps (--matched), it is used as the run from
 * scratch.
 * Source: "Never Train from Scratch" (Amos et al. 2024), which describes this comparison. */
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/views/kernel_decay.h"
#include "reports/views/model_names.h"
#include "reports/views/probe_view.h"
#include "reports/views/weight_phases.h"
#include "reports/report.h"

enum { PANELS = LRA_DECAY_PANELS, LINES = 4 };
static const char dat[] = "spt-kern.dat";

/* In the order of the data: from scratch before and after training, pretrained before and after
 * fine-tuning. One pair is light and the other dark, also in grey. */
static const lra_plot_entry key[LINES] = {
    {"random initialisation", LRA_LEGEND_LINE, "#E69F00", LRA_DASH_DASHES, 2, 0, 0},
    {"trained from scratch", LRA_LEGEND_LINE, "#E69F00", NULL, 3.5, 0, 0},
    {"pretrained", LRA_LEGEND_LINE, "#0072B2", LRA_DASH_DASHES, 2, 0, 0},
    {"pretrained, then fine-tuned", LRA_LEGEND_LINE, "#0072B2", NULL, 2.5, 0, 0}};

typedef struct {
    const lra_probe_result *scratch, *pretrained;
} pair;

typedef struct {
    const pair *of;
    const lra_probe_array *line[LINES];
    char *name;
} panel;

typedef struct {
    int n_pairs, n;
    pair pair[PANELS];
    panel panel[PANELS];
    lra_decay_axes axes;
} plot;

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Suitability of r as the run from scratch for `of`: 0: not comparable; 1: comparable; 2: its
 * control. */
static int worth(const lra_probe_result *r, const lra_probe_result *of)
{
    if (strcmp(r->task, of->task) != 0 || strcmp(r->model, of->model) != 0 ||
        strcmp(r->fingerprint, of->fingerprint) != 0 || r->kernel != of->kernel ||
        r->seed != of->seed || lra_probe_has_setting(r, "train.from") ||
        lra_probe_has_setting(r, "train.objective"))
        return 0;
    char *matched = lra_probe_setting(r, "train.matched"),
         *from = lra_probe_setting(of, "train.from");
    bool control = *matched && strcmp(matched, from) == 0, other = *matched && !control;
    lra_free(matched);
    lra_free(from);
    return control ? 2 : other ? 0 : 1;
}

static int find_pairs(const lra_report_input *in, plot *p, lra_err *e)
{
    for (int i = 0; i < in->n_probes; i++) {
        const lra_probe_result *r = in->probes[i], *scratch = NULL;
        int best = 0;
        if (!lra_probe_has_setting(r, "train.from")) continue;
        for (int k = 0; k < in->n_probes; k++) {
            int w = worth(in->probes[k], r);
            if (w > best) best = w, scratch = in->probes[k];
        }
        if (!scratch) continue;
        if (p->n_pairs == PANELS)
            return lra_fail(
                e, "one figure holds at most %d pairs of runs; name fewer on the command line",
                (int)PANELS);
        p->pair[p->n_pairs++] = (pair){scratch, r};
    }
    if (p->n_pairs) return 0;
    return lra_fail(e,
                    "no pair of a pretrained run ('train --from') and a run from scratch with the "
                    "same task, model and seed");
}

/* ---- panels ---------------------------------------------------------------------------------- */

static bool is_layer(const pair *p, const lra_probe_unit *u, const lra_probe_array *line[LINES])
{
    const lra_probe_unit *other = lra_probe_unit_find(p->pretrained, u->name);
    if (!other) return false;
    for (int k = 0; k < LINES; k++)
        if (!(line[k] = lra_decay_envelope(k < 2 ? u : other, k % 2))) return false;
    return true;
}

static bool alike(const lra_probe_result *a, const lra_probe_result *b)
{
    return strcmp(a->task, b->task) == 0 && strcmp(a->model, b->model) == 0;
}

/* True if all pairs have the same task and model, which the title then names. */
static bool all_alike(const plot *p)
{
    for (int i = 1; i < p->n_pairs; i++)
        if (!alike(p->pair[i].scratch, p->pair[0].scratch)) return false;
    return true;
}

/* Name of a panel: what distinguishes its pair from the others (task and model, seed), and the
 * layer. The caller frees it. */
static char *panel_name(const plot *p, const pair *of, const char *layer)
{
    const lra_probe_result *r = of->scratch;
    bool again = false;
    if (p->n_pairs == 1) return lra_copy_text(layer);
    if (all_alike(p)) return lra_format("seed %lld, %s", (long long)r->seed, layer);
    for (int i = 0; i < p->n_pairs; i++) {
        const lra_probe_result *other = p->pair[i].scratch;
        again = again || (other->seed != r->seed && alike(other, r));
    }
    return again ? lra_format("%s, %s %lld, %s", r->task, r->model, (long long)r->seed, layer)
                 : lra_format("%s, %s, %s", r->task, r->model, layer);
}

/* Adds at most `most` evenly spaced layers of a pair as panels. */
static void add_panels(plot *p, const pair *of, int most)
{
    const lra_probe_array *line[LINES];
    int layers = 0, at = 0, taken = 0;
    for (int u = 0; u < of->scratch->n_units; u++)
        layers += is_layer(of, of->scratch->unit[u], line);
    if (most > layers) most = layers;
    for (int u = 0; u < of->scratch->n_units && taken < most; u++) {
        const lra_probe_unit *unit = of->scratch->unit[u];
        if (!is_layer(of, unit, line)) continue;
        int wanted = most > 1 ? taken * (layers - 1) / (most - 1) : (layers - 1) / 2;
        if (at++ != wanted) continue;
        panel *x = &p->panel[p->n++];
        x->of = of, taken++;
        memcpy(x->line, line, sizeof line);
        x->name = panel_name(p, of, unit->name);
        for (int k = 0; k < LINES; k++) lra_decay_axes_hold(&p->axes, line[k]);
    }
}

static int open_plot(plot *p, const lra_report_input *in, lra_err *e)
{
    *p = (plot){.axes.least = 1};
    if (find_pairs(in, p, e) != 0) return LRA_FAILED;
    for (int i = 0; i < p->n_pairs; i++) add_panels(p, &p->pair[i], PANELS / p->n_pairs);
    lra_decay_axes_set(&p->axes);
    return p->n ? 0 : lra_fail(e, "the runs have no layer with kernels in common");
}

/* ---- figure ---------------------------------------------------------------------------------- */

static void add_data(lra_text *t, const plot *p)
{
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < LINES; k++) {
            lra_plot_comment(t, "%s: %s", p->panel[i].name, key[k].text);
            lra_decay_add_block(t, &p->axes, p->panel[i].line[k]);
        }
}

static void add_panel(lra_text *t, int i)
{
    for (int k = 0; k < LINES; k++)
        lra_text_add(t, "%s'%s' index %d using 1:3 with lines lc rgb '%s' lw %g dt %s",
                     k ? ", \\\n     " : "", dat, LINES * i + k, key[k].color, key[k].line,
                     key[k].dash ? key[k].dash : "1");
}

static void add_script(lra_plot *f, const plot *p)
{
    lra_decay_figure d = {
        .axes = &p->axes, .n = p->n, .n_key = LINES, .key = key, .panel = add_panel};
    for (int i = 0; i < p->n; i++) d.name[i] = p->panel[i].name;
    lra_decay_add_script(f, &d);
}

/* The caller frees it. */
static char *title_of(const plot *p)
{
    static const char what[] = "Decay of convolution kernels, from scratch and pretrained";
    const lra_probe_result *r = p->pair[0].scratch;
    if (!all_alike(p)) return lra_copy_text(what);
    char *model = lra_model_shown(r->model, r->model, r->config);
    char *title = p->n_pairs == 1 ? lra_format("%s: %s, %s, seed %lld", what, r->task, model,
                                               (long long)r->seed)
                                  : lra_format("%s: %s, %s", what, r->task, model);
    lra_free(model);
    return title;
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    plot *p = lra_alloc(sizeof *p);
    int rc = open_plot(p, in, e);
    if (rc == 0) {
        f->title = title_of(p);
        for (int i = 0; i < p->n_pairs; i++) {
            lra_plot_source(f, "run", p->pair[i].scratch->run);
            lra_plot_source(f, "run", p->pair[i].pretrained->run);
        }
        for (int i = 0; i < p->n_pairs; i++)
            lra_plot_source(f, "data", p->pair[i].scratch->fingerprint);
        add_data(&f->data, p);
        add_script(f, p);
    }
    for (int i = 0; i < p->n; i++) lra_free(p->panel[i].name);
    lra_free(p);
    return rc;
}

const lra_report_figure lra_figure_spt_kern = {
    "spt-kern", "magnitude of convolution kernels by distance, from scratch and pretrained", make,
    LRA_FROM_KERNELS};
