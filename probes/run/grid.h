/* A grid: all combinations of the values of some settings. A setting is a parameter of task, model
 * or training, or one that is chosen by name: task, model, preset, precision, objective, schedule,
 * techniques. A grid can also have points: sets of settings that are no product of values; it then
 * consists of all combinations of its points and the values of its axes. */
#ifndef LRA_PROBES_RUN_GRID_H
#define LRA_PROBES_RUN_GRID_H

#include "kernels/base/core/config.h"
#include "probes/run/cell_command.h"

enum { LRA_GRID_AXES = 16, LRA_GRID_VALUES = 64, LRA_GRID_COMBINATIONS = 512 };

typedef struct {
    char *key;
    int n;
    char *value[LRA_GRID_VALUES];
} lra_grid_axis;

typedef struct {
    int n_axes, n; /* n: number of combinations */
    lra_grid_axis axis[LRA_GRID_AXES];
    int n_points;
    lra_config **point; /* (n_points) settings, owned; NULL: no points */
} lra_grid;

/* Adds the axis of a text "KEY=VALUE,VALUE,...". */
int lra_grid_add(lra_grid *g, const char *text, lra_err *e);
/* Adds the lines "KEY = VALUE, VALUE, ..." of a file; a comment begins with #. */
int lra_grid_read(lra_grid *g, const char *path, lra_err *e);
/* Adds a point; takes ownership. A point that the grid already has is not added again. */
void lra_grid_add_point(lra_grid *g, lra_config *point);
/* Call it after the last axis and the last point. An axis, or an option of `o` that selects by
 * name, has priority for its key: if all its values occur in points, points with other values are
 * removed, else it replaces the values of all points. */
int lra_grid_end_points(lra_grid *g, const lra_options *o, lra_err *e);
/* Removes the axis of a key from the grid; returns its values, separated by commas. NULL if the
 * grid has no such axis. The caller frees the text. */
char *lra_grid_take(lra_grid *g, const char *key);
/* Fails if the options o set a setting that is an axis of the grid. */
int lra_grid_check(const lra_grid *g, const lra_options *o, lra_err *e);
void lra_grid_free(lra_grid *g);

/* Builds the command of combination i, without the options of lra_cell_command_end(); the last axis
 * changes fastest. */
void lra_grid_command(const lra_grid *g, int i, const lra_options *o, lra_command_words *w);
/* Settings of combination i that differ between combinations, without task and model: "rate=0.001".
 * NULL if there are none. The caller frees it. */
char *lra_grid_label(const lra_grid *g, int i);
/* Settings of combination i that differ between combinations: "model=s4d rate=0.001", or "the run"
 * if there are none. The caller frees it. */
char *lra_grid_name(const lra_grid *g, int i);

#endif
