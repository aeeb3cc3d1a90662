/* Figure loc-3: predictions of one ListOps model (the most accurate one, if there are several), by
 * root operator and label.
 * Top: accuracy on the rows with a label, with 95 % intervals, next to the frequency of that label
 * among all predictions for the operator (the null value). Middle: confusion matrix, in which the
 * row of each true label sums to 100 %. Bottom: distributions of predicted and true labels, which
 * show whether a model predicts only the most frequent label.
 * Source: Figure 3 of "On the locality bias and results in the Long Range Arena", which contains
 * the top part. */
#include <inttypes.h>
#include <math.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/model_names.h"

enum { PANELS = 4, L = LRA_LISTOPS_LABELS }; /* root operators in the order MIN, MAX, MED, SM */
static const char dat[] = "loc-3.dat", recalled[] = "#a6d8c4", predicted_color[] = "#9ecae1";
#define LEFT 1.3 /* left margin of the first panel in cm */

/* Data of a model that the figure shows. */
typedef struct {
    const lra_listops_view *view;
    const lra_listops_cell *cell;
    lra_breakdown_row recall[1 + LRA_LISTOPS_ROOTS * L]; /* row 0: all examples */
    /* by label and prediction; sums over seeds */
    int64_t count[LRA_LISTOPS_ROOTS][L][L];
} model;

static void find_best(const lra_listops_view *v, model *best)
{
    *best = (model){.view = v};
    for (int c = 0; c < v->n_cells; c++) {
        model m = {.view = v, .cell = &v->cell[c]};
        lra_listops_recall(v, m.cell, m.recall);
        if (!best->cell || m.recall[0].accuracy.value > best->recall[0].accuracy.value) *best = m;
    }
    lra_breakdown_confusion(&best->cell->data, LRA_LISTOPS_ROOTS, v->first->root,
                            best->count[0][0]);
}

/* ---- data ------------------------------------------------------------------------------------ */

static void add_labels(lra_text *t, const model *m, int op)
{
    int64_t n = 0, predicted[L] = {0};
    for (int k = 0; k < L; k++)
        for (int p = 0; p < L; p++) n += m->count[op][k][p], predicted[p] += m->count[op][k][p];
    lra_plot_comment(t, "%s", lra_listops_root_names[op]);
    lra_plot_comment(t, "label examples accuracy lo hi predicted true");
    for (int k = 0; k < L; k++) {
        const lra_breakdown_row *r = &m->recall[1 + op * L + k];
        double rows = (double)n / m->cell->data.n_seeds;
        lra_text_add(t, "%d %.0f", k, (double)r->n);
        lra_plot_number(t, 100 * r->accuracy.value);
        lra_plot_number(t, 100 * r->accuracy.lo);
        lra_plot_number(t, 100 * r->accuracy.hi);
        lra_plot_number(t, 100 * (double)predicted[k] / (double)n);
        lra_plot_number(t, 100 * (double)r->n / rows);
        lra_text_add(t, "\n");
    }
    lra_text_add(t, "\n\n");
}

static void add_confusion(lra_text *t, const model *m, int op)
{
    lra_plot_comment(t, "%s: columns: predicted label (%%), rows: true label",
                     lra_listops_root_names[op]);
    for (int k = 0; k < L; k++) {
        double n = 0;
        for (int p = 0; p < L; p++) n += (double)m->count[op][k][p];
        for (int p = 0; p < L; p++) lra_plot_number(t, 100 * (double)m->count[op][k][p] / n);
        lra_text_add(t, "\n");
    }
    lra_text_add(t, "\n\n");
}

/* Adds data blocks: first the labels of each operator, then the confusion matrix of each
 * operator. */
static void add_data(lra_text *t, const model *m)
{
    lra_plot_comment(t, "%s, %d seeds, data %s", m->cell->name, m->cell->data.n_seeds,
                     m->view->first->fingerprint);
    for (int op = 0; op < PANELS; op++) add_labels(t, m, op);
    for (int op = 0; op < PANELS; op++) add_confusion(t, m, op);
}

/* ---- script ---------------------------------------------------------------------------------- */

/* Starts the next panel of a row, with its letter and title. */
static void place_panel(lra_plot *p, int row, int op, double bottom, double top, const char *name)
{
    double left = LEFT + 3.8 * op;
    lra_plot_box(p, left, left + 3.4, bottom, top);
    lra_text_add(&p->script, "set label '(%c)%s%s' at graph 0, screen %.4g left\n",
                 'a' + row * PANELS + op, *name ? " " : "", name, (top + 0.25) / p->height);
    lra_text_add(&p->script, "set format y '%s'\n", op ? "" : "%g");
}

/* Draws bars from one data column, with a mark from another column on each bar. */
static void add_bars(lra_text *t, int op, const char *color, int bar_column, int mark_column)
{
    lra_text_add(t, "plot '%s' index %d using 1:%d with boxes lc rgb '%s', \\\n", dat, op,
                 bar_column, color);
    if (bar_column == 3)
        lra_text_add(t, "     '' index %d using 1:4:(0):($5-$4) with vectors arrowstyle 1, \\\n",
                     op);
    lra_text_add(t,
                 "     '' index %d using 1:%d with points lc rgb '%s' lw 1.8 pt %d ps 0.7\n"
                 "unset label\nunset arrow\nunset object\n",
                 op, mark_column, lra_plot_styles[1].color, lra_plot_styles[1].hollow);
}

static void add_recall(lra_plot *p, const model *m)
{
    lra_text *t = &p->script;
    lra_plot_axis(p, 0.3, 10, "recall (%)");
    lra_text_add(t, "set format x ''\nset yrange [0:100]\n");
    for (int op = 0; op < PANELS; op++) {
        int64_t rows = 0;
        for (int k = 0; k < L; k++) rows += m->recall[1 + op * L + k].n;
        char *name = lra_format("%s, %" PRId64 " examples", lra_listops_root_names[op], rows);
        place_panel(p, 0, op, 8.85, 11.15, name);
        add_bars(t, op, recalled, 3, 6);
        lra_free(name);
    }
}

static void add_matrices(lra_plot *p)
{
    lra_text *t = &p->script;
    lra_plot_axis(p, 0.3, 6.5, "true label");
    lra_plot_axis(p, p->width - 0.2, 6.5, "% of the true label");
    lra_text_add(t,
                 "set yrange [-0.5:9.5]\nset ytics 1 scale 0\nunset grid\n"
                 "set xlabel 'predicted label' offset 0,0.6\nset format x '%%g'\n"
                 "set palette defined (0 '#ffffff', 0.35 '#9ecae1', 0.7 '#0072B2', 1 '#08306b')\n"
                 "set cbrange [0:100]\nset cbtics 25 scale 0.3 offset -0.6,0\n"
                 "set colorbox user origin screen %.4g, screen %.4g size screen %.4g, "
                 "screen %.4g\n",
                 16.25 / p->width, 4.95 / p->height, 0.22 / p->width, 3.1 / p->height);
    for (int op = 0; op < PANELS; op++) {
        place_panel(p, 1, op, 4.95, 8.05, "");
        lra_text_add(t,
                     "plot '%s' index %d matrix with image pixels notitle\nunset colorbox\n"
                     "unset label\n",
                     dat, PANELS + op);
    }
}

static void add_histograms(lra_plot *p, double highest)
{
    lra_plot_axis(p, 0.3, 2, "examples (%)");
    const lra_plot_entry key[] = {
        {"predicted labels", LRA_LEGEND_BOX, predicted_color, NULL, 0, 0, 0},
        {"true labels", LRA_LEGEND_LINE, lra_plot_styles[1].color, NULL, 0,
         lra_plot_styles[1].hollow, 0.7}};
    lra_plot_legend(p, LEFT, 3.75, 2, key);
    lra_text_add(&p->script,
                 "set grid ytics\nset yrange [0:%g]\nset ytics autofreq scale 0.5\n"
                 "set xlabel 'label' offset 0,0.6\n",
                 highest);
    for (int op = 0; op < PANELS; op++) {
        place_panel(p, 2, op, 1, 3, "");
        add_bars(&p->script, op, predicted_color, 6, 7);
    }
}

/* The largest share of a true or predicted label in %. */
static double highest_share(const model *m)
{
    double most = 0;
    for (int op = 0; op < PANELS; op++) {
        double n = 0;
        for (int k = 0; k < L * L; k++) n += (double)m->count[op][k / L][k % L];
        for (int k = 0; k < L && n > 0; k++) {
            double predicted = 0, true_label = 0;
            for (int p = 0; p < L; p++) {
                predicted += (double)m->count[op][p][k];
                true_label += (double)m->count[op][k][p];
            }
            most = fmax(most, fmax(predicted, true_label) / n);
        }
    }
    return 100 * most;
}

static void add_script(lra_plot *p, const model *m)
{
    lra_text *t = &p->script;
    double top = lra_plot_start(p);
    lra_text_add(t, "set multiplot\nset xrange [-0.6:9.6]\nset xtics 1 scale 0\n"
                    "set boxwidth 0.75\n");
    const lra_plot_entry key[] = {{"recall of the label", LRA_LEGEND_BOX, recalled, NULL, 0, 0, 0},
                                  {"95 % interval", LRA_LEGEND_INTERVAL, "", NULL, 0, 0, 0},
                                  {"frequency of the label among predictions (null value)",
                                   LRA_LEGEND_LINE, lra_plot_styles[1].color, NULL, 0,
                                   lra_plot_styles[1].hollow, 0.7}};
    lra_plot_legend(p, LEFT, top, 3, key);
    add_recall(p, m);
    add_matrices(p);
    add_histograms(p, 1.05 * highest_share(m));
    lra_text_add(t, "unset multiplot\n");
}

static int fill(const lra_listops_view *v, lra_plot *p, lra_err *e)
{
    (void)e;
    model m;
    find_best(v, &m);
    const lra_estimate *a = &m.recall[0].accuracy;
    int seeds = m.cell->data.n_seeds, n = v->n_cells;
    char *best = n > 1 ? lra_format(", best of %d models on test", n) : lra_copy_text("");
    p->width = lra_plot_wide(LRA_PAGE_CM), p->height = 12.4;
    char *name = lra_model_shown(m.cell->name, m.cell->run[0]->model, m.cell->run[0]->config);
    p->title = lra_format("ListOps, preset %s: %s%s, %d seed%s; accuracy %.2f %% (%.2f to %.2f)",
                          v->first->preset, name, best, seeds, seeds == 1 ? "" : "s",
                          100 * a->value, 100 * a->lo, 100 * a->hi);
    lra_free(best);
    lra_free(name);
    lra_figure_add_cell(p, m.cell);
    add_data(&p->data, &m);
    add_script(p, &m);
    return 0;
}

static int make(const lra_report_input *in, lra_plot *p, lra_err *e)
{
    return lra_figure_make_listops(in, p, fill, e);
}

const lra_report_figure lra_figure_loc_3 = {
    "loc-3", "recall and confusion matrix of a ListOps model, by root operator and label", make,
    LRA_FROM_LISTOPS};
