/* Figure layers: mean distance of the other tokens on which the features after each layer depend
 * (Jacobians), over that of uniform weights, with 95 % intervals over examples; the same at
 * initialisation (dashed). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/model_names.h"
#include "reports/views/probe_measurements.h"

static const char of_layers[] = "layers.";

/* Measurement of layer number i of a run; NULL: there are no more. *layer: its name */
static const lra_measurement *layer_at(const lra_probe_result *r, int i, const char **layer)
{
    for (int u = 0; u < r->n_units; u++) {
        if (strncmp(r->unit[u]->name, of_layers, sizeof of_layers - 1) != 0 || i-- > 0) continue;
        *layer = r->unit[u]->name + sizeof of_layers - 1;
        return lra_probe_measurement(r->unit[u], "dist.mean.rel");
    }
    return NULL;
}

static int count_layers(const lra_probe_result *r)
{
    const char *layer;
    int n = 0;
    while (layer_at(r, n, &layer)) n++;
    return n;
}

static void add_data(lra_text *t, const lra_probe_result *r)
{
    const char *layer;
    lra_plot_comment(t, "run %s: layer, distance/uniform lo hi, at initialisation, name", r->run);
    for (int i = 0; i < count_layers(r); i++) {
        const lra_measurement *f = layer_at(r, i, &layer);
        lra_text_add(t, "%d", i + 1);
        lra_plot_number(t, f->value);
        lra_plot_number(t, f->lo);
        lra_plot_number(t, f->hi);
        lra_plot_number(t, f->null[LRA_NULL_INIT]);
        lra_text_add(t, " %s\n", layer);
    }
    lra_text_add(t, "\n\n");
}

static lra_plot_entry entry_of(int i, int n, const lra_probe_result *r)
{
    const lra_plot_style s = lra_plot_series(i, n, false);
    lra_plot_entry k = {.kind = LRA_LEGEND_LINE, .color = s.color, .dash = s.dash, .line = 2.5};
    char *run = lra_probe_run_name(r), *shown = lra_model_shown(run, r->model, r->config);
    k.point = s.full, k.size = 0.6;
    snprintf(k.text, sizeof k.text, "%s", shown);
    lra_free(shown);
    lra_free(run);
    return k;
}

/* Largest value of the vertical axis, at least 1: uniform weights. */
static double largest(int n, const lra_probe_result *const *list, int *layers, bool *initial)
{
    double most = 1;
    const char *layer;
    *layers = 2, *initial = false;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < count_layers(list[k]); i++) {
            const lra_measurement *f = layer_at(list[k], i, &layer);
            const double x[] = {f->value, f->hi, f->null[LRA_NULL_INIT]};
            for (int j = 0; j < 3; j++)
                if (isfinite(x[j])) most = fmax(most, x[j]);
            *initial = *initial || isfinite(x[2]);
            if (i + 1 > *layers) *layers = i + 1;
        }
    return most;
}

static void add_curves(lra_text *t, int n, const lra_plot_entry *key, bool initial)
{
    lra_text_add(t, "plot 1 with lines lc rgb '#888888' dt " LRA_DASH_CHANCE " lw 2");
    for (int i = 0; i < n; i++) {
        lra_text_add(t,
                     ", 'layers.dat' index %d using 1:2 with linespoints lc rgb '%s' dt %s lw 2.5 "
                     "pt %d ps 0.6, 'layers.dat' index %d using 1:3:(0):($4-$3) with vectors heads "
                     "fixed size screen 0.006,90 lc rgb '%s' lw 1.5",
                     i, key[i].color, key[i].dash ? key[i].dash : "1", key[i].point, i,
                     key[i].color);
        if (initial)
            lra_text_add(
                t,
                ", 'layers.dat' index %d using 1:5 with lines lc rgb '%s' dt " LRA_DASH_DASHES
                " lw 1",
                i, key[i].color);
    }
    lra_text_add(t, "\n");
}

static void add_script(lra_plot *f, int n, const lra_probe_result *const *list)
{
    enum { MOST = LRA_PLOT_STYLES + 1 };
    double left = 1.25, right = f->width - 0.2, bottom = 1.05, height = 4.6, least = 0, most;
    lra_plot_entry key[MOST];
    int layers;
    bool initial;
    most = largest(n, list, &layers, &initial);
    lra_plot_widen(&least, &most, 0.05);
    for (int i = 0; i < n; i++) key[i] = entry_of(i, n, list[i]);
    key[n] = (lra_plot_entry){.text = "uniform weights",
                              .kind = LRA_LEGEND_LINE,
                              .color = "#888888",
                              .dash = LRA_DASH_CHANCE,
                              .line = 2};
    int lines = lra_plot_legend_rows(f, left, n + 1, key);
    f->height = bottom + height + LRA_LINE_CM * (lines + 2.6);
    double top = lra_plot_start(f);
    lra_text *t = &f->script;
    lra_plot_legend(f, left, top, n + 1, key);
    lra_plot_axis(f, 0.25, bottom + height / 2, "mean distance / uniform");
    lra_plot_add_quoted(t, "set label ", "layer, in the order of the model",
                        " at screen %.4g, screen %.4g center\n", 0.5 * (left + right) / f->width,
                        0.22 / f->height);
    lra_plot_box(f, left, right, bottom, bottom + height);
    lra_text_add(t, "set xrange [0.5:%g]\nset yrange [0:%g]\nset xtics %d\nset ytics %g\n",
                 layers + 0.5, most,
                 layers > 24   ? 4
                 : layers > 12 ? 2
                               : 1,
                 lra_plot_step(most));
    add_curves(t, n, key, initial);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    const lra_probe_result *list[LRA_PLOT_STYLES];
    int n = 0;
    for (int i = 0; i < in->n_probes; i++) {
        if (count_layers(in->probes[i]) < 2) continue;
        if (n == LRA_PLOT_STYLES)
            return lra_fail(e, "one figure holds at most %d runs; name fewer", LRA_PLOT_STYLES);
        list[n++] = in->probes[i];
        lra_plot_source(f, "run", in->probes[i]->run);
        lra_plot_source(f, "data", in->probes[i]->fingerprint);
        add_data(&f->data, in->probes[i]);
    }
    if (n == 0)
        return lra_fail(e,
                        "no run has distances by layer; 'lra-probe audit --parts layers' measures "
                        "them, of a model that names its layers");
    f->width = lra_plot_wide(LRA_COLUMN_CM);
    f->title = lra_copy_text("Distance of influential tokens by layer");
    f->caption = lra_copy_text("Dashed lines, where given: at initialisation.");
    add_script(f, n, list);
    return 0;
}

const lra_report_figure lra_figure_layers = {
    "layers", "mean distance of the tokens on which the features after each layer depend", make,
    LRA_FROM_INFLUENCE};
