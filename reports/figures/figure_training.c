/* Figure training: learning curves: training loss (left) and metric on the validation split (right)
 * by training step. Thin lines: seeds; thick line: their mean, up to the last step that all seeds
 * have; points: best epoch of each seed. The line of chance is the metric, on the test split, of
 * the best prediction that ignores the inputs.
 * Source: figures 2 and 3 of the LaS paper, with one panel for each task. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "reports/views/probe_view.h"
#include "reports/report.h"
#include "reports/results/result_metric.h"
#include "reports/views/model_names.h"

enum { MOST = LRA_PLOT_STYLES, LOSS = 0, VALUE, PANELS };
static const char dat[] = "training.dat", next[] = ", \\\n     ";
static const int column[PANELS] = {LRA_HISTORY_TRAIN_LOSS, LRA_HISTORY_VAL_VALUE};

typedef struct {
    int n;
    lra_result_group *group;
    char **name; /* (n) names of the models */
    const lra_metric *metric;
    double chance, steps, low[PANELS], high[PANELS];
    lra_plot_style style[MOST];
} plot;

static double at(const plot *p, const lra_result *r, int64_t epoch, int panel)
{
    double x = r->history[epoch * LRA_HISTORY_COLUMNS + column[panel]];
    return panel == VALUE ? p->metric->scale * x : x;
}

static double step(const lra_result *r, int64_t epoch)
{
    return r->history[epoch * LRA_HISTORY_COLUMNS + LRA_HISTORY_STEP];
}

/* ---- which runs ------------------------------------------------------------------------------ */

static int check(const plot *p, lra_err *e)
{
    const lra_result *first = p->group[0].run[0];
    if (p->n > MOST)
        return lra_fail(e, "%d models, one figure holds at most %d; name fewer on the command line",
                        p->n, (int)MOST);
    for (int i = 0; i < p->n; i++) {
        const lra_result *r = p->group[i].run[0];
        if (strcmp(r->fingerprint, first->fingerprint) != 0 || lra_result_metric(r) != p->metric)
            return lra_fail(
                e, "results on different data: tasks '%s' and '%s'; name results on the same data",
                first->task, r->task);
        if (r->n_epochs < 1)
            return lra_fail(e, "run %s of '%s' was not trained and has no curve", r->run, r->task);
    }
    return 0;
}

static void widen(plot *p, int panel, double x)
{
    if (!isfinite(x)) return;
    p->low[panel] = fmin(p->low[panel], x), p->high[panel] = fmax(p->high[panel], x);
}

static void span(plot *p)
{
    for (int k = 0; k < PANELS; k++) p->low[k] = INFINITY, p->high[k] = -INFINITY;
    for (int i = 0; i < p->n; i++)
        for (int s = 0; s < p->group[i].n; s++) {
            const lra_result *r = p->group[i].run[s];
            for (int64_t k = 0; k < r->n_epochs; k++)
                for (int panel = 0; panel < PANELS; panel++) widen(p, panel, at(p, r, k, panel));
            p->steps = fmax(p->steps, step(r, r->n_epochs - 1));
        }
    widen(p, VALUE, p->chance);
    for (int k = 0; k < PANELS; k++) {
        if (!(p->low[k] <= p->high[k])) p->low[k] = 0, p->high[k] = 1;
        lra_plot_widen(&p->low[k], &p->high[k], 0.05);
    }
}

static int open_plot(plot *p, const lra_report_input *in, lra_err *e)
{
    *p = (plot){0};
    if (in->n == 0) return lra_fail(e, "no results; 'lra-probe train' makes them");
    p->n = lra_results_group(in->list, in->n, &p->group);
    p->metric = lra_result_metric(p->group[0].run[0]);
    p->chance = p->metric->scale * lra_result_chance(p->group[0].run[0]);
    if (check(p, e) != 0) return LRA_FAILED;
    const lra_result *first[MOST];
    for (int i = 0; i < p->n; i++) first[i] = p->group[i].run[0];
    p->name = lra_result_group_names(p->n, p->group);
    for (int i = 0; i < p->n; i++)
        p->style[i] = lra_plot_series(i, p->n, lra_results_rise(p->n, first));
    span(p);
    return 0;
}

static void close_plot(plot *p)
{
    if (p->name) lra_names_free(p->name, p->n);
    lra_result_groups_free(p->group, p->n);
}

/* ---- data ------------------------------------------------------------------------------------ */

static void add_row(lra_text *t, double x, double loss, double value)
{
    lra_text_add(t, "%.0f", x);
    lra_plot_number(t, loss);
    lra_plot_number(t, value);
    lra_text_add(t, "\n");
}

/* Adds the mean over seeds at the steps of the first seed, up to the last step that all seeds
 * have. */
static void add_mean(lra_text *t, const plot *p, const lra_result_group *g)
{
    int64_t epochs = g->run[0]->n_epochs;
    for (int s = 1; s < g->n; s++)
        if (g->run[s]->n_epochs < epochs) epochs = g->run[s]->n_epochs;
    for (int64_t k = 0; k < epochs; k++) {
        double mean[PANELS] = {0};
        for (int s = 0; s < g->n; s++)
            for (int panel = 0; panel < PANELS; panel++)
                mean[panel] += at(p, g->run[s], k, panel) / g->n;
        add_row(t, step(g->run[0], k), mean[LOSS], mean[VALUE]);
    }
    lra_text_add(t, "\n\n");
}

/* Adds three data blocks for each model: the mean; the seeds, separated by an empty line; the best
 * epochs. */
static void add_data(lra_text *t, const plot *p)
{
    for (int i = 0; i < p->n; i++) {
        const lra_result_group *g = &p->group[i];
        lra_plot_comment(
            t,
            "%s: step, training loss, validation %s: mean of %d seeds; each seed; selected epoch",
            p->name[i], p->metric->text, g->n);
        add_mean(t, p, g);
        for (int s = 0; s < g->n; s++) {
            for (int64_t k = 0; k < g->run[s]->n_epochs; k++)
                add_row(t, step(g->run[s], k), at(p, g->run[s], k, LOSS),
                        at(p, g->run[s], k, VALUE));
            lra_text_add(t, s + 1 < g->n ? "\n" : "\n\n");
        }
        for (int s = 0; s < g->n; s++) {
            int64_t k = g->run[s]->training.best_epoch - 1;
            if (k >= 0 && k < g->run[s]->n_epochs)
                add_row(t, step(g->run[s], k), at(p, g->run[s], k, LOSS),
                        at(p, g->run[s], k, VALUE));
        }
        lra_text_add(t, "? ? ?\n\n\n"); /* gnuplot fails on an empty block */
    }
}

/* ---- script ---------------------------------------------------------------------------------- */

static void add_curves(lra_text *t, const plot *p, int panel)
{
    int y = panel + 2;
    lra_text_add(t, "plot NaN");
    for (int i = 0; i < p->n; i++)
        if (p->group[i].n > 1)
            lra_text_add(t, "%s'%s' index %d using 1:%d with lines lc rgb '%s' lw 0.5", next, dat,
                         3 * i + 1, y, p->style[i].color);
    for (int i = 0; i < p->n; i++)
        lra_text_add(t, "%s'%s' index %d using 1:%d with lines lc rgb '%s' dt %s lw 2.2", next, dat,
                     3 * i, y, p->style[i].color, p->style[i].dash);
    for (int i = 0; i < p->n; i++)
        lra_text_add(t, "%s'%s' index %d using 1:%d with points lc rgb '%s' pt %d ps 0.7", next,
                     dat, 3 * i + 2, y, p->style[i].color, p->style[i].full);
    lra_text_add(t, "\n");
}

static int fill_key(const plot *p, lra_plot_entry key[LRA_PLOT_ENTRIES])
{
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        const lra_plot_style *s = &p->style[i];
        key[n] = (lra_plot_entry){.kind = LRA_LEGEND_LINE,
                                  .color = s->color,
                                  .dash = s->dash,
                                  .line = 2.2,
                                  .point = s->full,
                                  .size = 0.6};
        char *name = lra_model_shown(p->name[i], p->group[i].run[0]->model,
                                     p->group[i].run[0]->config);
        snprintf(key[n++].text, sizeof key->text, "%s", name);
        lra_free(name);
    }
    key[n++] = (lra_plot_entry){"chance", LRA_LEGEND_LINE, "#444444", LRA_DASH_CHANCE, 1.5, 0, 0};
    return n;
}

static void add_script(lra_plot *f, const plot *p)
{
    char *value = lra_format("validation %s%s", p->metric->text,
                             p->metric->scale == 100 ? " (%)" : "");
    const char *const axis[PANELS] = {"training loss", value};
    lra_plot_entry key[LRA_PLOT_ENTRIES];
    lra_text *t = &f->script;
    double bottom = 1.1, left = 1.6, between = 1.7, wide;
    f->width = lra_plot_wide(LRA_PAGE_CM);
    wide = (f->width - 0.3 - left - between) / PANELS;
    int n = fill_key(p, key), rows = lra_plot_legend_rows(f, left, n, key);
    f->height = 6.2 + LRA_LINE_CM * rows;
    double top = lra_plot_start(f);
    lra_text_add(t, "set multiplot\nset grid xtics ytics lt 1 lw 0.8 lc rgb '#e4e4e4'\n");
    lra_plot_legend(f, left, top, n, key);
    top -= LRA_LINE_CM * rows + 0.3;
    for (int k = 0; k < PANELS; k++) {
        double x = left + k * (wide + between);
        lra_plot_box(f, x, x + wide, bottom, top);
        lra_plot_axis(f, x - 1.35, 0.5 * (bottom + top), axis[k]);
        lra_text_add(t,
                     "set xrange [0:%g]\nset xtics %g\nset yrange [%g:%g]\nset ytics %g\n"
                     "set xlabel 'optimiser steps' offset 0,0.6\n",
                     1.02 * p->steps, lra_plot_step(p->steps), p->low[k], p->high[k],
                     lra_plot_step(p->high[k] - p->low[k]));
        if (k == VALUE)
            lra_text_add(
                t,
                "set arrow from graph 0, first %g to graph 1, first %g nohead lw 1.5 dt %s "
                "lc rgb '#444444' back\n",
                p->chance, p->chance, LRA_DASH_CHANCE);
        add_curves(t, p, k);
        lra_text_add(t, "unset label\nunset arrow\nunset object\n");
    }
    lra_text_add(t, "unset multiplot\n");
    lra_free(value);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    plot p;
    int rc = open_plot(&p, in, e);
    if (rc == 0) {
        const lra_result *r = p.group[0].run[0];
        f->title = lra_format("Training on %s, preset %s (thin: seeds, thick: mean, points: "
                              "selected epochs)",
                              r->task, r->preset);
        for (int i = 0; i < in->n; i++) lra_plot_source(f, "run", in->list[i]->run);
        lra_plot_source(f, "data", r->fingerprint);
        add_data(&f->data, &p);
        add_script(f, &p);
    }
    close_plot(&p);
    return rc;
}

const lra_report_figure lra_figure_training = {
    "training", "training loss and validation metric against optimiser steps", make,
    LRA_FROM_RESULTS};
