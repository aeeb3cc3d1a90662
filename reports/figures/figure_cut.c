/* Figure cut: gain over chance that remains for a run under a distance limit r per layer (in all
 * layers together, and in each layer alone), and if each position is computed only from the tokens
 * at most r away (context, a limit of the complete model). One panel per run. Bars: 95 % intervals
 * of the curve of all layers. Horizontal lines: 0 and 1. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/probe_measurements.h"
#include "reports/views/probe_view.h"
#include "reports/views/model_names.h"

enum { MOST_PANELS = 12, MOST_LIMITS = LRA_PLOT_STYLES + 1, MOST_CURVES = MOST_LIMITS + 1 };

/* The curves of a run: first all layers, then each layer, last the context limit. */
typedef struct {
    const lra_probe_result *run;
    int n;
    const lra_probe_unit *unit[MOST_CURVES];
    int block; /* index of the data block of the first curve */
} panel;

static void find_curves(const lra_probe_result *r, panel *p)
{
    int left_out = 0;
    *p = (panel){.run = r};
    for (int u = 0; u < r->n_units; u++) {
        if (!lra_probe_limited_layers(r->unit[u]) || strstr(r->unit[u]->name, ".head")) continue;
        if (p->n == MOST_LIMITS)
            left_out++;
        else
            p->unit[p->n++] = r->unit[u];
    }
    if (left_out)
        lra_note("run %s: the curves of the last %d layers are not drawn, a panel holds %d", r->run,
                 left_out, LRA_PLOT_STYLES);
    const lra_probe_unit *context = lra_probe_unit_find(r, "context");
    if (p->n && context && lra_probe_limited_model(context)) p->unit[p->n++] = context;
}

static bool is_context(const panel *p, int c)
{
    return lra_probe_limited_model(p->unit[c]) != NULL;
}

/* Number of curves with limits per layer: all except the context limit. */
static int limits_of(const panel *p)
{
    return p->n - (p->n > 0 && is_context(p, p->n - 1));
}

static double place(double r)
{
    return log2(r + 1);
}

/* Adds a data block for each curve: log2(r + 1), gain, lower and upper end. */
static void add_data(lra_text *t, const panel *p)
{
    for (int c = 0; c < p->n; c++) {
        const lra_probe_array *x = lra_probe_array_find(p->unit[c], "x");
        const lra_probe_array *gain = lra_probe_array_find(p->unit[c], "gain");
        lra_plot_comment(t, "run %s, %s: log2(r + 1), gain lo hi", p->run->run, p->unit[c]->name);
        for (int64_t i = 0; i < x->dims[0]; i++) {
            lra_text_add(t, "%.6g", place((double)x->value[i]));
            for (int k = 0; k < 3; k++) lra_plot_number(t, (double)gain->value[3 * i + k]);
            lra_text_add(t, "\n");
        }
        lra_text_add(t, "\n\n");
    }
}

/* Legend entry of curve c: black for all layers, else a colour from light to dark by layer. */
static lra_plot_entry entry_of(const panel *p, int c)
{
    lra_plot_entry k = {.kind = LRA_LEGEND_LINE, .color = "#000000", .line = 3, .point = 7};
    const char *name = p->unit[c]->name;
    k.size = 0.5;
    snprintf(k.text, sizeof k.text, "%s",
             is_context(p, c) ? "in the model's input (context)"
             : name[3]        ? name + 4
                              : "in all layers");
    if (c == 0) return k;
    if (is_context(p, c)) {
        k.color = "#c00000", k.line = 2, k.point = 5;
        return k;
    }
    const lra_plot_style *s = &lra_plot_styles[c - 1];
    k.color = lra_plot_ramp(c - 1, limits_of(p) - 1), k.dash = s->dash, k.line = 2,
    k.point = s->hollow;
    k.size = 0.6;
    return k;
}

static bool at_chance(const panel *p)
{
    const lra_probe_array *gain = lra_probe_array_find(p->unit[0], "gain");
    bool known = false;
    for (int64_t i = 0; i < gain->dims[0]; i++) known = known || !isnan(gain->value[3 * i]);
    return !known;
}

/* Lower end of the gain axis: the smallest value of all curves and intervals, at most 0. */
static double least_gain(int n, const panel *list)
{
    double least = -0.05;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < list[i].n; c++) {
            const lra_probe_array *g = lra_probe_array_find(list[i].unit[c], "gain");
            for (int64_t k = 0; k < g->dims[0]; k++)
                least = fmin(least, (double)g->value[3 * k + (c == 0)] - 0.05);
        }
    return fmax(least, -0.5);
}

/* Upper end of the gain axis: the largest value, limited to 1 .. 1.6. */
static double most_gain(int n, const panel *list)
{
    double most = 1.07;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < list[i].n; c++) {
            const lra_probe_array *g = lra_probe_array_find(list[i].unit[c], "gain");
            for (int64_t k = 0; k < g->dims[0]; k++)
                most = fmax(most, (double)g->value[3 * k + (c == 0 ? 2 : 0)]);
        }
    return fmin(most, 1.55) + 0.05;
}

/* Axes that all panels share. */
typedef struct {
    double width, end, least, most;
} axes;

static void add_panel(lra_text *t, const panel *p, const axes *a, bool left, bool bottom)
{
    char *run = lra_probe_run_name(p->run),
         *whole = lra_model_shown(run, p->run->model, p->run->config),
         *name = lra_plot_fit(whole, a->width, 7);
    lra_free(run);
    lra_text_add(t, "set xrange [-0.15:%g]\nset yrange [%g:%g]\nset ytics (%s)\nset xtics (",
                 place(a->end) + 0.15, a->least, a->most,
                 left ? "'0' 0, '0.5' 0.5, '1' 1" : "'' 0, '' 0.5, '' 1");
    lra_plot_tick(t, bottom ? "0" : "", 0);
    for (double r = 1; r <= a->end; r *= 4) {
        char text[32] = "";
        if (bottom) snprintf(text, sizeof text, "%.0f", r);
        lra_text_add(t, ", ");
        lra_plot_tick(t, text, place(r));
    }
    lra_plot_add_quoted(t, ")\nset label ", name, " at graph 0.5, graph 1.08 center font ',7'\n");
    if (at_chance(p))
        lra_text_add(t, "set label 'at chance: gain undefined' at graph 0.5, graph 0.5 center "
                        "font ',7'\n");
    lra_text_add(t, "plot 0 with lines lc rgb '#999999' lw 1, 1 with lines lc rgb '#999999' lw 1");
    for (int c = p->n - 1; c >= 0; c--) {
        lra_plot_entry k = entry_of(p, c);
        lra_text_add(t,
                     ", 'cut.dat' index %d using 1:2 with linespoints lc rgb '%s' dt %s lw %g "
                     "pt %d ps %g",
                     p->block + c, k.color, k.dash ? k.dash : "1", k.line, k.point, k.size);
    }
    if (p->n)
        lra_text_add(t,
                     ", 'cut.dat' index %d using 1:3:(0):($4-$3) with vectors heads fixed size "
                     "screen 0.006,90 lc rgb '#000000' lw 1.5",
                     p->block);
    lra_text_add(t, "\nunset label\n");
    lra_free(whole);
    lra_free(name);
}

static void add_script(lra_plot *f, int n, const panel *list)
{
    int columns = n < 3 ? n : 3, rows = (n + columns - 1) / columns, most = 0, entries;
    double left = 1.25, right = f->width - 0.15, bottom = 1.05, gap = 0.2, height = 2.8, end = 1;
    lra_plot_entry key[MOST_CURVES];
    for (int i = 0; i < n; i++) {
        if (list[i].n > list[most].n) most = i;
        end = fmax(end, (double)list[i].run->max_length);
    }
    entries = list[most].n;
    for (int c = 0; c < entries; c++) key[c] = entry_of(&list[most], c);
    int lines = lra_plot_legend_rows(f, left, entries, key);
    f->height = bottom + rows * (height + 0.55) + LRA_LINE_CM * (lines + 2.6);
    double top = lra_plot_start(f), width = (right - left - gap * (columns - 1)) / columns;
    axes a = {width, end, least_gain(n, list), most_gain(n, list)};
    lra_text_add(&f->script, "set multiplot\n");
    lra_plot_legend(f, left, top, entries, key);
    top = bottom + rows * (height + 0.55) - 0.4;
    lra_plot_axis(f, 0.25, 0.5 * (bottom + top), "gain kept (1 = full input)");
    lra_plot_add_quoted(&f->script, "set label ", "distance limit (tokens)",
                        " at screen %.4g, screen %.4g center\n", 0.5 * (left + right) / f->width,
                        0.22 / f->height);
    for (int i = 0; i < n; i++) {
        double x = left + (i % columns) * (width + gap),
               y = top - height - (i / columns) * (height + 0.55);
        lra_plot_box(f, x, x + width, y, y + height);
        add_panel(&f->script, &list[i], &a, i % columns == 0, i + columns >= n);
        if (i == 0) lra_text_add(&f->script, "unset arrow\nunset object\n");
    }
    lra_text_add(&f->script, "unset multiplot\n");
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    panel list[MOST_PANELS];
    int n = 0, block = 0;
    for (int i = 0; i < in->n_probes; i++) {
        panel p;
        find_curves(in->probes[i], &p);
        if (p.n == 0) continue;
        if (n == MOST_PANELS)
            return lra_fail(e, "one figure holds at most %d runs; name fewer on the command line",
                            MOST_PANELS);
        p.block = block, block += p.n;
        list[n++] = p;
        lra_plot_source(f, "run", p.run->run);
        lra_plot_source(f, "data", p.run->fingerprint);
        add_data(&f->data, &p);
    }
    if (n == 0)
        return lra_fail(
            e, "no run has gains under a distance limit; 'lra-probe influence RUN' measures them");
    f->width = lra_plot_wide(n > 1 ? LRA_PAGE_CM : LRA_COLUMN_CM);
    f->title = lra_copy_text("Gain kept under a distance limit");
    add_script(f, n, list);
    return 0;
}

const lra_report_figure lra_figure_cut = {
    "cut", "gain kept under a distance limit, per layer and for the model's input", make,
    LRA_FROM_INFLUENCE};
