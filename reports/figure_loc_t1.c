/* Figure loc-T1: the ladder as curves.  Above accuracy (or another metric), below gain over chance, against total reach on a
 * logarithmic axis; bands are 95 % intervals; hollow points are the printed values, beside the `paper` preset
 * alone.  Lines for one ladder: reference, chance, the baseline that needs no order, the null row K = 1; for
 * several: the reference of each as a mark at the right edge.
 * Source: Table 1 of "On the locality bias and results in the LRA", drawn as curves. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "reports/plot.h"
#include "reports/published.h"
#include "reports/report.h"

enum { MOST_CURVES = LRA_PLOT_STYLES, MOST_TICKS = 64, REFERENCE_DASH = 1 };
static const char dat[] = "loc-T1.dat";

/* The ladders of a figure and the ranges of its axes. */
typedef struct {
    const lra_ladder_view *view;
    int n;
    double x0, x1, y0, y1; /* tokens; the metric as people read it */
    double gain0, gain1;
    bool paper;
} plot;

static bool is_paper(const lra_ladder_view *v)
{
    return strcmp(v->first->preset, "paper") == 0;
}

/* The printed accuracy of a rung of the `paper` preset as a fraction, else NAN. */
static double published(const lra_ladder_view *v, int r)
{
    char variant[32];
    snprintf(variant, sizeof variant, "kernel=%" PRId64, v->ladder.row[r].kernel);
    if (!is_paper(v) || !lra_ladder_is_plain(&v->kind)) return NAN;
    return lra_published("locality", "1", "resconv", variant, v->first->task, "accuracy") / 100;
}

/* A score of the ladder as people read it: "%", or bits. */
static double shown(const lra_ladder_view *v, double score)
{
    return v->metric->scale * lra_ladder_value(v, score);
}

static double gain_of(const lra_ladder_view *v, double accuracy)
{
    double span = v->ladder.reference - v->data.chance;
    return span > 0 ? (accuracy - v->data.chance) / span : NAN;
}

/* ---- data ------------------------------------------------------------------------------------------------- */

/* One block per ladder; "?" where there is no number; the null row is no part of a curve. */
static void add_data(lra_text *t, const lra_ladder_view *v)
{
    lra_text_add(t, "# %s %s %s, run %s\n# reach kernel %s lo hi gain lo hi published its-gain\n",
                 v->first->task, v->first->preset, v->first->precision, v->first->run,
                 v->metric->name);
    for (int r = 0; r < v->ladder.n_rungs; r++) {
        const lra_ladder_row *row = &v->ladder.row[r];
        double p = published(v, r);
        lra_estimate metric = lra_ladder_values(v, row->accuracy);
        double scale = v->metric->scale;
        const double value[] = {
            scale * metric.value, scale * metric.lo, scale * metric.hi, row->gain.value,
            row->gain.lo,         row->gain.hi,      scale * p,         gain_of(v, p)};
        if (row->null_row) continue;
        lra_text_add(t, "%" PRId64 " %" PRId64, row->reach, row->kernel);
        for (size_t i = 0; i < sizeof value / sizeof *value; i++) lra_plot_number(t, value[i]);
        lra_text_add(t, "\n");
    }
    lra_text_add(t, "\n\n");
}

/* ---- axes ------------------------------------------------------------------------------------------------- */

/* fmin and fmax pass over NAN. */
static void widen(double *lo, double *hi, double x)
{
    *lo = fmin(*lo, x), *hi = fmax(*hi, x);
}

static void set_ranges(plot *p)
{
    double y0 = INFINITY, y1 = -INFINITY;
    p->x0 = INFINITY, p->x1 = 0, p->gain0 = 0, p->gain1 = 1;
    for (int i = 0; i < p->n; i++) {
        const lra_ladder_view *v = &p->view[i];
        p->paper = p->paper || is_paper(v);
        widen(&y0, &y1, shown(v, v->ladder.reference));
        for (int r = 0; r < v->ladder.n_rungs; r++) {
            const lra_ladder_row *row = &v->ladder.row[r];
            widen(&y0, &y1, shown(v, row->accuracy.lo));
            widen(&y0, &y1, shown(v, row->accuracy.hi));
            if (row->null_row) continue;
            widen(&p->x0, &p->x1, (double)row->reach);
            widen(&p->gain0, &p->gain1, row->gain.lo);
            widen(&p->gain0, &p->gain1, row->gain.hi);
            widen(&p->gain0, &p->gain1, gain_of(v, published(v, r)));
        }
    }
    for (int i = 0; i < p->n; i++) { /* a chance far away (perplexity) would flatten the curves */
        const lra_ladder_view *v = &p->view[i];
        double chance = shown(v, v->data.chance), near = 3 * (y1 - y0);
        if (v->first->n_classes || (chance > y0 - near && chance < y1 + near))
            widen(&y0, &y1, chance);
    }
    p->x0 /= 1.25, p->x1 *= 1.25;
    p->y0 = y0 - 0.06 * (y1 - y0);
    if (p->view[0].first->n_classes) p->y0 = fmax(p->y0, 0);
    p->y1 = y1 + 0.1 * (y1 - y0);
    double pad = 0.05 * (p->gain1 - p->gain0);
    p->gain0 -= p->gain0 < 0 ? pad : 0;
    p->gain1 += 2 * pad;
}

/* Ticks at the reaches of all ladders, with numbers (of reaches, or kernels) or without; those closer than a
 * third of an octave to the last one stay without. */
static void add_ticks(lra_text *t, const plot *p, const char *axis, bool numbers, bool kernels)
{
    int64_t reach[MOST_TICKS], kernel[MOST_TICKS];
    int n = 0;
    for (int i = 0; i < p->n; i++)
        for (int r = 0; r < p->view[i].ladder.n_rungs; r++) {
            const lra_ladder_row *row = &p->view[i].ladder.row[r];
            int at = n;
            while (at > 0 && reach[at - 1] >= row->reach) at--;
            if (row->null_row || n == MOST_TICKS || (at < n && reach[at] == row->reach)) continue;
            memmove(reach + at + 1, reach + at, (size_t)(n - at) * sizeof *reach);
            memmove(kernel + at + 1, kernel + at, (size_t)(n - at) * sizeof *kernel);
            reach[at] = row->reach, kernel[at] = row->kernel;
            n++;
        }
    double last = 0;
    char first[LRA_LADDER_WORD + 4];
    snprintf(first, sizeof first,
             "%s = ", strcmp(p->view[0].kind.axis, "kernel") ? p->view[0].kind.axis : "K");
    lra_text_add(t, "set %s (", axis);
    for (int i = 0; i < n; i++) {
        bool close = last > 0 && log2((double)reach[i] / last) < 0.33;
        if (!numbers || close)
            lra_text_add(t, "%s'' %" PRId64, i ? ", " : "", reach[i]);
        else
            lra_text_add(t, "%s'%s%" PRId64 "' %" PRId64, i ? ", " : "",
                         kernels && i == 0 ? first : "", kernels ? kernel[i] : reach[i], reach[i]);
        if (!close) last = (double)reach[i];
    }
    lra_text_add(t, ")\n");
}

/* ---- names ------------------------------------------------------------------------------------------------ */

enum { N_PARTS = 5 };

/* What tells ladders apart: task, preset, precision, axis and match (empty: plain kernels), seeds; caller frees. */
static char *part(const lra_ladder_view *v, int i)
{
    const char *const text[] = {v->first->task, v->first->preset, v->first->precision};
    if (i < 3) return lra_copy_text(text[i]);
    if (i == 3) return lra_ladder_kind_text(&v->kind);
    int n = v->data.n_seeds;
    return lra_format("%d seed%s%s", n, n == 1 ? "" : "s", n < 3 ? " (few-seeds)" : "");
}

/* The parts that all ladders share (shared), or those of ladder k that they do not; caller frees. */
static char *parts(const plot *p, int k, bool shared)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (int i = 0; i < N_PARTS; i++) {
        char *own = part(&p->view[k], i);
        bool same = true;
        for (int v = 0; v < p->n; v++) {
            char *other = part(&p->view[v], i);
            same = same && strcmp(own, other) == 0;
            lra_free(other);
        }
        const char *word = i == 3 && *own ? own + 2 : own; /* without its comma */
        if (same == shared && *word) lra_text_add(&t, "%s%s", t.n ? ", " : "", word);
        lra_free(own);
    }
    return t.s;
}

/* The legend of ladder k; caller frees. */
static char *title_of(const plot *p, int k)
{
    double li = p->view[k].ladder.li.value;
    if (p->n == 1) return lra_copy_text("measured, 95 % band");
    char *name = parts(p, k, false);
    char *title = isfinite(li) ? lra_format("%s: LI %.2f", name, li) : lra_copy_text(name);
    lra_free(name);
    return title;
}

/* ---- curves ----------------------------------------------------------------------------------------------- */

/* Bands below, curves, published points on top.  column: of the value; lo and hi follow it. */
static void add_curves(lra_text *t, const plot *p, int column, int published_column)
{
    static const char next[] = ", \\\n     ";
    lra_text_add(t, "plot ");
    for (int i = 0; i < p->n; i++)
        lra_text_add(t, "'%s' index %d using 1:%d:%d with filledcurves lc rgb '%s' notitle%s", dat,
                     i, column + 1, column + 2, lra_plot_styles[i].color, next);
    for (int i = 0; i < p->n; i++) {
        const lra_plot_style *s = &lra_plot_styles[i];
        char *name = title_of(p, i);
        lra_text_add(t,
                     "%s'%s' index %d using 1:%d with linespoints lc rgb '%s' lw 1.8 dt %s pt %d "
                     "ps 0.5 title '%s'",
                     i ? next : "", dat, i, column, s->color, s->dash, s->full, name);
        lra_free(name);
    }
    for (int i = 0; i < p->n; i++)
        if (is_paper(&p->view[i]))
            lra_text_add(t,
                         "%s'%s' index %d using 1:%d with points lc rgb '%s' lw 1.2 pt %d ps 1 %s",
                         next, dat, i, published_column, lra_plot_styles[i].color,
                         lra_plot_styles[i].hollow, p->n == 1 ? "title 'published'" : "notitle");
    if (p->n > 1 && p->paper)
        lra_text_add(t, "%sNaN with points lc rgb '#333333' lw 1.2 pt 6 ps 1 title 'published'",
                     next);
    if (p->n > 1)
        lra_text_add(t, "%sNaN with lines lc rgb '#333333' lw 2.5 title 'reference'", next);
    else
        lra_text_add(t, "%sNaN with lines lc rgb '#666666' lw 1 dt %d title 'reference: %s'", next,
                     REFERENCE_DASH, p->view[0].reference);
    lra_text_add(t, "\n");
}

/* ---- panels ----------------------------------------------------------------------------------------------- */

/* One ladder: everything that its accuracies are compared with, and its kernels above. */
static void add_one(lra_text *t, const plot *p)
{
    const lra_ladder_view *v = &p->view[0];
    double baseline = lra_result_baseline_accuracy(v->first, "majority-by-operator");
    lra_plot_line line[4] = {{shown(v, v->ladder.reference), REFERENCE_DASH, ""}};
    double chance = shown(v, v->data.chance);
    int n = 1;
    if (chance >= p->y0 && chance <= p->y1) line[n++] = (lra_plot_line){chance, 3, "chance"};
    if (baseline >= 0) line[n++] = (lra_plot_line){100 * baseline, 4, "majority by operator"};
    if (v->ladder.row[0].null_row)
        line[n++] = (lra_plot_line){shown(v, v->ladder.row[0].accuracy.value), 2,
                                    "K = 1, bag of tokens"};
    lra_plot_lines(t, n, line, p->x0, p->y0, p->y1);
    lra_text_add(t, "set x2range [%g:%g]\nset logscale x2 2\n", p->x0, p->x1);
    add_ticks(t, p, "x2tics", true, true);
}

/* Several: the reference of each at the right edge. */
static void add_references(lra_text *t, const plot *p)
{
    for (int i = 0; i < p->n; i++) {
        double y = shown(&p->view[i], p->view[i].ladder.reference);
        lra_text_add(t,
                     "set arrow from graph 0.97, first %g to graph 1, first %g nohead lw 2.5 "
                     "lc rgb '%s'\n",
                     y, y, lra_plot_styles[i].color);
    }
}

static size_t longest_title(const plot *p)
{
    size_t most = 0;
    for (int i = 0; i < p->n; i++) {
        char *title = title_of(p, i);
        if (strlen(title) > most) most = strlen(title);
        lra_free(title);
    }
    return most;
}

static void add_metric(lra_text *t, const plot *p)
{
    const lra_metric *m = p->view[0].metric;
    char *axis = lra_format(m->scale == 100 ? "%s (%%)" : "%s", m->text);
    int columns = p->n == 1 || longest_title(p) > 20 ? 1 : 2; /* what fits side by side */
    int rows = (p->n + p->paper + columns) / columns;
    char *shared = parts(p, 0, true);
    lra_plot_panel(t, 0.455, (p->n == 1 ? 0.885 : 0.93) - 0.036 * rows, axis);
    lra_plot_title(t, shared);
    lra_text_add(t,
                 "set key at screen 0.5, screen 0.955 center top horizontal maxcols %d "
                 "width -4 font ',8' samplen 3 spacing 1.05 noenhanced\n",
                 columns);
    lra_text_add(t, "set yrange [%g:%g]\n", p->y0, p->y1);
    add_ticks(t, p, "xtics", false, false);
    if (p->n == 1)
        add_one(t, p);
    else
        add_references(t, p);
    add_curves(t, p, 3, 9);
    lra_free(axis);
    lra_free(shared);
}

static void add_gain(lra_text *t, const plot *p)
{
    const lra_ladder *l = &p->view[0].ladder;
    lra_text_add(t, "\nunset arrow\nunset label\nunset key\nunset x2tics\n");
    lra_plot_panel(t, 0.115, 0.415, "gain");
    add_ticks(t, p, "xtics", true, false);
    lra_text_add(t, "set xlabel 'reach to each side (tokens)' font ',9' offset 0,0.5\n");
    lra_text_add(t, "set yrange [%g:%g]\n", p->gain0, p->gain1);
    lra_plot_line line[2] = {{1, REFERENCE_DASH, ""}, {0, 3, "chance"}};
    lra_plot_lines(t, 2, line, p->x0, p->gain0, p->gain1);
    if (p->n == 1 && isfinite(l->li.value))
        lra_text_add(t, "set label 'LI = %.3f (%.3f to %.3f)' at graph 0.98,0.12 right font ',8'\n",
                     l->li.value, l->li.lo, l->li.hi);
    if (p->n == 1 && !isfinite(l->li.value))
        lra_text_add(t, "set label 'no gain: the reference is not above chance' "
                        "at graph 0.5,0.5 center font ',8'\n");
    add_curves(t, p, 6, 10);
}

static void add_script(lra_text *t, plot *p)
{
    set_ranges(p);
    lra_plot_start(t);
    lra_text_add(t, "set logscale x 2\nset xrange [%g:%g]\nset multiplot\n", p->x0, p->x1);
    add_metric(t, p);
    add_gain(t, p);
    lra_text_add(t, "unset multiplot\n");
}

static int write(const char *folder, const lra_report_input *in, lra_err *e)
{
    lra_ladder_view *views;
    int n_views = lra_ladder_alike_views(in->list, in->n, &in->scale, &views, e);
    if (n_views < 0) return n_views;
    int rc = 0;
    if (n_views > MOST_CURVES)
        rc = lra_fail(e, "%d ladders, at most %d fit into one figure; name fewer results", n_views,
                      MOST_CURVES);
    lra_text data = {0}, script = {0};
    plot p = {.view = views, .n = n_views};
    for (int i = 0; i < n_views && rc == 0; i++) add_data(&data, &views[i]);
    if (rc == 0) add_script(&script, &p);
    if (rc == 0) rc = lra_plot_write(folder, "loc-T1", &data, &script, e);
    lra_text_free(&data);
    lra_text_free(&script);
    lra_ladder_views_free(views, n_views);
    return rc;
}

const lra_report_figure lra_figure_loc_t1 = {
    "loc-T1", "accuracy (or another metric) and gain against reach, with intervals and baselines",
    write,    8.6,
    10,       LRA_FROM_RESULTS};
