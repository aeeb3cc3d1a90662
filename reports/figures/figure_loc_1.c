/* Figure loc-1: label distribution of ListOps, by root operator.  Bars: training split, with 95 %
 * intervals (Wilson); lines across: distribution of the generator (fresh rows), which reveals files
 * made by other rules.
 * Source: Figure 1 of "On the locality bias and results in the Long Range Arena", in its order. */
#include <inttypes.h>
#include <math.h>

#include "analysis/interval.h"
#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"

enum { PANELS = 4, L = LRA_LISTOPS_LABELS };
static const int operators[PANELS] = {1, 2, 0, 3}; /* MAX MED MIN SM */
static const char bars[] = "#a6cee3";

static int64_t total(const int64_t count[L])
{
    int64_t n = 0;
    for (int k = 0; k < L; k++) n += count[k];
    return n;
}

/* One block per panel: label, rows, frequency lo hi, expected; in %. */
static void add_data(lra_text *t, const lra_listops *r)
{
    for (int p = 0; p < PANELS; p++) {
        const int64_t *count = r->train_count[operators[p]],
                      *expected = r->expected_count[operators[p]];
        double n = (double)total(count), fresh = (double)total(expected);
        lra_plot_comment(t, "%s, data %s, %.0f training examples, %.0f fresh examples",
                         lra_listops_root_names[operators[p]], r->fingerprint, n, fresh);
        lra_plot_comment(t, "label examples frequency lo hi expected");
        for (int k = 0; k < L; k++) {
            lra_estimate f = lra_wilson((double)count[k], n, 0.95);
            lra_text_add(t, "%d %" PRId64, k, count[k]);
            lra_plot_number(t, 100 * f.value);
            lra_plot_number(t, 100 * f.lo);
            lra_plot_number(t, 100 * f.hi);
            lra_plot_number(t, 100 * (double)expected[k] / fresh);
            lra_text_add(t, "\n");
        }
        lra_text_add(t, "\n\n");
    }
}

/* The largest share of a label, in %: all panels have the same axis. */
static double highest(const lra_listops *r)
{
    double most = 0;
    for (int p = 0; p < PANELS; p++) {
        const int64_t *count = r->train_count[operators[p]],
                      *expected = r->expected_count[operators[p]];
        double n = (double)total(count), fresh = (double)total(expected);
        for (int k = 0; k < L; k++)
            most = fmax(
                most, fmax(lra_wilson((double)count[k], n, 0.95).hi, (double)expected[k] / fresh));
    }
    return 100 * most;
}

/* The first panel has the legend. */
static void add_panel(lra_plot *f, int p, int64_t rows)
{
    bool right = p % 2, below = p / 2;
    double left = right ? 4.9 : 1.15, bottom = below ? 1.05 : 4.25;
    lra_text *t = &f->script;
    lra_plot_box(f, left, left + 3.5, bottom, bottom + 2.45);
    lra_text_add(t, "set label '(%c) %s, %" PRId64 " examples' at graph 0.5, graph 1.09 center\n",
                 'a' + p, lra_listops_root_names[operators[p]], rows);
    if (!right) lra_plot_axis(f, 0.25, bottom + 1.22, "examples (%)");
    lra_text_add(t, "set format y '%s'\nset format x '%s'\n", right ? "" : "%g", below ? "%g" : "");
    if (below) lra_text_add(t, "set xlabel 'label' offset 0,0.6\n");
    lra_text_add(t,
                 "plot 'loc-1.dat' index %d using 1:3 with boxes lc rgb '%s', \\\n"
                 "     '' index %d using ($1-0.375):6:(0.75):(0) with vectors nohead "
                 "lc rgb '%s' lw 3, \\\n"
                 "     '' index %d using 1:4:(0):($5-$4) with vectors arrowstyle 1\n"
                 "unset label\nunset arrow\nunset object\n",
                 p, bars, p, lra_plot_styles[1].color, p);
}

static void add_script(lra_plot *f, const lra_listops *r)
{
    lra_text *t = &f->script;
    double top = lra_plot_start(f);
    lra_text_add(t,
                 "set multiplot\nset xrange [-0.7:9.7]\nset xtics 1 scale 0\n"
                 "set yrange [0:%g]\nset boxwidth 0.75\n",
                 1.05 * highest(r));
    const lra_plot_entry key[] = {
        {"training data", LRA_LEGEND_BOX, bars, NULL, 0, 0, 0},
        {"expected from the generator", LRA_LEGEND_LINE, lra_plot_styles[1].color, NULL, 3, 0, 0},
        {"95 % interval", LRA_LEGEND_INTERVAL, "", NULL, 0, 0, 0}};
    lra_plot_legend(f, 0.25, top, 3, key);
    for (int p = 0; p < PANELS; p++) add_panel(f, p, total(r->train_count[operators[p]]));
    lra_text_add(t, "unset multiplot\n");
}

static int fill(const lra_listops_view *v, lra_plot *p, lra_err *e)
{
    (void)e;
    int64_t n = 0;
    for (int op = 0; op < LRA_LISTOPS_ROOTS; op++) n += total(v->first->train_count[op]);
    p->width = lra_plot_wide(LRA_COLUMN_CM), p->height = 8.1;
    p->title = lra_format("ListOps, preset %s: labels of %" PRId64 " training examples",
                          v->first->preset, n);
    lra_plot_source(p, "run", v->first->run);
    lra_plot_source(p, "data", v->first->fingerprint);
    add_data(&p->data, v->first);
    add_script(p, v->first);
    return 0;
}

static int make(const lra_report_input *in, lra_plot *p, lra_err *e)
{
    return lra_figure_make_listops(in, p, fill, e);
}

const lra_report_figure lra_figure_loc_1 = {
    "loc-1", "distribution of ListOps labels by root operator", make, LRA_FROM_LISTOPS};
