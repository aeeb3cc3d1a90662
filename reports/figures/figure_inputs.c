/* Figure inputs: gain that remains on restricted and changed inputs, one panel per part of
 * lra-probe influence, one curve per run, with 95 % intervals. If no run has a gain (at chance, or
 * without labels), a panel shows the KL divergence from the prediction on the full input. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/model_names.h"
#include "reports/views/probe_measurements.h"

enum { MOST_RUNS = LRA_PLOT_STYLES, MOST_PARTS = 12, COLUMNS = 3 };

static const struct {
    const char *name, *x;
} parts[] = {{"keep", "window (tokens)"},     {"swap", "window (tokens)"},
             {"token", "window (tokens)"},    {"mask", "window (tokens)"},
             {"prune", "window (tokens)"},    {"bag", "window (tokens)"},
             {"order-in", "window (tokens)"}, {"order-out", "window (tokens)"},
             {"drop", "distance (tokens)"},   {"drop-token", "distance (tokens)"},
             {"length", "length (tokens)"},   {"shift", "shift (positions)"}};
_Static_assert(sizeof parts / sizeof *parts <= MOST_PARTS, "too many parts");

/* A panel: the points and the curve (points, 3) of each run; NULL: the run has none. */
typedef struct {
    const char *name, *axis;
    bool gain; /* true: gains; false: KL divergences */
    const lra_probe_array *x[MOST_RUNS], *curve[MOST_RUNS];
    int block[MOST_RUNS];
    double least, most; /* range of the values and of their intervals */
    double first, last; /* range of x */
} panel;

static bool has_values(const lra_probe_array *x, const lra_probe_array *curve)
{
    if (!x || !curve || x->rank != 1 || curve->rank != 2 || curve->dims[1] != 3) return false;
    if (curve->dims[0] != x->dims[0]) return false;
    for (int64_t i = 0; i < x->dims[0]; i++)
        if (isfinite(curve->value[3 * i])) return true;
    return false;
}

/* Finds the curves of a part under one name; returns their number. */
static int find_curves(int n, const lra_probe_result *const *run, const char *array, panel *p)
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        const lra_probe_unit *u = lra_probe_unit_find(run[i], p->name);
        const lra_probe_array *x = u ? lra_probe_array_find(u, "x") : NULL;
        const lra_probe_array *curve = u ? lra_probe_array_find(u, array) : NULL;
        bool drawn = has_values(x, curve);
        p->x[i] = drawn ? x : NULL, p->curve[i] = drawn ? curve : NULL;
        found += drawn;
    }
    return found;
}

static void find_range(int n, panel *p)
{
    p->least = p->gain ? -0.05 : 0, p->most = p->gain ? 1.07 : 0;
    p->first = INFINITY, p->last = -INFINITY;
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; p->x[i] && k < p->x[i]->dims[0]; k++) {
            const float *v = p->curve[i]->value + 3 * k;
            double x = (double)p->x[i]->value[k];
            p->first = fmin(p->first, x), p->last = fmax(p->last, x);
            for (int j = 0; j < 3; j++)
                if (isfinite(v[j])) {
                    p->least = fmin(p->least, (double)v[j]);
                    p->most = fmax(p->most, (double)v[j]);
                }
        }
    if (p->gain) p->least = fmax(p->least, -0.6), p->most = fmin(p->most, 1.6);
    if (!p->gain) p->most = p->most > 0 ? 1.05 * p->most : 1;
}

/* x on the axis: its logarithm, or x itself if the axis contains 0. */
static double place(const panel *p, double x)
{
    return p->first > 0 ? log2(x) : x;
}

static void add_data(lra_text *t, int n, const lra_probe_result *const *run, panel *p, int *block)
{
    for (int i = 0; i < n; i++) {
        if (!p->x[i]) continue;
        p->block[i] = (*block)++;
        lra_plot_comment(t, "run %s, %s: x on the axis, %s lo hi, x", run[i]->run, p->name,
                         p->gain ? "gain" : "KL (nats)");
        for (int64_t k = 0; k < p->x[i]->dims[0]; k++) {
            double x = (double)p->x[i]->value[k];
            lra_text_add(t, "%.6g", place(p, x));
            for (int j = 0; j < 3; j++) lra_plot_number(t, (double)p->curve[i]->value[3 * k + j]);
            lra_text_add(t, " %g\n", x);
        }
        lra_text_add(t, "\n\n");
    }
}

/* Ticks at most five of the points of the first run of the panel. */
static void add_ticks(lra_text *t, int n, const panel *p)
{
    int i = 0;
    while (i < n && !p->x[i]) i++;
    int64_t points = p->x[i]->dims[0], step = (points + 4) / 5;
    lra_text_add(t, "set xtics (");
    for (int64_t k = 0; k < points; k += step) {
        char text[32];
        snprintf(text, sizeof text, "%g", (double)p->x[i]->value[k]);
        lra_text_add(t, k ? ", " : "");
        lra_plot_tick(t, text, place(p, (double)p->x[i]->value[k]));
    }
    lra_text_add(t, ")\n");
}

static void add_panel(lra_text *t, int n, const panel *p)
{
    double first = place(p, p->first), last = place(p, p->last),
           more = 0.04 * (last - first) + 0.02;
    char *title = lra_format("%s: %s", p->name, p->gain ? "gain" : "KL (nats)");
    lra_text_add(t, "set xrange [%g:%g]\nset yrange [%g:%g]\n", first - more, last + more, p->least,
                 p->most);
    if (p->gain)
        lra_text_add(t, "set ytics ('0' 0, '0.5' 0.5, '1' 1)\n");
    else
        lra_text_add(t, "set ytics %g\n", lra_plot_step(p->most));
    add_ticks(t, n, p);
    lra_plot_add_quoted(t, "set label ", title, " at graph 0, graph 1.1 left font ',7'\n");
    lra_plot_add_quoted(t, "set label ", p->axis,
                        " at graph 0.5, graph -0.36 center font ',7' textcolor rgb '#555555'\n");
    lra_text_add(t, "plot 0 with lines lc rgb '#999999' lw 1");
    if (p->gain) lra_text_add(t, ", 1 with lines lc rgb '#999999' lw 1");
    for (int i = 0; i < n; i++) {
        const lra_plot_style *s = &lra_plot_styles[i];
        if (!p->x[i]) continue;
        lra_text_add(
            t,
            ", 'inputs.dat' index %d using 1:3:(0):($4-$3) with vectors nohead lc rgb '%s' "
            "lw 1.2, 'inputs.dat' index %d using 1:2 with linespoints lc rgb '%s' dt %s "
            "lw 2 pt %d ps 0.5",
            p->block[i], s->color, p->block[i], s->color, s->dash, s->full);
    }
    lra_text_add(t, "\nunset label\nunset arrow\nunset object\n");
    lra_free(title);
}

static void add_script(lra_plot *f, int n, const lra_probe_result *const *run, int n_panels,
                       const panel *list)
{
    int columns = n_panels < COLUMNS ? n_panels : COLUMNS,
        rows = (n_panels + columns - 1) / columns;
    double left = 0.9, right = f->width - 0.15, gap = 0.85, height = 2.3, step = 3.8;
    lra_plot_entry key[MOST_RUNS];
    for (int i = 0; i < n; i++) {
        char *name = lra_probe_run_name(run[i]),
             *shown = lra_model_shown(name, run[i]->model, run[i]->config);
        const lra_plot_style *s = &lra_plot_styles[i];
        key[i] = (lra_plot_entry){.kind = LRA_LEGEND_LINE,
                                  .color = s->color,
                                  .dash = s->dash,
                                  .line = 2,
                                  .point = s->full,
                                  .size = 0.5};
        snprintf(key[i].text, sizeof key[i].text, "%s", shown);
        lra_free(name);
        lra_free(shown);
    }
    int lines = lra_plot_legend_rows(f, left, n, key);
    f->height = rows * step + LRA_LINE_CM * (lines + 2);
    double top = lra_plot_start(f), width = (right - left - gap * (columns - 1)) / columns;
    lra_text_add(&f->script, "set multiplot\n");
    lra_plot_legend(f, left, top, n, key);
    top = rows * step - 0.2;
    for (int i = 0; i < n_panels; i++) {
        double x = left + (i % columns) * (width + gap), y = top - height - (i / columns) * step;
        lra_plot_box(f, x, x + width, y, y + height);
        if (i == 1) lra_text_add(&f->script, "unset arrow\nunset object\n");
        add_panel(&f->script, n, &list[i]);
    }
    lra_text_add(&f->script, "unset multiplot\n");
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    panel list[MOST_PARTS];
    const lra_probe_result *run[MOST_RUNS];
    int n = in->n_probes < MOST_RUNS ? in->n_probes : MOST_RUNS, n_panels = 0, block = 0;
    for (int i = 0; i < n; i++) run[i] = in->probes[i];
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        panel *p = &list[n_panels];
        *p = (panel){.name = parts[k].name, .axis = parts[k].x, .gain = true};
        if (find_curves(n, run, "gain", p) == 0) {
            p->gain = false;
            if (find_curves(n, run, "kl", p) == 0) continue;
        }
        find_range(n, p);
        add_data(&f->data, n, run, p, &block);
        n_panels++;
    }
    if (n_panels == 0)
        return lra_fail(e, "no run was measured on restricted inputs; 'lra-probe influence RUN "
                           "--parts keep' measures it");
    for (int i = 0; i < n; i++) {
        lra_plot_source(f, "run", run[i]->run);
        lra_plot_source(f, "data", run[i]->fingerprint);
    }
    f->width = lra_plot_wide(n_panels > 1 ? LRA_PAGE_CM : LRA_COLUMN_CM);
    f->title = lra_copy_text(
        "Restricted and changed inputs: gain, or divergence from the full input");
    if (in->n_probes > n) f->caption = lra_format("The first %d of %d runs.", n, in->n_probes);
    add_script(f, n, run, n_panels, list);
    return 0;
}

const lra_report_figure lra_figure_inputs = {
    "inputs", "gain that remains on restricted and changed inputs, one panel per part", make,
    LRA_FROM_INFLUENCE};
