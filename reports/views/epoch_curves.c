/* Draws the validation metric by epoch (epoch_curves.h). */
#include "reports/views/epoch_curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"
#include "reports/results/published.h"
#include "reports/results/result_metric.h"
#include "reports/views/cell_names.h"
#include "reports/views/model_names.h"

enum { MOST = LRA_PLOT_STYLES, PANELS = 4 };
static const char next[] = ", \\\n     ";

typedef struct {
    const char *task;
    const lra_metric *metric;
    double epochs, y0, y1;
    int n, at[MOST]; /* groups of the panel */
} panel;

typedef struct {
    int n_groups, n_panels, n_names;
    lra_result_group *group;
    char **name;           /* (n_groups) names of the configurations */
    const char *key[MOST]; /* (n_names) different names, in the order of the styles */
    const lra_result *first[MOST];
    panel panel[PANELS];
} plot;

static double value_at(const panel *p, const lra_result *r, int64_t epoch)
{
    return p->metric->scale * r->history[epoch * LRA_HISTORY_COLUMNS + LRA_HISTORY_VAL_VALUE];
}

/* Name of a model in the published tables. */
static const char *published_name(const char *model)
{
    static const char *const names[][2] = {
        {"transformer", "vanilla-attention"}, {"l", "l-attention"}, {"s", "s-attention"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(model, names[i][0]) == 0) return names[i][1];
    return model;
}

static double published(const lra_epoch_curves *s, const panel *p, const lra_result *r)
{
    return lra_published(s->paper, s->table, published_name(r->model), NULL, p->task, s->metric);
}

/* ---- which runs ------------------------------------------------------------------------------ */

static void widen(panel *p, double x)
{
    if (isfinite(x)) p->y0 = fmin(p->y0, x), p->y1 = fmax(p->y1, x);
}

static void measure_panel(const lra_epoch_curves *s, const plot *x, panel *p)
{
    for (int k = 0; k < p->n; k++) {
        const lra_result_group *g = &x->group[p->at[k]];
        widen(p, published(s, p, g->run[0]));
        for (int i = 0; i < g->n; i++) {
            p->epochs = fmax(p->epochs, (double)g->run[i]->n_epochs);
            for (int64_t t = 0; t < g->run[i]->n_epochs; t++) widen(p, value_at(p, g->run[i], t));
        }
    }
    if (!(p->y0 <= p->y1)) p->y0 = 0, p->y1 = 1;
    lra_plot_widen(&p->y0, &p->y1, 0.05);
}

/* Index of the style of a group: that of its name. */
static int style_of(plot *x, int group, lra_err *e)
{
    for (int i = 0; i < x->n_names; i++)
        if (strcmp(x->key[i], x->name[group]) == 0) return i;
    if (x->n_names == MOST)
        return lra_fail(e, "more than %d models, one figure holds at most %d; name fewer",
                        (int)MOST, (int)MOST);
    x->key[x->n_names] = x->name[group];
    x->first[x->n_names] = x->group[group].run[0];
    return x->n_names++;
}

static int add_panel(plot *x, const lra_epoch_curves *s, const char *task, lra_err *e)
{
    panel p = {.task = task, .y0 = INFINITY, .y1 = -INFINITY};
    for (int g = 0; g < x->n_groups; g++) {
        const lra_result *r = x->group[g].run[0];
        if (strcmp(r->task, task) != 0 || r->n_epochs < 1) continue;
        if (style_of(x, g, e) < 0) return LRA_FAILED;
        if (p.n && lra_result_metric(r) != p.metric)
            return lra_fail(e, "results of '%s' in different metrics; name results in one metric",
                            task);
        if (p.n == MOST)
            return lra_fail(e, "more than %d models on '%s'; name fewer", (int)MOST, task);
        p.metric = lra_result_metric(r);
        p.at[p.n++] = g;
    }
    if (p.n == 0) return 0;
    measure_panel(s, x, &p);
    x->panel[x->n_panels++] = p;
    return 0;
}

/* ---- data ------------------------------------------------------------------------------------ */

static void add_row(lra_text *t, double epoch, double value)
{
    lra_text_add(t, "%g", epoch);
    lra_plot_number(t, value);
    lra_text_add(t, "\n");
}

/* Adds two data blocks for each group of a panel: the mean, with the published value in a block of
 * its own below; the seeds, separated by empty lines. */
static void add_data(lra_text *t, const lra_epoch_curves *s, const plot *x)
{
    for (int i = 0; i < x->n_panels; i++)
        for (int k = 0; k < x->panel[i].n; k++) {
            const panel *p = &x->panel[i];
            const lra_result_group *g = &x->group[p->at[k]];
            int64_t epochs = g->run[0]->n_epochs;
            for (int r = 1; r < g->n; r++)
                if (g->run[r]->n_epochs < epochs) epochs = g->run[r]->n_epochs;
            lra_plot_comment(t, "%s, %s: epoch, mean of %d seeds", p->task, x->name[p->at[k]],
                             g->n);
            for (int64_t epoch = 0; epoch < epochs; epoch++) {
                double mean = 0;
                for (int r = 0; r < g->n; r++) mean += value_at(p, g->run[r], epoch) / g->n;
                add_row(t, (double)epoch + 1, mean);
            }
            lra_text_add(t, "\n\n");
            lra_plot_comment(t, "each seed");
            for (int r = 0; r < g->n; r++) {
                for (int64_t epoch = 0; epoch < g->run[r]->n_epochs; epoch++)
                    add_row(t, (double)epoch + 1, value_at(p, g->run[r], epoch));
                lra_text_add(t, r + 1 < g->n ? "\n" : "\n\n");
            }
            lra_plot_comment(t, "published");
            add_row(t, p->epochs, published(s, p, g->run[0]));
            lra_text_add(t, "\n\n");
        }
}

/* ---- script ---------------------------------------------------------------------------------- */

static void add_curves(lra_text *t, const lra_epoch_curves *s, plot *x, int at, int first)
{
    lra_err e;
    const panel *p = &x->panel[at];
    lra_text_add(t, "plot NaN");
    for (int k = 0; k < p->n; k++) {
        const lra_plot_style *style = &lra_plot_styles[style_of(x, p->at[k], &e)];
        int block = first + 3 * k;
        if (x->group[p->at[k]].n > 1)
            lra_text_add(t, "%s'%s.dat' index %d using 1:2 with lines lc rgb '%s' lw 0.5", next,
                         s->figure, block + 1, style->color);
        lra_text_add(
            t, "%s'%s.dat' index %d using 1:2 with linespoints lc rgb '%s' dt %s lw 2 pt %d ps 0.5",
            next, s->figure, block, style->color, style->dash, style->full);
        lra_text_add(t, "%s'' index %d using 1:2 with points lc rgb '%s' lw 1.8 pt %d ps 1", next,
                     block + 2, style->color, style->hollow);
    }
    lra_text_add(t, "\n");
}

static int fill_key(const lra_epoch_curves *s, const plot *x, lra_plot_entry key[LRA_PLOT_ENTRIES])
{
    int n = 0;
    bool any = false;
    for (int i = 0; i < x->n_names; i++) {
        const lra_plot_style *style = &lra_plot_styles[i];
        char *name = lra_model_shown(x->key[i], x->first[i]->model, x->first[i]->config);
        key[n] = (lra_plot_entry){.kind = LRA_LEGEND_LINE,
                                  .color = style->color,
                                  .dash = style->dash,
                                  .line = 2,
                                  .point = style->full,
                                  .size = 0.6};
        snprintf(key[n++].text, sizeof key->text, "%s", name);
        lra_free(name);
    }
    for (int i = 0; i < x->n_panels; i++)
        for (int k = 0; k < x->panel[i].n; k++)
            any = any || !isnan(published(s, &x->panel[i], x->group[x->panel[i].at[k]].run[0]));
    if (any)
        key[n++] = (lra_plot_entry){"published, end of training",
                                    LRA_LEGEND_LINE,
                                    "#333333",
                                    NULL,
                                    0,
                                    lra_plot_styles[0].hollow,
                                    1};
    return n;
}

static void add_script(lra_plot *f, const lra_epoch_curves *s, plot *x)
{
    const double left = 1.4, bottom = 1.1;
    lra_plot_entry key[LRA_PLOT_ENTRIES];
    lra_text *t = &f->script;
    f->width = lra_plot_wide(x->n_panels > 1 ? LRA_PAGE_CM : LRA_COLUMN_CM);
    int n = fill_key(s, x, key), rows = lra_plot_legend_rows(f, left, n, key), block = 0;
    double each = (f->width - 0.25) / x->n_panels, wide = each - left;
    f->height = 6.4 + LRA_LINE_CM * rows;
    double top = lra_plot_start(f);
    lra_text_add(t, "set multiplot\nset key off\nset grid ytics lt 1 lw 0.8 lc rgb '#e4e4e4'\n");
    lra_plot_legend(f, left, top, n, key);
    top -= LRA_LINE_CM * rows + 0.65;
    for (int i = 0; i < x->n_panels; i++) {
        const panel *p = &x->panel[i];
        double at = left + i * each;
        char *axis = lra_format("validation %s", p->metric->text);
        lra_plot_box(f, at, at + wide, bottom, top);
        lra_plot_axis(f, at - 1.2, 0.5 * (bottom + top), axis);
        lra_free(axis);
        lra_plot_add_quoted(t, "set label ", p->task, " at screen %.4g, screen %.4g center\n",
                            (at + 0.5 * wide) / f->width, (top + 0.2) / f->height);
        lra_text_add(t,
                     "set xrange [0:%g]\nset xtics %g\nset yrange [%g:%g]\nset ytics %g nomirror\n"
                     "set xlabel 'epoch' offset 0,0.6\n",
                     1.04 * p->epochs, fmax(1, lra_plot_step(p->epochs)), p->y0, p->y1,
                     lra_plot_step(p->y1 - p->y0));
        add_curves(t, s, x, i, block);
        block += 3 * p->n;
        lra_text_add(t, "unset label\nunset arrow\nunset object\n");
    }
    lra_text_add(t, "unset multiplot\n");
}

int lra_epoch_curves_make(const lra_epoch_curves *s, const lra_report_input *in, lra_plot *f,
                          lra_err *e)
{
    plot *x = lra_alloc(sizeof *x);
    int rc = 0;
    x->n_groups = lra_results_group(in->list, in->n, &x->group);
    x->name = lra_result_group_names(x->n_groups, x->group);
    for (int i = 0; s->task[i] && i < PANELS && rc == 0; i++) rc = add_panel(x, s, s->task[i], e);
    if (rc == 0 && x->n_panels == 0) {
        lra_text tasks = {0};
        for (int i = 0; s->task[i]; i++) lra_text_add(&tasks, "%s%s", i ? ", " : "", s->task[i]);
        rc = lra_fail(e, "no result of %s with a learning curve; 'lra-probe train' makes them",
                      tasks.s);
        lra_text_free(&tasks);
    }
    if (rc == 0) {
        f->title = lra_copy_text(s->title);
        for (int i = 0; i < x->n_panels; i++)
            for (int k = 0; k < x->panel[i].n; k++) {
                const lra_result_group *g = &x->group[x->panel[i].at[k]];
                for (int r = 0; r < g->n; r++) lra_plot_source(f, "run", g->run[r]->run);
                lra_plot_source(f, "data", g->run[0]->fingerprint);
            }
        add_data(&f->data, s, x);
        add_script(f, s, x);
    }
    lra_names_free(x->name, x->n_groups);
    lra_result_groups_free(x->group, x->n_groups);
    lra_free(x);
    return rc;
}
