/* A grid: every combination of values of some settings. A setting is a parameter of task, model or
 * training, or one that is chosen by name: task, model, preset, precision, objective, schedule. */
#ifndef LRA_PROBES_RUN_GRID_H
#define LRA_PROBES_RUN_GRID_H

#include "probes/run/cell_command.h"

enum { LRA_GRID_AXES = 16, LRA_GRID_VALUES = 64, LRA_GRID_COMBINATIONS = 512 };

typedef struct {
    char *key;
    int n;
    char *value[LRA_GRID_VALUES];
} lra_grid_axis;

typedef struct {
    int n_axes, n; /* n: combinations */
    lra_grid_axis axis[LRA_GRID_AXES];
} lra_grid;

/* Adds "KEY=VALUE,VALUE,...". */
int lra_grid_add(lra_grid *g, const char *text, lra_err *e);
/* Adds the lines "KEY = VALUE, VALUE, ..." of a file; a comment begins with #. */
int lra_grid_read(lra_grid *g, const char *path, lra_err *e);
/* Adds such lines, except for settings that already vary. */
int lra_grid_add_others(lra_grid *g, const char *lines, lra_err *e);
/* Removes the axis of a key from the grid; returns its values separated by commas, which the caller
 * frees; NULL: there is none. */
char *lra_grid_take(lra_grid *g, const char *key);
/* Fails if o sets a setting of the grid. */
int lra_grid_check(const lra_grid *g, const lra_options *o, lra_err *e);
void lra_grid_free(lra_grid *g);

/* The command of combination i, without its last options; the last axis changes fastest. */
void lra_grid_command(const lra_grid *g, int i, const lra_options *o, lra_command_words *w);
/* "rate=0.001": the same without task and model; NULL: there are no other differences. The caller
 * frees it. */
char *lra_grid_label(const lra_grid *g, int i);
/* The settings that differ between combinations, "model=s4d rate=0.001"; "the run" if there are
 * none. The caller frees it. */
char *lra_grid_name(const lra_grid *g, int i);

#endif
