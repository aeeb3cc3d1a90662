/* Figure loc-1: which labels ListOps has, by root operator.  Bars: training split, with 95 % intervals (Wilson);
 * points: what the generator gives (fresh rows), so that a file made by other rules shows.
 * Source: Figure 1 of "On the locality bias and results in the Long Range Arena", in its order. */
#include <inttypes.h>
#include <math.h>

#include "analysis/interval.h"
#include "kernels/base/mem.h"
#include "reports/listops_figure.h"
#include "reports/plot.h"

enum { PANELS = 4, L = LRA_LISTOPS_LABELS };
static const int operators[PANELS] = {1, 2, 0, 3}; /* MAX MED MIN SM */

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
        lra_text_add(t, "# %s, data %s, %.0f training rows, %.0f fresh rows\n",
                     lra_listops_root_names[operators[p]], r->fingerprint, n, fresh);
        lra_text_add(t, "# label rows frequency lo hi expected\n");
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

static void add_panel(lra_text *t, int p)
{
    bool right = p % 2, below = p / 2;
    double left = right ? 0.575 : 0.15, bottom = below ? 0.13 : 0.52;
    lra_plot_box(t, left, left + 0.4, bottom, bottom + 0.31);
    lra_text_add(t, "set label '(%c) %s' at graph 0.5, graph 1.07 center font ',9'\n", 'a' + p,
                 lra_listops_root_names[operators[p]]);
    if (!right)
        lra_text_add(t, "set label 'rows (%%)' at screen 0.03, screen %g center rotate font ',9'\n",
                     bottom + 0.155);
    lra_text_add(t, "set format y '%s'\nset format x '%s'\n", right ? "" : "%g", below ? "%g" : "");
    if (below) lra_text_add(t, "set xlabel 'label' font ',9' offset 0,0.5\n");
    lra_text_add(
        t,
        "plot 'loc-1.dat' index %d using 1:3 with boxes lc rgb '%s' fs solid 0.45 noborder "
        "title 'training split, 95 %%', \\\n"
        "     '' index %d using 1:4:(0):($5-$4) with vectors nohead lc rgb '#333333' lw 1 "
        "notitle, \\\n"
        "     '' index %d using 1:6 with points lc rgb '%s' lw 1.2 pt %d ps 0.5 "
        "title 'generator'\nunset key\nunset label\n",
        p, lra_plot_styles[0].color, p, p, lra_plot_styles[1].color, lra_plot_styles[1].hollow);
}

static void add_script(lra_text *t, const lra_listops *r)
{
    int64_t n = 0;
    for (int op = 0; op < LRA_LISTOPS_ROOTS; op++) n += total(r->train_count[op]);
    char *title = lra_format("ListOps, %s: labels of %" PRId64 " training rows", r->preset, n);
    lra_plot_start(t);
    lra_text_add(t, "set multiplot\n");
    lra_plot_title(t, title);
    lra_text_add(t, "set key at screen 0.5, screen 0.955 center top font ',8' samplen 2 "
                    "reverse Left\n");
    lra_text_add(t,
                 "set xrange [-0.7:9.7]\nset xtics 1 scale 0\nset yrange [0:%g]\n"
                 "set boxwidth 0.75\n",
                 1.05 * highest(r));
    for (int p = 0; p < PANELS; p++) add_panel(t, p);
    lra_text_add(t, "unset multiplot\n");
    lra_free(title);
}

static int fill(const lra_listops_view *v, lra_text *data, lra_text *script, lra_err *e)
{
    (void)e;
    add_data(data, v->first);
    add_script(script, v->first);
    return 0;
}

static int write(const char *folder, const lra_report_input *in, lra_err *e)
{
    return lra_listops_figure_write(folder, "loc-1", in, fill, e);
}

const lra_report_figure lra_figure_loc_1 = {
    "loc-1", "labels of ListOps by root operator", write, 8.6, 8.6, LRA_FROM_LISTOPS};
