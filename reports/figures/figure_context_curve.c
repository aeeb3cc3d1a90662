/* Figure context-curve: loss of language models by the number of tokens before the predicted token,
 * in bits, with 95 % intervals over rows. Horizontal lines in the colour of a curve: its loss with
 * the full context (dashed) and, in grey, the loss by token frequencies (null value). */
#include <math.h>
#include <stdio.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/model_names.h"
#include "reports/views/probe_measurements.h"

typedef struct {
    const lra_probe_result *run;
    const lra_probe_array *x, *loss;
    double full, unigram;
} curve;

static bool find_curve(const lra_probe_result *r, curve *c)
{
    const lra_probe_unit *u = lra_probe_unit_find(r, "context-curve");
    const lra_probe_array *unigram = u ? lra_probe_array_find(u, "unigram") : NULL;
    *c = (curve){.run = r};
    if (!unigram) return false;
    c->x = lra_probe_array_find(u, "x"), c->loss = lra_probe_array_find(u, "loss");
    if (!c->x || !c->loss || c->loss->rank != 2 || c->loss->dims[1] != 3) return false;
    if (c->x->rank != 1 || c->loss->dims[0] != c->x->dims[0] || c->x->dims[0] < 2) return false;
    c->full = (double)c->loss->value[3 * (c->x->dims[0] - 1)];
    c->unigram = (double)unigram->value[0];
    return true;
}

static void add_data(lra_text *t, const curve *c)
{
    lra_plot_comment(t, "run %s: context (tokens), loss (bits) lo hi; full %.6g, unigram %.6g",
                     c->run->run, c->full, c->unigram);
    for (int64_t i = 0; i < c->x->dims[0]; i++) {
        lra_text_add(t, "%.6g", (double)c->x->value[i]);
        for (int k = 0; k < 3; k++) lra_plot_number(t, (double)c->loss->value[3 * i + k]);
        lra_text_add(t, "\n");
    }
    lra_text_add(t, "\n\n");
}

static lra_plot_entry entry_of(int i, int n, const curve *c)
{
    const lra_plot_style s = lra_plot_series(i, n, false);
    lra_plot_entry k = {.kind = LRA_LEGEND_LINE, .color = s.color, .dash = s.dash, .line = 2.5};
    char *run = lra_probe_run_name(c->run),
         *shown = lra_model_shown(run, c->run->model, c->run->config);
    k.point = s.full, k.size = 0.6;
    snprintf(k.text, sizeof k.text, "%s", shown);
    lra_free(shown);
    lra_free(run);
    return k;
}

/* Ranges of the axes over all curves. */
typedef struct {
    double least, most, end;
} ranges;

static ranges ranges_of(int n, const curve *list)
{
    ranges a = {INFINITY, -INFINITY, 2};
    for (int i = 0; i < n; i++) {
        const curve *c = &list[i];
        a.most = fmax(a.most, c->unigram), a.least = fmin(a.least, c->unigram);
        a.end = fmax(a.end, (double)c->x->value[c->x->dims[0] - 1]);
        for (int64_t k = 0; k < 3 * c->x->dims[0]; k++) {
            double y = (double)c->loss->value[k];
            if (isfinite(y)) a.least = fmin(a.least, y), a.most = fmax(a.most, y);
        }
    }
    lra_plot_widen(&a.least, &a.most, 0.05);
    return a;
}

static void add_ticks(lra_text *t, double end)
{
    lra_text_add(t, "set xtics (");
    for (double x = 1; x <= end; x *= end > 4096 ? 8 : end > 256 ? 4 : 2) {
        char text[32];
        snprintf(text, sizeof text, "%.0f", x);
        if (x > 1) lra_text_add(t, ", ");
        lra_plot_tick(t, text, x);
    }
    lra_text_add(t, ")\n");
}

static void add_script(lra_plot *f, int n, const curve *list)
{
    enum { MOST = LRA_PLOT_STYLES + 1 };
    double left = 1.25, right = f->width - 0.2, bottom = 1.05, height = 4.6;
    lra_plot_entry key[MOST];
    ranges a = ranges_of(n, list);
    for (int i = 0; i < n; i++) key[i] = entry_of(i, n, &list[i]);
    key[n] = (lra_plot_entry){.text = "token frequencies",
                              .kind = LRA_LEGEND_LINE,
                              .color = "#888888",
                              .dash = LRA_DASH_CHANCE,
                              .line = 2};
    int lines = lra_plot_legend_rows(f, left, n + 1, key);
    f->height = bottom + height + LRA_LINE_CM * (lines + 2.6);
    double top = lra_plot_start(f);
    lra_text *t = &f->script;
    lra_plot_legend(f, left, top, n + 1, key);
    lra_plot_axis(f, 0.25, bottom + height / 2, "loss (bits per token)");
    lra_plot_add_quoted(t, "set label ", "tokens before the predicted token",
                        " at screen %.4g, screen %.4g center\n", 0.5 * (left + right) / f->width,
                        0.22 / f->height);
    lra_plot_box(f, left, right, bottom, bottom + height);
    lra_text_add(t, "set logscale x 2\nset xrange [0.9:%g]\nset yrange [%g:%g]\nset ytics %g\n",
                 1.1 * a.end, a.least, a.most, lra_plot_step(a.most - a.least));
    add_ticks(t, a.end);
    lra_text_add(t, "plot ");
    for (int i = 0; i < n; i++)
        lra_text_add(t,
                     "%s%g with lines lc rgb '#888888' dt " LRA_DASH_CHANCE
                     " lw 2, %g with lines lc rgb '%s' dt " LRA_DASH_DASHES " lw 1",
                     i ? ", " : "", list[i].unigram, list[i].full, key[i].color);
    for (int i = 0; i < n; i++)
        lra_text_add(t,
                     ", 'context-curve.dat' index %d using 1:2 with linespoints lc rgb '%s' dt %s "
                     "lw 2.5 pt %d ps 0.6, 'context-curve.dat' index %d using 1:3:(0):($4-$3) with "
                     "vectors heads fixed size screen 0.006,90 lc rgb '%s' lw 1.5",
                     i, key[i].color, key[i].dash ? key[i].dash : "1", key[i].point, i,
                     key[i].color);
    lra_text_add(t, "\n");
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    curve list[LRA_PLOT_STYLES];
    int n = 0;
    for (int i = 0; i < in->n_probes; i++) {
        curve c;
        if (!find_curve(in->probes[i], &c)) continue;
        if (n == LRA_PLOT_STYLES)
            return lra_fail(e, "one figure holds at most %d runs; name fewer on the command line",
                            LRA_PLOT_STYLES);
        list[n++] = c;
        lra_plot_source(f, "run", c.run->run);
        lra_plot_source(f, "data", c.run->fingerprint);
        add_data(&f->data, &c);
    }
    if (n == 0)
        return lra_fail(e, "no run has a context curve; 'lra-probe influence RUN --parts "
                           "context-curve' measures it, of a language model");
    f->width = lra_plot_wide(LRA_COLUMN_CM);
    f->title = lra_copy_text("Loss by context length");
    f->caption = lra_copy_text("Dashed horizontal lines: loss with the full context.");
    add_script(f, n, list);
    return 0;
}

const lra_report_figure lra_figure_context_curve = {
    "context-curve", "loss of language models by the number of tokens before the predicted token",
    make, LRA_FROM_INFLUENCE};
