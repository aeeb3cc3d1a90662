/* Draws the metric against a setting (setting_curves.h). */
#include "reports/views/setting_curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "reports/results/result_metric.h"
#include "reports/views/model_names.h"

enum { MOST = LRA_PLOT_STYLES, COLLECTED = 24, PANELS = 4, POINTS = 32 };
static const char next[] = ", \\\n     ";

typedef struct {
    int n, n_published;
    double x[POINTS], value[POINTS], lo[POINTS], hi[POINTS];
    bool flat; /* the model does not have the setting */
    double published_x[LRA_SETTING_PUBLISHED], published[LRA_SETTING_PUBLISHED];
} curve;

typedef struct {
    const char *task;
    const lra_metric *metric;
    /* whole: length of the complete input; x0, x1: ends of the x axis, as log2 of the setting */
    double whole, x0, x1, y0, y1, chance;
    curve curve[COLLECTED];
} panel;

typedef struct {
    int n_panels, n_series;
    const lra_result *series[COLLECTED]; /* a result of each model */
    char *variant[COLLECTED];
    panel panel[PANELS];
    lra_err conflict; /* the first point with two configurations; "": none */
} plot;

/* ---- results --------------------------------------------------------------------------------- */

static int find_panel(plot *p, const lra_result *r, lra_err *e)
{
    for (int i = 0; i < p->n_panels; i++)
        if (strcmp(p->panel[i].task, r->task) == 0) return i;
    if (p->n_panels == PANELS)
        return lra_fail(e, "more than %d tasks, '%s' is one more; name results of fewer",
                        (int)PANELS, r->task);
    p->panel[p->n_panels] = (panel){.task = r->task,
                                    .metric = lra_result_metric(r),
                                    .whole = (double)r->max_length,
                                    .x0 = INFINITY,
                                    .x1 = -INFINITY,
                                    .y0 = INFINITY,
                                    .y1 = -INFINITY};
    p->panel[p->n_panels].chance = p->panel[p->n_panels].metric->scale * lra_result_chance(r);
    return p->n_panels++;
}

static int find_series(plot *p, const lra_result *r, const char *variant, lra_err *e)
{
    for (int s = 0; s < p->n_series; s++)
        if (strcmp(p->series[s]->model, r->model) == 0 && strcmp(p->variant[s], variant) == 0)
            return s;
    if (p->n_series == COLLECTED)
        return lra_fail(e, "more than %d curves; name fewer results", (int)COLLECTED);
    p->series[p->n_series] = r;
    p->variant[p->n_series] = lra_copy_text(variant);
    return p->n_series++;
}

/* True if a curve has more than one point in any panel, or is a horizontal line. */
static bool is_curve(const plot *p, int s)
{
    bool is = false;
    for (int i = 0; i < p->n_panels; i++)
        is = is || p->panel[i].curve[s].n > 1 ||
             (p->panel[i].curve[s].n && p->panel[i].curve[s].flat);
    return is;
}

/* Removes curves of one point, if others have more. */
static int choose_series(plot *p, lra_err *e)
{
    int n = 0, several = 0;
    for (int s = 0; s < p->n_series; s++)
        for (int i = 0; i < p->n_panels; i++) several += p->panel[i].curve[s].n > 1;
    for (int s = 0; s < p->n_series; s++) {
        if (several && !is_curve(p, s)) {
            lra_free(p->variant[s]);
            continue;
        }
        p->series[n] = p->series[s], p->variant[n] = p->variant[s];
        for (int i = 0; i < p->n_panels; i++) p->panel[i].curve[n] = p->panel[i].curve[s];
        n++;
    }
    for (int i = 0; i < p->n_panels; i++)
        for (int s = n; s < COLLECTED; s++) p->panel[i].curve[s] = (curve){.n = 0};
    p->n_series = n;
    return n <= MOST ? 0
                     : lra_fail(e, "%d curves, one figure holds at most %d; name fewer results", n,
                                (int)MOST);
}

/* Adds a point to a curve, in ascending order of x. A second configuration with the same value is a
 * conflict. */
static int add_point(plot *p, curve *c, double x, const lra_estimate *v, double scale,
                     const lra_result *r, lra_err *e)
{
    int at = c->n;
    while (at > 0 && c->x[at - 1] > x) at--;
    if (at > 0 && c->x[at - 1] == x) {
        if (!*p->conflict.msg)
            lra_fail(&p->conflict,
                     "two configurations of '%s' on '%s' with the same value; select results by "
                     "--label or name fewer",
                     r->model, r->task);
        return 0;
    }
    if (c->n == POINTS) return lra_fail(e, "more than %d points of '%s'", (int)POINTS, r->model);
    for (int i = c->n++; i > at; i--)
        c->x[i] = c->x[i - 1], c->value[i] = c->value[i - 1], c->lo[i] = c->lo[i - 1],
        c->hi[i] = c->hi[i - 1];
    c->x[at] = x, c->value[at] = scale * v->value;
    c->lo[at] = scale * v->lo, c->hi[at] = scale * v->hi;
    return 0;
}

static double place(const panel *p, double setting)
{
    return log2(setting > 0 ? setting : p->whole);
}

static int add_group(plot *p, const lra_setting_curves *s, const lra_result_group *g, lra_err *e)
{
    const lra_result *r = g->run[0];
    lra_config *c = lra_config_parse(r->config, e);
    if (!c) return LRA_FAILED;
    bool other = lra_config_has(c, "train.from") || lra_config_has(c, "train.matched") ||
                 lra_config_has(c, "train.objective");
    char *variant = other ? NULL : s->variant(r, c);
    double setting = s->value(r, c);
    lra_config_free(c);
    if (!variant) return 0;
    int at = find_panel(p, r, e), series = at < 0 ? at : find_series(p, r, variant, e);
    lra_free(variant);
    if (series < 0) return LRA_FAILED;
    panel *x = &p->panel[at];
    lra_estimate v = lra_results_value(g->run, g->n);
    curve *to = &x->curve[series];
    to->flat = isnan(setting);
    to->n_published = s->published(r, p->variant[series], to->published_x, to->published);
    for (int i = 0; i < to->n_published; i++) to->published_x[i] = place(x, to->published_x[i]);
    if (lra_result_metric(r) != x->metric)
        return lra_fail(e, "results of '%s' in different metrics; name results in one metric",
                        r->task);
    return add_point(p, to, to->flat ? 0 : place(x, setting), &v, x->metric->scale, r, e);
}

static void widen(double *lo, double *hi, double x)
{
    if (isfinite(x)) *lo = fmin(*lo, x), *hi = fmax(*hi, x);
}

static void set_ranges(panel *p)
{
    for (int s = 0; s < COLLECTED; s++) {
        const curve *c = &p->curve[s];
        for (int i = 0; i < c->n; i++) {
            if (!c->flat) widen(&p->x0, &p->x1, c->x[i]);
            widen(&p->y0, &p->y1, c->value[i]);
            widen(&p->y0, &p->y1, c->lo[i]);
            widen(&p->y0, &p->y1, c->hi[i]);
        }
        for (int i = 0; i < c->n_published && c->n; i++) {
            widen(&p->x0, &p->x1, c->published_x[i]);
            widen(&p->y0, &p->y1, c->published[i]);
        }
    }
    widen(&p->y0, &p->y1, p->chance);
    if (!(p->x0 <= p->x1)) p->x0 = 0, p->x1 = log2(p->whole > 1 ? p->whole : 2);
    if (p->x1 - p->x0 < 1) p->x0 -= 0.5, p->x1 += 0.5;
    lra_plot_widen(&p->x0, &p->x1, 0.06);
    lra_plot_widen(&p->y0, &p->y1, 0.06);
}

static int open_plot(plot *p, const lra_setting_curves *s, int n, const lra_result_group *g,
                     lra_err *e)
{
    int rc = 0;
    bool any = false;
    for (int i = 0; i < n && rc == 0; i++) rc = add_group(p, s, &g[i], e);
    for (int i = 0; i < p->n_panels; i++)
        for (int k = 0; k < COLLECTED; k++)
            any = any || (p->panel[i].curve[k].n > 1 && !p->panel[i].curve[k].flat);
    if (rc == 0 && !any)
        rc = lra_fail(
            e,
            "no model has results with two values of the setting; 'lra-probe train --set' "
            "or 'lra-probe sweep %s' make them",
            s->figure);
    if (rc == 0 && *p->conflict.msg) rc = lra_fail(e, "%s", p->conflict.msg);
    if (rc == 0) rc = choose_series(p, e);
    for (int i = 0; i < p->n_panels; i++) set_ranges(&p->panel[i]);
    return rc;
}

/* ---- data ------------------------------------------------------------------------------------ */

static void add_row(lra_text *t, double x, double value, double lo, double hi)
{
    lra_text_add(t, "%.6g", x);
    lra_plot_number(t, value);
    lra_plot_number(t, lo);
    lra_plot_number(t, hi);
    lra_text_add(t, "\n");
}

/* Adds two data blocks for each panel and series: measured and published values. */
static void add_data(lra_text *t, const plot *p)
{
    for (int i = 0; i < p->n_panels; i++)
        for (int s = 0; s < p->n_series; s++) {
            const panel *x = &p->panel[i];
            const curve *c = &x->curve[s];
            lra_plot_comment(t, "%s, %s %s: log2 of the setting, value, lo, hi", x->task,
                             p->series[s]->model, p->variant[s]);
            for (int k = 0; k < c->n && !c->flat; k++)
                add_row(t, c->x[k], c->value[k], c->lo[k], c->hi[k]);
            for (int k = 0; k < 2 && c->n && c->flat; k++)
                add_row(t, k ? x->x1 : x->x0, c->value[0], c->lo[0], c->hi[0]);
            if (c->n == 0) lra_text_add(t, "? ? ? ?\n"); /* gnuplot fails on an empty block */
            lra_text_add(t, "\n\n");
            lra_plot_comment(t, "%s, %s: published", x->task, p->series[s]->model);
            for (int k = 0; k < c->n_published && c->n; k++)
                add_row(t, c->published_x[k], c->published[k], NAN, NAN);
            lra_text_add(t, "? ? ? ?\n\n\n");
        }
}

/* ---- script ---------------------------------------------------------------------------------- */

static void add_curves(lra_text *t, const lra_setting_curves *s, const plot *p, int panel_at)
{
    const panel *x = &p->panel[panel_at];
    lra_text_add(t, "plot NaN");
    for (int k = 0; k < p->n_series; k++) {
        const lra_plot_style *style = &lra_plot_styles[k];
        int block = 2 * (panel_at * p->n_series + k);
        const curve *c = &x->curve[k];
        if (c->n == 0) continue;
        if (c->flat) {
            lra_text_add(t, "%s'%s.dat' index %d using 1:2 with lines lc rgb '%s' dt %s lw 1.6",
                         next, s->figure, block, style->color, style->dash);
            continue;
        }
        lra_text_add(t,
                     "%s'%s.dat' index %d using 1:3:(0):($4-$3) with vectors heads fixed size "
                     "screen 0.005,90 lc rgb '%s' lw 1.2",
                     next, s->figure, block, style->color);
        lra_text_add(t,
                     "%s'' index %d using 1:2 with linespoints lc rgb '%s' dt %s lw 2 pt %d ps 0.7",
                     next, block, style->color, style->dash, style->full);
        lra_text_add(t, "%s'' index %d using 1:2 with points lc rgb '%s' lw 1.8 pt %d ps 1", next,
                     block + 1, style->color, style->hollow);
    }
    lra_text_add(t, "\n");
}

/* Adds ticks at the settings of the curves, with their values, or "all" for the complete input; a
 * label that would overlap the previous one is left out. */
static void add_ticks(lra_text *t, const panel *p, double cm)
{
    double last = -INFINITY;
    bool first = true;
    lra_text_add(t, "set xtics (");
    for (double x = p->x0;;) {
        double least = INFINITY;
        for (int s = 0; s < COLLECTED; s++)
            for (int i = 0; i < p->curve[s].n; i++)
                if (!p->curve[s].flat && p->curve[s].x[i] > x)
                    least = fmin(least, p->curve[s].x[i]);
        if (!isfinite(least)) break;
        x = least;
        char label[32];
        bool complete = fabs(x - log2(p->whole)) < 1e-9;
        snprintf(label, sizeof label, complete ? "all" : "%.6g", exp2(x));
        double at = (x - p->x0) / (p->x1 - p->x0) * cm, half = 0.5 * lra_plot_width(label);
        if (at - half < last + 0.1) label[0] = '\0';
        if (*label) last = at + half;
        if (!first) lra_text_add(t, ", ");
        lra_plot_tick(t, label, x);
        first = false;
    }
    lra_text_add(t, ")\n");
}

static int fill_key(const plot *p, lra_plot_entry key[LRA_PLOT_ENTRIES])
{
    int n = 0, published = 0;
    for (int s = 0; s < p->n_series; s++) {
        const lra_plot_style *style = &lra_plot_styles[s];
        const lra_result *r = p->series[s];
        bool flat = true;
        for (int i = 0; i < p->n_panels; i++) {
            const curve *c = &p->panel[i].curve[s];
            flat = flat && (c->flat || c->n == 0);
            published += c->n && c->n_published;
        }
        char *name = lra_model_shown(r->model, r->model, r->config);
        key[n] = (lra_plot_entry){.kind = LRA_LEGEND_LINE,
                                  .color = style->color,
                                  .dash = style->dash,
                                  .line = 2,
                                  .point = flat ? 0 : style->full,
                                  .size = 0.7};
        snprintf(key[n++].text, sizeof key->text, "%s%s%s", name, *p->variant[s] ? ", " : "",
                 p->variant[s]);
        lra_free(name);
    }
    key[n++] = (lra_plot_entry){"95 % interval", LRA_LEGEND_INTERVAL, "#333333", NULL, 0, 0, 0};
    if (published)
        key[n++] = (lra_plot_entry){"published (size of the paper)",
                                    LRA_LEGEND_LINE,
                                    "#333333",
                                    NULL,
                                    0,
                                    lra_plot_styles[0].hollow,
                                    1};
    key[n++] = (lra_plot_entry){"chance", LRA_LEGEND_LINE, "#444444", LRA_DASH_CHANCE, 1.5, 0, 0};
    return n;
}

static void add_script(lra_plot *f, const lra_setting_curves *s, const plot *p)
{
    const double left = 1.3, bottom = 1.1;
    lra_plot_entry key[LRA_PLOT_ENTRIES];
    lra_text *t = &f->script;
    f->width = lra_plot_wide(p->n_panels > 1 ? LRA_PAGE_CM : LRA_COLUMN_CM);
    int n = fill_key(p, key), rows = lra_plot_legend_rows(f, left, n, key);
    double each = (f->width - 0.15) / p->n_panels, wide = each - left;
    f->height = 6.2 + LRA_LINE_CM * rows;
    double top = lra_plot_start(f);
    lra_text_add(t, "set multiplot\nset key off\nset grid ytics lt 1 lw 0.8 lc rgb '#e4e4e4'\n");
    lra_plot_legend(f, left, top, n, key);
    top -= LRA_LINE_CM * rows + 0.65;
    for (int i = 0; i < p->n_panels; i++) {
        const panel *x = &p->panel[i];
        double at = left + i * each;
        char *axis = lra_format("%s%s", x->metric->text, x->metric->scale == 100 ? " (%)" : "");
        lra_plot_box(f, at, at + wide, bottom, top);
        lra_plot_axis(f, at - 1.1, 0.5 * (bottom + top), axis);
        lra_free(axis);
        lra_plot_add_quoted(t, "set label ", x->task, " at screen %.4g, screen %.4g center\n",
                            (at + 0.5 * wide) / f->width, (top + 0.2) / f->height);
        lra_text_add(t, "set xrange [%g:%g]\nset yrange [%g:%g]\nset ytics %g nomirror\n", x->x0,
                     x->x1, x->y0, x->y1, lra_plot_step(x->y1 - x->y0));
        add_ticks(t, x, wide);
        lra_plot_add_quoted(t, "set xlabel ", s->axis, " offset 0,0.6\n");
        lra_text_add(t,
                     "set arrow from graph 0, first %g to graph 1, first %g nohead lw 1.5 dt %s lc "
                     "rgb '#444444' back\n",
                     x->chance, x->chance, LRA_DASH_CHANCE);
        add_curves(t, s, p, i);
        lra_text_add(t, "unset label\nunset arrow\nunset object\n");
    }
    lra_text_add(t, "unset multiplot\n");
}

int lra_setting_curves_make(const lra_setting_curves *s, const lra_report_input *in, lra_plot *f,
                            lra_err *e)
{
    lra_result_group *group;
    plot *p = lra_alloc(sizeof *p);
    int n = lra_results_group(in->list, in->n, &group);
    int rc = open_plot(p, s, n, group, e);
    if (rc == 0) {
        f->title = lra_copy_text(s->title);
        for (int i = 0; i < in->n; i++) lra_plot_source(f, "run", in->list[i]->run);
        for (int i = 0; i < in->n; i++) lra_plot_source(f, "data", in->list[i]->fingerprint);
        add_data(&f->data, p);
        add_script(f, s, p);
    }
    for (int k = 0; k < p->n_series; k++) lra_free(p->variant[k]);
    lra_result_groups_free(group, n);
    lra_free(p);
    return rc;
}
