/* Figure sweep: the metric of every rung against a parameter of the task.  Where it is the distance of the task's
 * dependencies, a line of the rung's colour stands at its field (2R + 1; R + 1 where answers are asked at steps):
 * the truth is chance from there on.  Full points: the field covers the distance; hollow: it does not.
 * Bars: 95 % intervals; points that would cover each other stand side by side.
 * Source: the definition is ours; RULER's effective length (Hsieh et al. 2024) is read off such curves. */
#include <inttypes.h>
#include <math.h>

#include "kernels/base/mem.h"
#include "reports/plot.h"
#include "reports/report.h"
#include "reports/sweep_view.h"

enum { MOST_RUNGS = LRA_PLOT_STYLES };
static const char dat[] = "sweep.dat", next[] = ", \\\n     ";

/* A sweep and the axes of its figure. */
typedef struct {
    const lra_sweep *sweep;
    int n_rungs, first; /* the null row is no curve */
    bool octaves;       /* x is log2 of the values, which are positive numbers; else their order */
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

/* The range of y, by a value of the metric. */
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
        return lra_fail(e, "%d rungs, at most %d fit into one figure; name fewer results",
                        p->n_rungs, MOST_RUNGS);
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

/* ---- data -------------------------------------------------------------------------------------------- */

/* One block per rung: place, value, accuracy, lo, hi, accuracy where the field covers the distance, where not. */
static void add_data(lra_text *t, const plot *p)
{
    const lra_sweep *s = p->sweep;
    double step = 0.018 * (p->x1 - p->x0), scale = p->metric->scale;
    for (int r = 0; r < p->n_rungs; r++) {
        const lra_ladder_row *first = &ladder(p, 0)->row[p->first + r];
        lra_text_add(t,
                     "# %s %s, K = %" PRId64 ", field %.0f\n# place %s value lo hi covered "
                     "not-covered\n",
                     s->at[0]->first->task, s->at[0]->first->preset, first->kernel, field_of(p, r),
                     s->key);
        for (int i = 0; i < s->n; i++) {
            lra_estimate a = value_of(p, i, r);
            double value = scale * a.value;
            bool covers = lra_sweep_covers(s, i, p->first + r);
            lra_text_add(t, "%.6g %s", place(p, i) + step * (r - 0.5 * (p->n_rungs - 1)),
                         s->value[i]);
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

/* ---- script ------------------------------------------------------------------------------------------ */

static void add_axes(lra_text *t, const plot *p)
{
    const lra_sweep *s = p->sweep;
    bool distance = lra_sweep_is_distance(s);
    lra_text_add(t, "set xrange [%g:%g]\nset yrange [%g:%g]\nset xtics scale 0.6 (", p->x0, p->x1,
                 p->y0, p->y1);
    for (int i = 0; i < s->n; i++)
        lra_text_add(t, "%s'%s' %g", i ? ", " : "", s->value[i], place(p, i));
    lra_text_add(t, ")\nset xlabel '%s' font ',9' offset 0,0.5\n",
                 distance ? "distance of the dependency (tokens)" : s->key);
    for (int r = 0; r < p->n_rungs && distance; r++)
        lra_text_add(t,
                     "set arrow from %g, graph 0 to %g, graph 1 nohead lw 1.4 dt (3,3) lc rgb '%s' "
                     "back\nset label '%.0f' at %g, graph 1.045 center font ',8' tc rgb '%s'\n",
                     log2(field_of(p, r)), log2(field_of(p, r)), lra_plot_styles[r].color,
                     field_of(p, r), log2(field_of(p, r)), lra_plot_styles[r].color);
    if (distance)
        lra_text_add(t, "set label '%s =' at graph -0.012, graph 1.045 right font ',8'\n",
                     lra_sweep_is_pooled(s) ? "2R+1" : "R+1");
    lra_plot_line chance = {p->metric->scale * lra_ladder_value(s->at[0], s->at[0]->data.chance), 3,
                            "chance"};
    lra_plot_lines(t, 1, &chance, p->x0, p->y0, p->y1);
}

static void add_curves(lra_text *t, const plot *p)
{
    lra_text_add(t, "plot ");
    for (int r = 0; r < p->n_rungs; r++)
        lra_text_add(t,
                     "'%s' index %d using 1:3 with lines lc rgb '%s' lw 1.4 notitle%s"
                     "'' index %d using 1:4:(0):($5-$4) with vectors nohead lc rgb '%s' lw 1.2 "
                     "notitle%s",
                     dat, r, lra_plot_styles[r].color, next, r, lra_plot_styles[r].color, next);
    for (int r = 0; r < p->n_rungs; r++) {
        const lra_plot_style *s = &lra_plot_styles[r];
        lra_text_add(t,
                     "'%s' index %d using 1:7 with points lc rgb '#ffffff' pt %d ps 0.7 notitle%s"
                     "'' index %d using 1:7 with points lc rgb '%s' lw 1.2 pt %d ps 0.7 notitle%s"
                     "'' index %d using 1:6 with points lc rgb '%s' pt %d ps 0.7 notitle%s"
                     "NaN with linespoints lc rgb '%s' lw 1.4 pt %d ps 0.7 title '%s'%s",
                     dat, r, s->full, next, r, s->color, s->hollow, next, r, s->color, s->full,
                     next, s->color, s->full,
                     lra_ladder_rung_name(&p->sweep->at[0]->kind,
                                          ladder(p, 0)->row[p->first + r].kernel, (char[48]){0}),
                     r + 1 < p->n_rungs ? next : "\n");
    }
}

static void add_script(lra_text *t, const plot *p)
{
    const lra_ladder_view *v = p->sweep->at[0];
    bool distance = lra_sweep_is_distance(p->sweep);
    char *title = lra_format("%s, preset %s, %s, %d seed%s, 95 %% intervals", v->first->task,
                             v->first->preset, v->first->model, v->data.n_seeds,
                             v->data.n_seeds == 1 ? "" : "s");
    lra_plot_start(t);
    lra_plot_title(t, title);
    char *axis = lra_format(p->metric->scale == 100 ? "%s (%%)" : "%s", p->metric->text);
    lra_plot_panel(t, 0.14, distance ? 0.785 : 0.85, axis);
    lra_free(axis);
    lra_text_add(t, "set key at screen 0.56, screen 0.93 center top horizontal maxrows 1 font "
                    "',8' samplen 1.2 width 0.5 reverse Left noenhanced\n");
    add_axes(t, p);
    add_curves(t, p);
    lra_free(title);
}

static int write(const char *folder, const lra_report_input *in, lra_err *e)
{
    lra_ladder_view *views;
    lra_sweep *sweeps = NULL;
    int n_views = lra_ladder_views(in->list, in->n, &in->scale, &views, e);
    if (n_views < 0) return n_views;
    int n = lra_sweeps_find(views, n_views, &sweeps, e), rc = n < 0 ? n : 0;
    if (n > 1) rc = lra_fail(e, "%d sweeps, one fits into a figure; name fewer results", n);
    lra_text data = {0}, script = {0};
    plot p;
    if (rc == 0) rc = open_plot(&p, &sweeps[0], e);
    if (rc == 0) {
        add_data(&data, &p);
        add_script(&script, &p);
        rc = lra_plot_write(folder, "sweep", &data, &script, e);
    }
    lra_text_free(&data);
    lra_text_free(&script);
    if (n > 0) lra_sweeps_free(sweeps, n);
    lra_ladder_views_free(views, n_views);
    return rc;
}

const lra_report_figure lra_figure_sweep = {
    "sweep",         "every rung against a parameter of the task, with its field", write, 8.6, 7,
    LRA_FROM_RESULTS};
