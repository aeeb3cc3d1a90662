/* Figure loc-3: what one ListOps model says, by root operator and label; of several models the most accurate.
 * Above: accuracy among rows of a label with 95 % intervals, beside how often the label is predicted at all for
 * the operator (the null value).  Middle: confusion, rows of a true label add up to 100 %.  Below: labels as
 * predicted and as they are; a model that moves off the modal label shows here.
 * Source: Figure 3 of "On the locality bias and results in the Long Range Arena", which has the upper part. */
#include <math.h>

#include "kernels/base/mem.h"
#include "reports/listops_figure.h"
#include "reports/plot.h"

enum { PANELS = 4, L = LRA_LISTOPS_LABELS }; /* MIN MAX MED SM */
static const char dat[] = "loc-3.dat";

/* What the figure shows of a model. */
typedef struct {
    const lra_listops_view *view;
    const lra_listops_cell *cell;
    lra_breakdown_row recall[1 + LRA_LISTOPS_ROOTS * L]; /* all examples first */
    int64_t count[LRA_LISTOPS_ROOTS][L][L];              /* label, predicted; over seeds */
} model;

static int find_best(const lra_listops_view *v, model *best)
{
    *best = (model){.view = v};
    for (int c = 0; c < v->n_cells; c++) {
        model m = {.view = v, .cell = &v->cell[c]};
        if (lra_listops_recall(v, m.cell, m.recall) != 0) return LRA_FAILED;
        if (!best->cell || m.recall[0].accuracy.value > best->recall[0].accuracy.value) *best = m;
    }
    lra_breakdown_confusion(&best->cell->data, LRA_LISTOPS_ROOTS, v->first->root,
                            best->count[0][0]);
    return 0;
}

/* ---- data -------------------------------------------------------------------------------------------- */

static void add_labels(lra_text *t, const model *m, int op)
{
    int64_t n = 0, predicted[L] = {0};
    for (int k = 0; k < L; k++)
        for (int p = 0; p < L; p++) n += m->count[op][k][p], predicted[p] += m->count[op][k][p];
    lra_text_add(t, "# %s\n# label rows accuracy lo hi predicted true\n",
                 lra_listops_root_names[op]);
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
    lra_text_add(t, "# %s: predicted label (%%) across, true label downwards\n",
                 lra_listops_root_names[op]);
    for (int k = 0; k < L; k++) {
        double n = 0;
        for (int p = 0; p < L; p++) n += (double)m->count[op][k][p];
        for (int p = 0; p < L; p++) lra_plot_number(t, 100 * (double)m->count[op][k][p] / n);
        lra_text_add(t, "\n");
    }
    lra_text_add(t, "\n\n");
}

/* Blocks: labels of each operator, then confusion of each. */
static void add_data(lra_text *t, const model *m)
{
    lra_text_add(t, "# %s, %d seeds, data %s\n", m->cell->name, m->cell->data.n_seeds,
                 m->view->first->fingerprint);
    for (int op = 0; op < PANELS; op++) add_labels(t, m, op);
    for (int op = 0; op < PANELS; op++) add_confusion(t, m, op);
}

/* ---- script ------------------------------------------------------------------------------------------ */

static void place_panel(lra_text *t, int op, double bottom, double top)
{
    double left = 0.07 + 0.2125 * op;
    lra_plot_box(t, left, left + 0.19, bottom, top);
}

/* The name of a row of panels, at its left. */
static void name_row(lra_text *t, const char *name, double at)
{
    lra_text_add(t, "set label '%s' at screen 0.015, screen %g center rotate font ',9'\n", name,
                 at);
}

static void set_key(lra_text *t, double x)
{
    lra_text_add(
        t, "set key at screen %g, screen 0.955 center top font ',8' samplen 2 reverse Left\n", x);
}

/* Bars of a column with a mark for each; the first panel has the numbers of the axis and the legend. */
static void add_bars(lra_text *t, int op, const char *bars, const char *color, const char *marks,
                     int bar_column, int mark_column)
{
    lra_text_add(t, "set format y '%s'\n", op ? "" : "%g");
    lra_text_add(t,
                 "plot '%s' index %d using 1:%d with boxes lc rgb '%s' fs solid 0.5 noborder "
                 "title '%s', \\\n",
                 dat, op, bar_column, color, bars);
    if (bar_column == 3)
        lra_text_add(t,
                     "     '' index %d using 1:4:(0):($5-$4) with vectors nohead lc rgb '#333333' "
                     "lw 1 notitle, \\\n",
                     op);
    lra_text_add(t,
                 "     '' index %d using 1:%d with points lc rgb '%s' lw 1.2 pt %d ps 0.5 "
                 "title '%s'\nunset key\nunset label\n",
                 op, mark_column, lra_plot_styles[1].color, lra_plot_styles[1].hollow, marks);
}

static void add_recall(lra_text *t)
{
    name_row(t, "right (%)", 0.78);
    set_key(t, 0.3);
    lra_text_add(t, "set format x ''\nset yrange [0:100]\n");
    for (int op = 0; op < PANELS; op++) {
        place_panel(t, op, 0.69, 0.87);
        lra_text_add(t, "set label '%s' at graph 0.5, graph 1.08 center font ',9'\n",
                     lra_listops_root_names[op]);
        add_bars(t, op, "right among rows of the label, 95 %", lra_plot_styles[2].color,
                 "null: how often it is predicted at all", 3, 6);
    }
}

static void add_matrices(lra_text *t)
{
    name_row(t, "true label", 0.525);
    lra_text_add(t,
                 "set yrange [-0.5:9.5]\nset ytics 1 scale 0\nunset grid\nset style fill solid\n"
                 "set xlabel 'predicted label' font ',9' offset 0,0.5\nset format x '%%g'\n"
                 "set palette defined (0 '#ffffff', 0.35 '#9ecae1', 0.7 '#0072B2', 1 '#08306b')\n"
                 "set cbrange [0:100]\nset cbtics 25 scale 0.3 font ',8'\n"
                 "set colorbox user origin screen 0.91, screen 0.395 size screen 0.012, screen "
                 "0.26\nset label '%% of a true label' at screen 0.985, screen 0.525 center "
                 "rotate font ',8'\n");
    for (int op = 0; op < PANELS; op++) {
        place_panel(t, op, 0.395, 0.655);
        lra_text_add(t, "set format y '%s'\n", op ? "" : "%g");
        lra_text_add(
            t, "plot '%s' index %d matrix with image pixels notitle\nunset colorbox\nunset label\n",
            dat, PANELS + op);
    }
}

static void add_histograms(lra_text *t, double highest)
{
    name_row(t, "rows (%)", 0.195);
    set_key(t, 0.72);
    lra_text_add(t,
                 "set grid ytics\nset yrange [0:%g]\nset ytics autofreq scale 0.6\n"
                 "set xlabel 'label' font ',9' offset 0,0.5\n",
                 highest);
    for (int op = 0; op < PANELS; op++) {
        place_panel(t, op, 0.09, 0.3);
        add_bars(t, op, "predicted labels", lra_plot_styles[0].color, "true labels", 6, 7);
    }
}

/* The largest share of a label, predicted or true, in %. */
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

static void add_script(lra_text *t, const model *m)
{
    const lra_estimate *a = &m->recall[0].accuracy;
    int seeds = m->cell->data.n_seeds, n = m->view->n_cells;
    char *best = n > 1 ? lra_format(", the best of %d models", n) : lra_copy_text("");
    char *title = lra_format("ListOps, preset %s: %s, %d seed%s%s; %.2f %% right (%.2f to %.2f)",
                             m->view->first->preset, m->cell->name, seeds, seeds == 1 ? "" : "s",
                             best, 100 * a->value, 100 * a->lo, 100 * a->hi);
    lra_plot_start(t);
    lra_text_add(t, "set multiplot\n");
    lra_plot_title(t, title);
    lra_text_add(t, "set xrange [-0.6:9.6]\nset xtics 1 scale 0\nset boxwidth 0.75\n");
    add_recall(t);
    add_matrices(t);
    add_histograms(t, 1.05 * highest_share(m));
    lra_text_add(t, "unset multiplot\n");
    lra_free(best);
    lra_free(title);
}

static int fill(const lra_listops_view *v, lra_text *data, lra_text *script, lra_err *e)
{
    model m;
    if (find_best(v, &m) != 0) return lra_fail(e, "no memory for the bootstrap");
    add_data(data, &m);
    add_script(script, &m);
    return 0;
}

static int write(const char *folder, const lra_report_input *in, lra_err *e)
{
    return lra_listops_figure_write(folder, "loc-3", in, fill, e);
}

const lra_report_figure lra_figure_loc_3 = {
    "loc-3",         "what a ListOps model says, by root operator and label", write, 17.8, 13,
    LRA_FROM_LISTOPS};
