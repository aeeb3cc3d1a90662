/* A grid: every combination of values of some settings.  A setting is a parameter of task, model or
 * training, or what is chosen by name: task, model, preset, precision, objective, schedule. */
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
/* Adds the lines "KEY = VALUE, VALUE, ..." of a file; what follows # is a comment. */
int lra_grid_read(lra_grid *g, const char *path, lra_err *e);
/* Adds such lines but those of settings that vary already. */
int lra_grid_add_others(lra_grid *g, const char *lines, lra_err *e);
/* Takes the axis of a key out of the grid; returns its values with commas between, which the caller
 * frees; NULL: there is none. */
char *lra_grid_take(lra_grid *g, const char *key);
/* Fails where o sets what the grid does. */
int lra_grid_check(const lra_grid *g, const lra_options *o, lra_err *e);
void lra_grid_free(lra_grid *g);

/* The command of combination i, without its end; the last axis changes fastest. */
void lra_grid_command(const lra_grid *g, int i, const lra_options *o, lra_command_words *w);
/* "rate=0.001": the same without task and model; NULL: nothing else differs.  The caller frees
 * it. */
char *lra_grid_label(const lra_grid *g, int i);
/* "model=s4d rate=0.001": what differs between combinations; "the run": nothing.  The caller frees
 * it. */
char *lra_grid_name(const lra_grid *g, int i);

#endif
