/* Makes grids of the layouts of the papers (experiments.h). */
#include "probes/run/experiments.h"

#include <string.h>

#include "kernels/base/core/mem.h"

/* The run that a cell with `from` or `matched` needs: the same settings with that objective. NULL:
 * none. */
static lra_config *pretraining_of(const lra_config *cell)
{
    const char *objective = lra_config_text_or(cell, "from",
                                               lra_config_text_or(cell, "matched", NULL));
    if (!objective) return NULL;
    lra_config *c = lra_config_copy(cell);
    lra_config_set(c, "objective", objective);
    lra_config_remove(c, "from");
    lra_config_remove(c, "matched");
    return c;
}

/* Preset that replaces those of the layout: of --preset, or of the axis `preset`. NULL: none. */
static const char *preset_of(const lra_options *o, const lra_grid *g)
{
    for (int a = 0; a < g->n_axes; a++)
        if (strcmp(g->axis[a].key, "preset") == 0) return g->axis[a].value[0];
    return lra_option_given(o, "preset") ? lra_option_text(o, "preset") : NULL;
}

/* Adds the cells of one task; cells without a task belong to task "". */
static void add_task(const lra_layout *l, const char *preset, const char *task, lra_grid *g)
{
    for (int r = 0; r < l->n_rows; r++)
        for (int c = 0; c < l->n_columns; c++) {
            lra_config *cell = lra_layout_settings(l, r, c, preset, NULL);
            if (!cell || strcmp(lra_config_text_or(cell, "task", ""), task) != 0) {
                lra_config_free(cell);
                continue;
            }
            lra_config *before = pretraining_of(cell);
            if (before) lra_grid_add_point(g, before);
            lra_grid_add_point(g, cell);
        }
}

int lra_experiment_grid(const lra_layout *l, const lra_options *o, lra_grid *g, lra_err *e)
{
    const char *preset = preset_of(o, g);
    /* The cells of a task follow each other, so that its data are loaded once. */
    for (int r = 0; r < l->n_rows; r++)
        for (int c = 0; c < l->n_columns; c++) {
            lra_config *cell = lra_layout_settings(l, r, c, preset, NULL);
            if (!cell) continue;
            const char *task = lra_config_text_or(cell, "task", "");
            bool known = false;
            for (int k = 0; k < g->n_points && !known; k++)
                known = strcmp(lra_config_text_or(g->point[k], "task", ""), task) == 0;
            if (!known) add_task(l, preset, task, g);
            lra_config_free(cell);
        }
    return lra_grid_end_points(g, o, e);
}
