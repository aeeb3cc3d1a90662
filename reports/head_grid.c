/* Heads in their places. */
#include "reports/head_grid.h"

#include <stdio.h>
#include <string.h>

int lra_head_grid_find(const lra_probe_result *r, const char *array, lra_head_grid *g, lra_err *e)
{
    char layer[64] = "";
    *g = (lra_head_grid){.run = r};
    for (int u = 0; u < r->n_units; u++) {
        const char *name = r->unit[u]->name, *dot = strchr(name, '.');
        if (!dot || !lra_probe_array_find(r->unit[u], array)) continue;
        if (g->rows == 0 || strncmp(layer, name, (size_t)(dot + 1 - name)) != 0) {
            if (g->rows == LRA_GRID_ROWS)
                return lra_fail(e, "more than %d layers do not fit into one figure", LRA_GRID_ROWS);
            snprintf(layer, sizeof layer, "%.*s", (int)(dot + 1 - name), name);
            g->rows++;
        }
        int *n = &g->columns[g->rows - 1];
        if (*n == LRA_GRID_COLUMNS)
            return lra_fail(e, "more than %d heads do not fit into one figure", LRA_GRID_COLUMNS);
        g->unit[g->rows - 1][(*n)++] = r->unit[u];
    }
    return g->rows ? 0 : lra_fail(e, "no head in this file has the array '%s'", array);
}

int lra_head_grid_widest(const lra_head_grid *g)
{
    int n = 1;
    for (int i = 0; i < g->rows; i++) n = g->columns[i] > n ? g->columns[i] : n;
    return n;
}
