/* Figure loc-T1: ladders as curves. Top: accuracy (or another metric); bottom: gain over chance;
 * both by total reach on a logarithmic axis. Bands are 95 % intervals. Hollow points are published
 * values, for the `paper` preset only. For one ladder, horizontal lines show the reference, chance,
 * the order-free baseline and the null row K = 1. For several ladders, a line shows chance if it is
 * the same for all, and marks at the right edge show their references.
 * Source: Table 1 of "On the locality bias and results in the LRA", drawn as curves. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/ladder/ladder_names.h"
#include "reports/ladder/ladder_views.h"
#include "reports/results/published.h"

enum { MOST_CURVES = LRA_PLOT_STYLES, MOST_TICKS = 64, FAR = 1000 };
static const char dat[] = "loc-T1.dat", next[] = ", \\\n     ";
/* Limits of the gain axis, because gains and their intervals are unbounded near chance. */
static const double least_gain = -1, most_gain = 2;
/* Centimetres: left edge of the panels; width of a digit. */
static const double left = 1.35, digit = 0.18;
static double right_end(void)
{
    return lra_plot_wide(LRA_COLUMN_CM) - 0.15;
}

/* The ladders of a figure and the ranges of its axes. */
typedef struct {
    const lra_ladder_view *view;
    int n;
    /* ranges of the axes: x in tokens, y in the displayed unit of the metric */
    double x0, x1, y0, y1;
    double gain0, gain1, lowest_gain;
    /* paper: published values are drawn; one_chance: all ladders have the same chance, and it is
     * within the range of the axis */
    bool paper, one_chance;
} plot;

static bool is_paper(const lra_ladder_view *v)
{
    return strcmp(v->first->preset, "paper") == 0;
}

/* The published accuracy of a rung of the `paper` preset, 0 to 1, else NAN. */
static double published(const lra_ladder_view *v, int r)
{
    char variant[32];
    snprintf(variant, sizeof variant, "kernel=%" PRId64, v->ladder.row[r].kernel);
    if (!is_paper(v) || !lra_ladder_is_published(&v->kind)) return NAN;
    return lra_published("locality", "1", "resconv", variant, v->first->task, "accuracy") / 100;
}

/* True if any rung has a published accuracy. */
static bool is_published(const lra_ladder_view *v)
{
    bool any = false;
    for (int r = 0; r < v->ladder.n_rungs; r++)
        any = any || (!v->ladder.row[r].null_row && !isnan(published(v, r)));
    return any;
}

/* Converts a score of the ladder to the displayed unit (%, bits). */
static double shown(const lra_ladder_view *v, double score)
{
    return v->metric->scale * lra_ladder_value(v, score);
}

static double gain_of(const lra_ladder_view *v, double accuracy)
{
    double span = v->ladder.reference - v->ladder.chance;
    return span > 0 ? (accuracy - v->ladder.chance) / span : NAN;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* An end of an interval; an infinite end is moved far outside the axis. The reference has no
 * interval. */
static double end_of(double x, double value)
{
    return isinf(x) ? copysign(FAR, x) : isnan(x) ? value : x;
}

/* Adds the data block of a ladder; "?" is a missing number. The bag of tokens (K = 1) is not part
 * of the curve. */
static void add_data(lra_text *t, const lra_ladder_view *v)
{
    lra_plot_comment(t, "%s %s %s, run %s", v->first->task, v->first->preset, v->first->precision,
                     v->first->run);
    lra_plot_comment(t, "reach kernel %s lo hi gain lo hi published published-gain",
                     v->metric->name);
    for (int r = 0; r < v->ladder.n_rungs; r++) {
        const lra_ladder_row *row = &v->ladder.row[r];
        double p = published(v, r);
        lra_estimate metric = lra_ladder_values(v, row->accuracy);
        double scale = v->metric->scale;
        const double value[] = {scale * metric.value,
                                scale * metric.lo,
                                scale * metric.hi,
                                row->gain.value,
                                end_of(row->gain.lo, row->gain.value),
                                end_of(row->gain.hi, row->gain.value),
                                scale * p,
                                gain_of(v, p)};
        if (row->null_row) continue;
        lra_text_add(t, "%" PRId64 " %" PRId64, row->reach, row->kernel);
        for (size_t i = 0; i < sizeof value / sizeof *value; i++) lra_plot_number(t, value[i]);
        lra_text_add(t, "\n");
    }
    lra_text_add(t, "\n\n");
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* Extends the range to x; fmin and fmax ignore NAN. */
static void widen(double *lo, double *hi, double x)
{
    *lo = fmin(*lo, x), *hi = fmax(*hi, x);
}

static void widen_gain(plot *p, double gain)
{
    if (!isnan(gain)) p->lowest_gain = fmin(p->lowest_gain, gain);
    if (!isnan(gain)) widen(&p->gain0, &p->gain1, fmin(fmax(gain, least_gain), most_gain));
}

static void set_ranges(plot *p)
{
    double y0 = INFINITY, y1 = -INFINITY;
    p->x0 = INFINITY, p->x1 = 0, p->gain0 = 0, p->gain1 = 1, p->lowest_gain = INFINITY;
    for (int i = 0; i < p->n; i++) {
        const lra_ladder_view *v = &p->view[i];
        p->paper = p->paper || is_published(v);
        widen(&y0, &y1, shown(v, v->ladder.reference));
        for (int r = 0; r < v->ladder.n_rungs; r++) {
            const lra_ladder_row *row = &v->ladder.row[r];
            /* the bag of tokens (K = 1) is drawn for a single ladder only */
            if (row->null_row && p->n > 1) continue;
            widen(&y0, &y1, shown(v, row->accuracy.lo));
            widen(&y0, &y1, shown(v, row->accuracy.hi));
            if (row->null_row) continue;
            widen(&p->x0, &p->x1, (double)row->reach);
            widen_gain(p, row->gain.lo);
            widen_gain(p, row->gain.hi);
            widen_gain(p, gain_of(v, published(v, r)));
        }
    }
    /* A distant chance line (perplexity; several ladders with similar values) is left out, because
     * it would flatten the curves. */
    if (!(y0 < INFINITY)) y0 = 0, y1 = 1; /* without any value: an arbitrary range */
    double low = y0, high = y1;
    for (int i = 0; i < p->n; i++) {
        const lra_ladder_view *v = &p->view[i];
        double chance = shown(v, v->ladder.chance), near = (p->n > 1 ? 1 : 3) * (high - low);
        if ((v->first->n_classes && p->n == 1) || (chance > low - near && chance < high + near))
            widen(&y0, &y1, chance);
    }
    double chance = shown(&p->view[0], p->view[0].ladder.chance);
    p->one_chance = chance >= y0 && chance <= y1;
    for (int i = 1; i < p->n; i++)
        if (fabs(shown(&p->view[i], p->view[i].ladder.chance) - chance) > 1e-9)
            p->one_chance = false;
    p->x0 /= 1.25, p->x1 *= 1.25;
    p->y0 = y0 - 0.06 * (y1 - y0);
    if (p->view[0].first->n_classes) p->y0 = fmax(p->y0, 0);
    p->y1 = y1 + 0.1 * (y1 - y0);
    /* With several ladders of similar gains, the axis begins just below the smallest gain, so that
     * the curves fill the panel. */
    if (p->n > 1 && p->lowest_gain > 0.3 && isfinite(p->lowest_gain))
        p->gain0 = p->lowest_gain - 0.02;
    double pad = 0.05 * (p->gain1 - p->gain0);
    p->gain0 -= p->gain0 < 0 ? pad : 0;
    p->gain1 += 2 * pad;
}

static int digits(int64_t x)
{
    int n = 1;
    while (x >= 10) x /= 10, n++;
    return n;
}

/* Adds ticks at the reaches of all ladders. numbers: labels them with the reach (or, with
 * `kernels`, the kernel); a label that would overlap the previous one is left out. */
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
    double octave = (right_end() - left) / log2(p->x1 / p->x0), end = -INFINITY;
    lra_text_add(t, "set %s (", axis);
    for (int i = 0; i < n; i++) {
        int64_t number = kernels ? kernel[i] : reach[i];
        double x = octave * log2((double)reach[i]), half = 0.5 * digit * digits(number);
        bool shown_too = numbers && x - half > end;
        lra_text_add(t, i ? ", " : "");
        if (shown_too)
            lra_text_add(t, "'%" PRId64 "' %" PRId64, number, reach[i]), end = x + half + digit / 2;
        else
            lra_text_add(t, "'' %" PRId64, reach[i]);
    }
    lra_text_add(t, ")\n");
}

/* ---- legend ---------------------------------------------------------------------------------- */

/* Legend text of ladder k; the caller frees it. */
static char *title_of(const plot *p, int k)
{
    double li = p->view[k].ladder.li.value;
    if (p->n == 1) return lra_copy_text("measured");
    char *name = lra_ladder_own_name(p->view, p->n, k);
    char *title = isfinite(li) ? lra_format("%s: LI %.2f", name, li) : lra_copy_text(name);
    lra_free(name);
    return title;
}

/* Fills the legend: curves, band, reference, published points. Returns the number of entries. */
static int fill_legend(const plot *p, lra_plot_entry *key)
{
    const char *color = p->n == 1 ? lra_plot_styles[0].color : "#333333";
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        const lra_plot_style *s = &lra_plot_styles[i];
        char *name = title_of(p, i);
        key[n] = (lra_plot_entry){"", LRA_LEGEND_LINE, s->color, s->dash, 2.5, s->full, 0.7};
        snprintf(key[n++].text, sizeof key->text, "%s", name);
        lra_free(name);
    }
    key[n++] = (lra_plot_entry){"95 % interval", LRA_LEGEND_BAND, color, NULL, 0, 0, 0};
    key[n] = (lra_plot_entry){"reference", LRA_LEGEND_LINE, "#333333", NULL, 5, 0, 0};
    if (p->n == 1) {
        key[n].line = 1.5, key[n].color = "#666666";
        const char *name = p->view[0].reference;
        snprintf(key[n].text, sizeof key->text, "%s%s",
                 strlen(name) > 32 ? "" : "reference: ", name);
    }
    n++;
    if (p->n > 1 && p->one_chance) /* for one ladder, the name is at the line itself */
        key[n++] = (lra_plot_entry){"chance", LRA_LEGEND_LINE, "#666666", LRA_DASH_CHANCE, 1.5, 0,
                                    0};
    if (p->paper)
        key[n++] = (lra_plot_entry){"published", LRA_LEGEND_LINE,           color, NULL,
                                    0,           lra_plot_styles[0].hollow, 1};
    return n;
}

/* ---- curves ---------------------------------------------------------------------------------- */

static bool has_gains(const lra_ladder_view *v)
{
    return isfinite(v->ladder.row[v->ladder.n_rungs - 1].gain.value);
}

/* Draws bands, then curves above them, then published points on top. column: of the value; the
 * columns of the lower and upper end follow it. */
static void add_curves(lra_text *t, const plot *p, int column, int published_column, bool gains)
{
    lra_text_add(t, "plot NaN");
    for (int i = 0; i < p->n; i++)
        if (!gains || has_gains(&p->view[i]))
            lra_text_add(t,
                         "%s'%s' index %d using 1:%d:%d with filledcurves lc rgb '%s' "
                         "fs transparent solid 0.2",
                         next, dat, i, column + 1, column + 2, lra_plot_styles[i].color);
    for (int i = 0; i < p->n; i++) {
        const lra_plot_style *s = &lra_plot_styles[i];
        if (!gains || has_gains(&p->view[i]))
            lra_text_add(t,
                         "%s'%s' index %d using 1:%d with linespoints lc rgb '%s' lw 2.5 dt %s "
                         "pt %d ps 0.7",
                         next, dat, i, column, s->color, s->dash, s->full);
    }
    for (int i = 0; i < p->n; i++)
        if (is_published(&p->view[i]) && (!gains || has_gains(&p->view[i])))
            lra_text_add(t, "%s'%s' index %d using 1:%d with points lc rgb '%s' lw 2 pt %d ps 1",
                         next, dat, i, published_column, lra_plot_styles[i].color,
                         lra_plot_styles[i].hollow);
    lra_text_add(t, "\n");
}

/* ---- panels ---------------------------------------------------------------------------------- */

/* For one ladder: draws lines for reference, chance, baseline and bag of tokens (K = 1), and the
 * kernels as ticks at the top. */
static void add_one(lra_plot *f, const plot *p, double top)
{
    lra_text *t = &f->script;
    const lra_ladder_view *v = &p->view[0];
    double baseline = lra_result_baseline_accuracy(v->first, "majority-by-operator");
    lra_plot_line line[4] = {{shown(v, v->ladder.reference), NULL, ""}};
    double chance = shown(v, v->ladder.chance);
    int n = 1;
    if (chance >= p->y0 && chance <= p->y1)
        line[n++] = (lra_plot_line){chance, LRA_DASH_CHANCE, "chance"};
    if (baseline >= 0)
        line[n++] = (lra_plot_line){100 * baseline, "(12,5,3,5)", "majority by operator"};
    if (v->ladder.row[0].null_row)
        line[n++] = (lra_plot_line){shown(v, v->ladder.row[0].accuracy.value), "(12,8)",
                                    "K = 1 (bag of tokens)"};
    lra_plot_lines(t, n, line, p->x0, p->y0, p->y1);
    lra_text_add(t, "set x2range [%g:%g]\nset logscale x2 2\n", p->x0, p->x1);
    add_ticks(t, p, "x2tics", true, true);
    char *axis = lra_format("%s =", strcmp(v->kind.axis, "kernel") ? v->kind.axis : "K");
    lra_plot_add_quoted(t, "set label ", axis, " at screen %.4g, screen %.4g right\n",
                        (left - 0.1) / f->width, (top + 0.36) / f->height);
    lra_free(axis);
}

/* For several ladders: marks the reference of each at the right edge. */
static void add_references(lra_text *t, const plot *p)
{
    for (int i = 0; i < p->n; i++) {
        double y = shown(&p->view[i], p->view[i].ladder.reference);
        lra_text_add(t,
                     "set arrow from graph 0.96, first %g to graph 1, first %g nohead lw 5 "
                     "lc rgb '%s'\n",
                     y, y, lra_plot_styles[i].color);
    }
}

static void add_metric(lra_plot *f, const plot *p, double bottom, double top)
{
    lra_text *t = &f->script;
    const lra_metric *m = p->view[0].metric;
    char *axis = lra_format(m->scale == 100 ? "%s (%%)" : "%s", m->text);
    lra_plot_line chance = {shown(&p->view[0], p->view[0].ladder.chance), LRA_DASH_CHANCE, ""};
    lra_plot_box(f, left, right_end(), bottom, top);
    lra_plot_axis(f, 0.25, 0.5 * (bottom + top), axis);
    lra_free(axis);
    lra_text_add(t, "set yrange [%g:%g]\n", p->y0, p->y1);
    if (p->y1 - p->y0 < 5) lra_text_add(t, "set ytics %g\n", lra_plot_step(p->y1 - p->y0));
    add_ticks(t, p, "xtics", false, false);
    if (p->n == 1)
        add_one(f, p, top);
    else
        add_references(t, p);
    if (p->n > 1 && p->one_chance) lra_plot_lines(t, 1, &chance, p->x0, p->y0, p->y1);
    add_curves(t, p, 3, 9, false);
}

/* Adds the index of the ladder, or the reason why it has none. */
static void add_index(lra_text *t, const lra_ladder *l)
{
    char name[64] = "LI";
    if (l->span)
        snprintf(name, sizeof name, "LI[%" PRId64 "..%" PRId64 "]", l->first_reach, l->end);
    if (l->state == LRA_LI_GIVEN && l->li.lo < l->li.hi)
        lra_text_add(t, "set label '%s = %.2f (%.2f to %.2f)' at graph 0.98,0.14 right\n", name,
                     l->li.value, l->li.lo, l->li.hi);
    else if (l->state == LRA_LI_GIVEN)
        lra_text_add(t, "set label '%s = %.2f (at its bound)' at graph 0.98,0.14 right\n", name,
                     l->li.value);
    if (l->state == LRA_LI_ONE_RUNG)
        lra_text_add(t, "set label 'LI undefined: one rung' at graph 0.98,0.14 right\n");
    if (l->state == LRA_LI_AT_CHANCE)
        lra_text_add(t, "set label 'gain undefined: the reference is' at graph 0.5,0.56 center\n"
                        "set label 'not clearly above chance' at graph 0.5,0.38 center\n");
}

static void add_gain(lra_plot *f, const plot *p, double bottom, double top)
{
    lra_text *t = &f->script;
    const lra_ladder *l = &p->view[0].ladder;
    lra_text_add(t, "\nunset arrow\nunset label\nunset object\nunset x2tics\nset ytics autofreq\n");
    lra_plot_box(f, left, right_end(), bottom, top);
    lra_plot_axis(f, 0.25, 0.5 * (bottom + top), "gain over chance");
    add_ticks(t, p, "xtics", true, false);
    lra_text_add(t, "set xlabel 'reach on each side (tokens)' offset 0,0.6\nset yrange [%g:%g]\n",
                 p->gain0, p->gain1);
    lra_plot_line line[2] = {{1, NULL, ""}, {0, LRA_DASH_CHANCE, ""}};
    lra_plot_lines(t, p->gain0 > 0 ? 1 : 2, line, p->x0, p->gain0, p->gain1);
    if (p->n == 1) add_index(t, l);
    add_curves(t, p, 6, 10, true);
}

static void add_script(lra_plot *f, plot *p)
{
    lra_plot_entry key[LRA_PLOT_ENTRIES];
    f->width = lra_plot_wide(LRA_COLUMN_CM);
    set_ranges(p);
    int n = fill_legend(p, key), rows = lra_plot_legend_rows(f, left, n, key);
    double kernels = p->n == 1 ? 0.45 : 0; /* space in cm for the kernels above the panel */
    f->height = 8.4 + LRA_LINE_CM * rows + kernels;
    double top = lra_plot_start(f);
    lra_text_add(&f->script, "set logscale x 2\nset xrange [%g:%g]\nset multiplot\n", p->x0, p->x1);
    lra_plot_legend(f, left, top, n, key);
    add_metric(f, p, 3.85, top - LRA_LINE_CM * rows - kernels - 0.2);
    add_gain(f, p, 1.1, 3.5);
    lra_text_add(&f->script, "unset multiplot\n");
}

/* Compares names in natural order: numbers by value, so that "distance 8" comes before "distance
 * 16". */
static int compare_names(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    double x = strtod(a, NULL), y = strtod(b, NULL);
    return x > 0 && y > 0 && x != y ? (x > y) - (x < y) : strcmp(a, b);
}

static void sort_views(lra_ladder_view *views, int n)
{
    lra_ladder_view *other = lra_alloc(sizeof *other);
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0; k--) {
            char *a = lra_ladder_own_name(views, n, k - 1), *b = lra_ladder_own_name(views, n, k);
            bool sorted = compare_names(a, b) <= 0;
            lra_free(a);
            lra_free(b);
            if (sorted) break;
            *other = views[k], views[k] = views[k - 1], views[k - 1] = *other;
        }
    lra_free(other);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_ladder_view *views;
    int n_views = lra_ladder_alike_views(in->list, in->n, &in->scale, &views, e);
    if (n_views < 0) return n_views;
    int rc = 0;
    if (n_views > MOST_CURVES)
        rc = lra_fail(e, "%d ladders, one figure holds at most %d; name fewer results", n_views,
                      MOST_CURVES);
    if (rc == 0) sort_views(views, n_views);
    plot p = {.view = views, .n = n_views};
    for (int i = 0; i < n_views && rc == 0; i++) {
        add_data(&f->data, &views[i]);
        lra_figure_add_ladder(f, &views[i]);
    }
    f->title = lra_ladders_shared_name(views, n_views);
    f->caption = lra_ladders_flags(views, n_views);
    if (rc == 0) add_script(f, &p);
    lra_ladder_views_free(views, n_views);
    return rc;
}

const lra_report_figure lra_figure_loc_t1 = {
    "loc-T1", "accuracy (or another metric) and gain against reach, with intervals and baselines",
    make, LRA_FROM_RESULTS};
