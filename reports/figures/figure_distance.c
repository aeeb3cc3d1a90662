/* Figure distance: cumulative attention weight on other tokens by distance (M' in profile.h), for
 * each head of a run: after training, at initialisation, and for uniform weights under the same
 * mask. One panel per head, one row of panels per layer (L1 H0: layer 1, head 0).
 * Source: mean attention distance in arXiv:2010.11929, extended to the full distribution. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/head_grid.h"
#include "reports/views/probe_measurements.h"

static const char *const arrays[] = {"other", "other.init", "other.equal"};

static int64_t distances_of(const lra_head_grid *g)
{
    return lra_probe_array_find(g->unit[0][0], "other")->dims[0];
}

/* Adds a data block for each head: distance on the axis, then the share of weight within that
 * distance after training, at initialisation, and for uniform weights. */
static void add_data(lra_text *t, const lra_head_grid *g)
{
    for (int i = 0; i < g->rows; i++)
        for (int k = 0; k < g->columns[i]; k++) {
            double sum[3] = {0};
            lra_plot_comment(
                t,
                "%s: log2(distance + 1), weight within it without the own token: after training, "
                "at initialisation, uniform",
                g->unit[i][k]->name);
            for (int64_t d = 0; d < distances_of(g); d++) {
                lra_text_add(t, "%.6g", log2((double)d + 1));
                for (int a = 0; a < 3; a++) {
                    const lra_probe_array *x = lra_probe_array_find(g->unit[i][k], arrays[a]);
                    if (x && d < x->dims[0]) sum[a] += (double)x->value[d];
                    lra_plot_number(t, x ? sum[a] : NAN);
                }
                lra_text_add(t, "\n");
            }
            lra_text_add(t, "\n\n");
        }
}

/* If lines coincide, all remain visible: a dashed line above a solid line above a wide light
 * line. */
static const lra_plot_entry key[] = {
    {"after training", LRA_LEGEND_LINE, "#000000", NULL, 2, 0, 0},
    {"at initialisation", LRA_LEGEND_LINE, "#56B4E9", LRA_DASH_DASHES, 2.2, 0, 0},
    {"uniform weights", LRA_LEGEND_LINE, "#c4c4c4", NULL, 6, 0, 0}};
static const int from_below[] = {2, 0, 1};

static void add_panel(lra_text *t, const lra_head_grid *g, int i, int k, int block)
{
    bool left = k == 0, bottom = i == g->rows - 1;
    lra_text_add(t, "set xrange [0:%g]\nset yrange [0:1.03]\nset ytics (%s)\nset xtics (",
                 log2((double)distances_of(g)),
                 left ? "'0' 0, '0.5' 0.5, '1' 1" : "'' 0, '' 0.5, '' 1");
    for (int64_t d = 1, shown = 0; d < distances_of(g); d *= 16, shown++) {
        char name[32] = "";
        if (bottom) snprintf(name, sizeof name, "%lld", (long long)d);
        lra_text_add(t, shown ? ", " : "");
        lra_plot_tick(t, name, log2((double)d + 1));
    }
    lra_text_add(
        t,
        ")\nset label 'L%d H%d' at graph 0, graph 1 left offset character 0.3, character 0.45 "
        "font ',7'\n",
        i, k);
    lra_text_add(t, "plot ");
    for (int k2 = 0; k2 < 3; k2++) {
        int a = from_below[k2];
        lra_text_add(t, "%s'distance.dat' index %d using 1:%d with lines lc rgb '%s' dt %s lw %g",
                     k2 ? ", " : "", block, a + 2, key[a].color, key[a].dash ? key[a].dash : "1",
                     key[a].line);
    }
    lra_text_add(t, "\nunset label\nunset arrow\nunset object\n");
}

static void add_script(lra_plot *f, const lra_head_grid *g)
{
    int columns = lra_head_grid_widest(g);
    double left = 1.25, right = f->width - 0.15, bottom = 1.05, gap = 0.15, below = 0.5;
    int rows = lra_plot_legend_rows(f, left, 3, key);
    double panel = 2.1;
    f->height = bottom + g->rows * (panel + below) + LRA_LINE_CM * (rows + 2.6);
    double top = lra_plot_start(f), width = (right - left - gap * (columns - 1)) / columns;
    lra_text_add(&f->script, "set multiplot\nset tics front\n");
    lra_plot_legend(f, left, top, 3, key);
    top = bottom + g->rows * (panel + below) - below;
    lra_plot_axis(f, 0.25, 0.5 * (bottom + top), "attention weight within the distance");
    lra_plot_add_quoted(&f->script, "set label ", "distance from the query (tokens)",
                        " at screen %.4g, screen %.4g center\n", 0.5 * (left + right) / f->width,
                        0.22 / f->height);
    lra_head_grid_panels(f, g, &(lra_head_grid_layout){left, top, width, panel, gap, below},
                         add_panel);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_head_grid g;
    if (lra_head_grid_open(&g, f, in->n_probes, in->probes, "other", "Attention distance by head",
                           e) != 0)
        return LRA_FAILED;
    add_data(&f->data, &g);
    add_script(f, &g);
    return 0;
}

const lra_report_figure lra_figure_distance = {
    "distance", "attention weight within a distance, per head: trained, initial, uniform weights",
    make, LRA_FROM_ATTENTION};
