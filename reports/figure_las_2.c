/* Figure las-2: attention maps of a run as images: weights of keys (from the left) for queries (from above) of one example,
 * each map from its least weight (light) to its largest (dark), by the square root, since the first queries of causal
 * attention have few keys; a row for each layer, a column for each head (L1 H0: layer 1,
 * head 0).  Long maps are averaged over squares, down to 64 by 64.
 * Source: the matrices of Zimerman and Wolf (ICML 2024), figures 2 and 4, there of all heads of a layer together. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "reports/figure.h"
#include "reports/head_grid.h"
#include "reports/probe_findings.h"

enum { MOST_PIXELS = 64 };

/* Mean over rows and columns of a map (T,T) that fall into pixel (y,x) of n. */
static double pixel(const lra_probe_array *map, int64_t n, int64_t y, int64_t x)
{
    int64_t T = map->dims[0];
    double sum = 0, count = 0;
    for (int64_t i = y * T / n; i < (y + 1) * T / n; i++)
        for (int64_t j = x * T / n; j < (x + 1) * T / n; j++)
            sum += (double)map->value[i * T + j], count++;
    return sum / count;
}

/* A matrix for each head, from 0 to 1: square roots of what is between the least and the largest weight. */
static void add_data(lra_text *t, const lra_head_grid *g, int64_t n)
{
    double *all = lra_alloc_array((size_t)(n * n), sizeof *all);
    for (int i = 0; i < g->rows; i++)
        for (int k = 0; k < g->columns[i]; k++) {
            const lra_probe_array *map = lra_probe_array_find(g->unit[i][k], "map");
            double least = INFINITY, most = -INFINITY;
            for (int64_t at = 0; at < n * n; at++) {
                all[at] = pixel(map, n, at / n, at % n);
                least = fmin(least, all[at]), most = fmax(most, all[at]);
            }
            lra_plot_comment(t, "%s: a line for each query, weights from %.6g to %.6g",
                             g->unit[i][k]->name, least, most);
            for (int64_t at = 0; at < n * n; at++)
                lra_text_add(t, "%.4f%s",
                             most > least ? sqrt((all[at] - least) / (most - least)) : 0,
                             at % n == n - 1 ? "\n" : " ");
            lra_text_add(t, "\n\n");
        }
    lra_free(all);
}

static int64_t pixels_of(const lra_head_grid *g)
{
    int64_t T = lra_probe_array_find(g->unit[0][0], "map")->dims[0];
    return T < MOST_PIXELS ? T : MOST_PIXELS;
}

static void add_panel(lra_text *t, const lra_head_grid *g, int i, int k, int block)
{
    double end = (double)pixels_of(g) - 0.5;
    lra_text_add(
        t,
        "set xrange [-0.5:%g]\nset yrange [%g:-0.5]\nset label 'L%d H%d' at graph 0, graph "
        "1.09 left font ',7'\n",
        end, end, i, k);
    lra_text_add(t, "plot 'las-2.dat' index %d matrix using 1:2:3 with image pixels\nunset label\n",
                 block);
}

static void add_script(lra_plot *f, const lra_head_grid *g, int64_t T)
{
    int columns = lra_head_grid_widest(g);
    double left = 0.75, right = f->width - 0.15, bottom = 0.75, gap = 0.15, above = 0.32;
    double panel = (right - left - gap * (columns - 1)) / columns;
    if (panel > 3.4) panel = 3.4;
    f->height = bottom + g->rows * (panel + above) + LRA_LINE_CM * 2.6;
    lra_plot_start(f);
    lra_text_add(&f->script,
                 "set multiplot\nunset grid\nunset tics\nset border 15 lw 0.6\n" LRA_PLOT_SHADES);
    double top = bottom + g->rows * (panel + above);
    lra_plot_axis(f, 0.3, 0.5 * (bottom + top), "query");
    char *name = lra_format("key (%lld tokens; dark: the map's largest weight)", (long long)T);
    lra_plot_say(&f->script, "set label ", name, " at screen 0.5, screen %.4g center\n",
                 0.3 / f->height);
    lra_free(name);
    lra_head_grid_panels(f, g, &(lra_head_places){left, top - above, panel, panel, gap, above},
                         add_panel);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_head_grid g;
    if (lra_head_grid_open(&g, f, in->n_probes, in->probes, "map", "attention maps", e) != 0)
        return LRA_FAILED;
    const lra_probe_array *map = lra_probe_array_find(g.unit[0][0], "map");
    for (int i = 0; i < g.rows; i++)
        for (int k = 0; k < g.columns[i]; k++) {
            const lra_probe_array *own = lra_probe_array_find(g.unit[i][k], "map");
            if (own->rank != 2 || own->dims[0] != own->dims[1] || own->dims[0] != map->dims[0])
                return lra_fail(e, "'%s' has no square map", g.unit[i][k]->name);
        }
    add_data(&f->data, &g, pixels_of(&g));
    add_script(f, &g, map->dims[0]);
    return 0;
}

const lra_report_figure lra_figure_las_2 = {
    "las-2", "attention maps of one example, a panel for each head", make, LRA_FROM_ATTENTION};
