/* Arranges the heads of a run as panels of a figure (head_grid.h). */
#include "reports/views/head_grid.h"

#include <stdio.h>
#include <string.h>

#include "reports/views/probe_measurements.h"
#include "reports/views/model_names.h"

static int find(const lra_probe_result *r, const char *array, lra_head_grid *g, lra_err *e)
{
    char layer[64] = "";
    *g = (lra_head_grid){.run = r};
    for (int u = 0; u < r->n_units; u++) {
        const char *name = r->unit[u]->name, *dot = strchr(name, '.');
        if (!dot || !lra_probe_array_find(r->unit[u], array)) continue;
        if (g->rows == 0 || strncmp(layer, name, (size_t)(dot + 1 - name)) != 0) {
            if (g->rows == LRA_GRID_ROWS)
                return lra_fail(e, "'%s' has more layers than one figure holds (%d)", r->model,
                                LRA_GRID_ROWS);
            snprintf(layer, sizeof layer, "%.*s", (int)(dot + 1 - name), name);
            g->rows++;
        }
        int *n = &g->columns[g->rows - 1];
        if (*n == LRA_GRID_COLUMNS)
            return lra_fail(e, "'%.*s' of '%s' has more heads than one figure holds (%d)",
                            (int)(dot - name), name, r->model, LRA_GRID_COLUMNS);
        g->unit[g->rows - 1][(*n)++] = r->unit[u];
    }
    return g->rows ? 0
                   : lra_fail(e,
                              "no head in this file has the array '%s'; "
                              "'lra-probe attention RUN' measures it",
                              array);
}

int lra_head_grid_widest(const lra_head_grid *g)
{
    int n = 1;
    for (int i = 0; i < g->rows; i++) n = g->columns[i] > n ? g->columns[i] : n;
    return n;
}

int lra_head_grid_open(lra_head_grid *g, lra_plot *f, int n_probes, lra_probe_result *const *probes,
                       const char *array, const char *title, lra_err *e)
{
    if (n_probes != 1) return lra_fail(e, "%d runs, the figure shows one; name one run", n_probes);
    if (find(probes[0], array, g, e) != 0) return LRA_FAILED;
    char *run = lra_probe_run_name(g->run),
         *name = lra_model_shown(run, g->run->model, g->run->config);
    lra_free(run);
    f->width = lra_plot_wide(lra_head_grid_widest(g) > 4 ? LRA_PAGE_CM : LRA_COLUMN_CM);
    f->title = lra_format("%s, %s", title, name);
    lra_free(name);
    lra_plot_source(f, "run", g->run->run);
    lra_plot_source(f, "data", g->run->fingerprint);
    return 0;
}

void lra_head_grid_panels(lra_plot *f, const lra_head_grid *g, const lra_head_grid_layout *at,
                          void (*panel)(lra_text *t, const lra_head_grid *g, int i, int k,
                                        int block))
{
    int block = 0;
    for (int i = 0; i < g->rows; i++)
        for (int k = 0; k < g->columns[i]; k++) {
            double x = at->left + k * (at->width + at->gap_x),
                   y = at->top - i * (at->height + at->gap_y);
            lra_plot_box(f, x, x + at->width, y - at->height, y);
            panel(&f->script, g, i, k, block++);
        }
    lra_text_add(&f->script, "unset multiplot\n");
}
