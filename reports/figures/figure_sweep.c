/* Figure sweep: the metric of every rung by a parameter of the task. If the parameter is the
 * distance of the task's dependencies, a vertical line in the rung's colour marks its receptive
 * field (2R + 1; R + 1 if outputs are read at single positions): at larger distances the rung can
 * only be at chance. Full points: the field covers the distance; hollow points: it does not. Bars:
 * 95 % intervals. Points are at their exact values. The wider a field, the darker and smaller its
 * points and the thinner its line, so that overlapping points appear as rings.
 * Source: the definition is from this project; RULER's effective length (Hsieh et al. 2024) is
 * computed from such curves. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/ladder/ladder_views.h"
#include "reports/ladder/sweep_view.h"
#include "reports/views/model_names.h"

enum { MOST_RUNGS = LRA_PLOT_STYLES };
static const char dat[] = "sweep.dat", next[] = ", \\\n     ";

/* A sweep and the axes of its figure. */
typedef struct {
    const lra_sweep *sweep;
    /* first: index of the first rung that is drawn; the bag of tokens (reach 0) has no curve */
    int n_rungs, first;
    /* true: x is log2 of the values, which are positive numbers; false: x is their index */
    bool octaves;
    const lra_metric *metric;
    double x0, x1, y0, y1;
} plot;

static const lra_ladder *ladder(const plot *p, int i)
{
    return &p->sweep->at[i]->ladder;
}

static double place(const plot *p, int i)
{
    return p->octaves ? log2(p->sweep->number[i]) : i;
}

static lra_estimate value_of(const plot *p, int i, int rung)
{
    return lra_ladder_values(p->sweep->at[i], ladder(p, i)->row[p->first + rung].accuracy);
}

/* Extends the y range to a value of the metric. */
static void widen(plot *p, double value)
{
    p->y0 = fmin(p->y0, p->metric->scale * value);
    p->y1 = fmax(p->y1, p->metric->scale * value);
}

static double field_of(const plot *p, int rung)
{
    return (double)lra_sweep_field(p->sweep, ladder(p, 0)->row[p->first + rung].reach);
}

static int open_plot(plot *p, const lra_sweep *s, lra_err *e)
{
    const lra_ladder *l = &s->at[0]->ladder;
    *p = (plot){.sweep = s,
                .first = l->row[0].null_row,
                .octaves = true,
                .metric = lra_result_metric(s->at[0]->first),
                .y0 = INFINITY,
                .y1 = -INFINITY};
    p->n_rungs = l->n_rungs - p->first;
    if (p->n_rungs > MOST_RUNGS)
        return lra_fail(e, "%d rungs, one figure holds at most %d; name fewer results", p->n_rungs,
                        MOST_RUNGS);
    for (int i = 0; i < s->n; i++) p->octaves = p->octaves && s->number[i] > 0;
    for (int i = 0; i < s->n; i++) {
        widen(p, lra_ladder_value(s->at[i], s->at[i]->data.chance));
        for (int r = 0; r < p->n_rungs; r++) {
            lra_estimate a = value_of(p, i, r);
            widen(p, a.lo);
            widen(p, a.hi);
        }
    }
    p->x0 = place(p, 0), p->x1 = place(p, s->n - 1);
    for (int r = 0; r < p->n_rungs && lra_sweep_is_distance(s); r++) {
        p->x0 = fmin(p->x0, log2(field_of(p, r)));
        p->x1 = fmax(p->x1, log2(field_of(p, r)));
    }
    double x = 0.06 * (p->x1 - p->x0), y = 0.05 * (p->y1 - p->y0);
    p->x0 -= x, p->x1 += x, p->y0 -= y, p->y1 += 1.4 * y;
    return 0;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Adds one data block per rung: x coordinate, value with lower and upper end, value if the field
 * covers the distance, value if it does not. */
static void add_data(lra_text *t, const plot *p)
{
    const lra_sweep *s = p->sweep;
    double scale = p->metric->scale;
    for (int r = 0; r < p->n_rungs; r++) {
        const lra_ladder_row *first = &ladder(p, 0)->row[p->first + r];
        lra_plot_comment(t, "%s %s, K = %" PRId64 ", field %.0f", s->at[0]->first->task,
                         s->at[0]->first->preset, first->kernel, field_of(p, r));
        lra_plot_comment(t, "position of %s, value lo hi covered not-covered", s->key);
        for (int i = 0; i < s->n; i++) {
            lra_estimate a = value_of(p, i, r);
            double value = scale * a.value;
            bool covers = lra_sweep_covers(s, i, p->first + r);
            lra_text_add(t, "%.6g", place(p, i));
            lra_plot_number(t, value);
            lra_plot_number(t, scale * a.lo);
            lra_plot_number(t, scale * a.hi);
            lra_plot_number(t, covers ? value : NAN);
            lra_plot_number(t, covers ? NAN : value);
            lra_text_add(t, "\n");
        }
        lra_text_add(t, "\n\n");
    }
}

/* Line width of a rung: the widest field is drawn last, with the thinnest line. */
static double width_of(const plot *p, int rung)
{
    return 2 + 1.2 * (p->n_rungs - 1 - rung);
}

static double size_of(const plot *p, int rung)
{
    return 0.6 + 0.22 * (p->n_rungs - 1 - rung);
}

/* ---- script ---------------------------------------------------------------------------------- */

/* Draws lines at the receptive fields, labelled with the fields unless the labels would overlap. */
static void add_fields(lra_plot *f, const plot *p, double left, double right)
{
    lra_text *t = &f->script;
    double end = -INFINITY;
    for (int r = 0; r < p->n_rungs; r++) {
        double field = field_of(p, r), x = log2(field);
        lra_text_add(t,
                     "set arrow from %g, graph 0 to %g, graph 1 nohead lw 2 dt %s lc rgb '%s' "
                     "back\n",
                     x, x, LRA_DASH_DOTS, lra_plot_ramp(r, p->n_rungs));
        double cm = (x - p->x0) / (p->x1 - p->x0) * (right - left);
        double half = 0.09 * (1 + floor(log10(field)));
        if (cm - half < end) continue;
        lra_text_add(t, "set label '%.0f' at %g, graph 1.05 center\n", field, x);
        end = cm + half + 0.1;
    }
    lra_text_add(t, "set label '%s =' at screen %.4g, graph 1.05 right\n",
                 lra_sweep_is_pooled(p->sweep) ? "2R+1" : "R+1", (left - 0.05) / f->width);
}

static void add_axes(lra_plot *f, const plot *p)
{
    lra_text *t = &f->script;
    const lra_sweep *s = p->sweep;
    lra_text_add(t, "set xrange [%g:%g]\nset yrange [%g:%g]\nset xtics (", p->x0, p->x1, p->y0,
                 p->y1);
    for (int i = 0; i < s->n; i++) {
        lra_text_add(t, i ? ", " : "");
        lra_plot_tick(t, s->value[i], place(p, i));
    }
    lra_plot_add_quoted(t, ")\nset xlabel ",
                        lra_sweep_is_distance(s) ? "distance of the dependency (tokens)" : s->key,
                        " offset 0,0.6\n");
    double chance = p->metric->scale * lra_ladder_value(s->at[0], s->at[0]->ladder.chance);
    lra_text_add(t,
                 "set arrow from graph 0, first %g to graph 1, first %g nohead lw 1.5 dt %s "
                 "lc rgb '#444444'\n",
                 chance, chance, LRA_DASH_CHANCE);
}

/* True if the rung has points with a covering field (covered), or without one (!covered). */
static bool has_points(const plot *p, int rung, bool covered)
{
    bool found = false;
    for (int i = 0; i < p->sweep->n; i++)
        found = found || lra_sweep_covers(p->sweep, i, p->first + rung) == covered;
    return found;
}

/* Draws lines, then bars, then points, each from the lightest to the darkest rung. */
static void add_curves(lra_text *t, const plot *p)
{
    lra_text_add(t, "plot ");
    for (int r = 0; r < p->n_rungs; r++)
        lra_text_add(t, "%s'%s' index %d using 1:2 with lines lc rgb '%s' lw %g", r ? next : "",
                     dat, r, lra_plot_ramp(r, p->n_rungs), width_of(p, r));
    for (int r = 0; r < p->n_rungs; r++)
        lra_text_add(t,
                     "%s'' index %d using 1:3:(0):($4-$3) with vectors heads fixed "
                     "size screen 0.01,90 lc rgb '%s' lw 2",
                     next, r, lra_plot_ramp(r, p->n_rungs));
    for (int r = 0; r < p->n_rungs; r++) {
        const char *color = lra_plot_ramp(r, p->n_rungs);
        double size = size_of(p, r);
        if (has_points(p, r, false))
            lra_text_add(t,
                         "%s'' index %d using 1:6 with points lc rgb '#ffffff' pt 7 ps %g"
                         "%s'' index %d using 1:6 with points lc rgb '%s' lw 2 pt 6 ps %g",
                         next, r, size, next, r, color, size);
        if (has_points(p, r, true))
            lra_text_add(t, "%s'' index %d using 1:5 with points lc rgb '%s' pt 7 ps %g", next, r,
                         color, size);
    }
    lra_text_add(t, "\n");
}

/* Fills the legend: rungs, hollow points, chance. Returns the number of entries. */
static int fill_legend(const plot *p, lra_plot_entry *key)
{
    int n = 0;
    for (int r = 0; r < p->n_rungs; r++) {
        key[n] = (lra_plot_entry){.kind = LRA_LEGEND_LINE,
                                  .color = lra_plot_ramp(r, p->n_rungs),
                                  .line = width_of(p, r),
                                  .point = 7,
                                  .size = size_of(p, r)};
        char name[48];
        snprintf(key[n++].text, sizeof key->text, "%s",
                 lra_ladder_rung_name(&p->sweep->at[0]->kind,
                                      ladder(p, 0)->row[p->first + r].kernel, name));
    }
    if (lra_sweep_is_distance(p->sweep))
        key[n++] = (lra_plot_entry){
            "beyond receptive field", LRA_LEGEND_LINE, "#444444", NULL, 0, 6, 1};
    key[n++] = (lra_plot_entry){"chance", LRA_LEGEND_LINE, "#444444", LRA_DASH_CHANCE, 1.5, 0, 0};
    return n;
}

static void add_script(lra_plot *f, const plot *p)
{
    bool distance = lra_sweep_is_distance(p->sweep);
    double left = 1.35, right = f->width - 0.15, bottom = 1.1;
    lra_plot_entry key[LRA_PLOT_ENTRIES];
    int n = fill_legend(p, key), rows = lra_plot_legend_rows(f, left, n, key);
    f->height = 6.6 + LRA_LINE_CM * rows;
    double top = lra_plot_start(f);
    lra_plot_legend(f, left, top, n, key);
    top -= LRA_LINE_CM * rows + (distance ? 0.75 : 0.3);
    lra_plot_box(f, left, right, bottom, top);
    char *axis = lra_format(p->metric->scale == 100 ? "%s (%%)" : "%s", p->metric->text);
    lra_plot_axis(f, 0.25, 0.5 * (bottom + top), axis);
    lra_free(axis);
    add_axes(f, p);
    if (distance) add_fields(f, p, left, right);
    add_curves(&f->script, p);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_ladder_view *views;
    lra_sweep *sweeps = NULL;
    int n_views = lra_ladder_views(in->list, in->n, &in->scale, &views, e);
    if (n_views < 0) return n_views;
    int n = lra_sweeps_find(views, n_views, &sweeps, e), rc = n < 0 ? n : 0;
    if (n > 1) rc = lra_fail(e, "%d sweeps, the figure shows one; name fewer results", n);
    plot p;
    if (rc == 0) rc = open_plot(&p, &sweeps[0], e);
    if (rc == 0) {
        const lra_ladder_view *v = p.sweep->at[0];
        int seeds = v->data.n_seeds;
        f->width = lra_plot_wide(LRA_COLUMN_CM);
        char *model = lra_model_shown(v->first->model, v->first->model, v->first->config);
        f->title = lra_format("%s, preset %s, %s, %d seed%s, 95 %% intervals", v->first->task,
                              v->first->preset, model, seeds, seeds == 1 ? "" : "s");
        lra_free(model);
        for (int i = 0; i < p.sweep->n; i++) lra_figure_add_ladder(f, p.sweep->at[i]);
        add_data(&f->data, &p);
        add_script(f, &p);
    }
    if (n > 0) lra_sweeps_free(sweeps, n);
    lra_ladder_views_free(views, n_views);
    return rc;
}

const lra_report_figure lra_figure_sweep = {
    "sweep", "value of each rung against a task parameter, with receptive fields", make,
    LRA_FROM_RESULTS};
