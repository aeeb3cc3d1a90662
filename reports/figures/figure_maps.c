/* Figure maps: attention maps of a run as images, for one example: queries go from top to bottom,
 * keys from left to right. Colour: square root of the weight, from the smallest (light) to the
 * largest (dark) weight of each map (attention_map.h). One row per layer, one column per head (L1
 * H0: layer 1, head 0).
 * Source: the matrices of Zimerman and Wolf (ICML 2024), figures 2 and 4, which average all heads
 * of a layer. */
#include <stdio.h>

#include "kernels/base/core/mem.h"
#include "reports/views/attention_map.h"
#include "reports/draw/figure.h"
#include "reports/views/head_grid.h"

static void add_data(lra_text *t, const lra_head_grid *g)
{
    for (int i = 0; i < g->rows; i++)
        for (int k = 0; k < g->columns[i]; k++) {
            const lra_probe_array *map = lra_probe_array_find(g->unit[i][k], "map");
            lra_map_add(t, g->unit[i][k]->name, 1, &map);
        }
}

static void add_panel(lra_text *t, const lra_head_grid *g, int i, int k, int block)
{
    char name[32];
    snprintf(name, sizeof name, "L%d H%d", i, k);
    const lra_probe_array *map = lra_probe_array_find(g->unit[0][0], "map");
    bool below = i + 1 == g->rows || g->columns[i + 1] <= k;
    lra_map_plot(t, &(lra_map_panel){"maps.dat", name, block, lra_map_pixels(map), map->dims[0],
                                     k == 0, below});
}

static void add_script(lra_plot *f, const lra_head_grid *g, int64_t T)
{
    int columns = lra_head_grid_widest(g);
    double left = 1.2, right = f->width - 0.15, bottom = 1.5, gap = 0.15, above = 0.42;
    double panel = (right - left - gap * (columns - 1)) / columns;
    if (panel > 3.4) panel = 3.4;
    f->height = bottom + g->rows * (panel + above) + LRA_LINE_CM * 2.6;
    lra_plot_start(f);
    lra_text *t = &f->script;
    lra_text_add(t,
                 "set multiplot\nunset grid\nunset tics\nset border 15 lw 0.6\n" LRA_PLOT_SHADES);
    double top = bottom + g->rows * (panel + above);
    lra_plot_axis(f, 0.3, 0.5 * (bottom + top), "query");
    char *name = lra_format("key (%lld tokens)", (long long)T);
    lra_plot_add_quoted(t, "set label ", name, " at screen 0.5, screen %.4g center\n",
                        0.8 / f->height);
    lra_plot_shade_bar(f, 0.5 * f->width - 0.9, 0.3, LRA_MAP_LEAST, LRA_MAP_MOST);
    lra_free(name);
    lra_head_grid_panels(f, g, &(lra_head_grid_layout){left, top - above, panel, panel, gap, above},
                         add_panel);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_head_grid g;
    if (lra_head_grid_open(&g, f, in->n_probes, in->probes, "map", "Attention maps", e) != 0)
        return LRA_FAILED;
    const lra_probe_array *map = lra_probe_array_find(g.unit[0][0], "map");
    for (int i = 0; i < g.rows; i++)
        for (int k = 0; k < g.columns[i]; k++) {
            const lra_probe_array *own = lra_probe_array_find(g.unit[i][k], "map");
            if (!lra_map_is_square(own, map->dims[0]))
                return lra_fail(e, "the attention map of '%s' is not square", g.unit[i][k]->name);
        }
    add_data(&f->data, &g);
    add_script(f, &g, map->dims[0]);
    return 0;
}

const lra_report_figure lra_figure_maps = {
    "maps", "attention maps of one example, one panel per head", make, LRA_FROM_ATTENTION};
