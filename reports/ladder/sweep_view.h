/* Sweeps: groups of ladders that differ in one setting of task, model or training, such as the
 * distance of dependencies. */
#ifndef LRA_REPORTS_LADDER_SWEEP_VIEW_H
#define LRA_REPORTS_LADDER_SWEEP_VIEW_H

#include "reports/ladder/ladder_view.h"

enum { LRA_SWEEP_MAX_VALUES = 10 };

typedef struct {
    char *key;    /* key that differs, for example "distance" */
    bool of_task; /* true: the key is a setting of the task */
    int n;
    const lra_ladder_view *at[LRA_SWEEP_MAX_VALUES];
    char *value[LRA_SWEEP_MAX_VALUES];
    /* values in ascending order; NAN if a value is not a number */
    double number[LRA_SWEEP_MAX_VALUES];
} lra_sweep;

/* Finds the sweeps among ladders of the same task, model, preset, precision and rungs. Returns
 * their number, or -1. The ladders must stay valid. */
int lra_sweeps_find(const lra_ladder_view *views, int n, lra_sweep **sweeps, lra_err *e);
void lra_sweeps_free(lra_sweep *sweeps, int n);

bool lra_sweep_is_distance(const lra_sweep *s);
/* lra_sweep_field() returns the receptive field of one output in the direction of the dependency,
 * in tokens, including its own token: 2R + 1 if outputs are pooled over a window
 * (lra_sweep_is_pooled()), R + 1 if outputs are read at single positions. */
bool lra_sweep_is_pooled(const lra_sweep *s);
int64_t lra_sweep_field(const lra_sweep *s, int64_t reach);
/* True if an output of the rung sees both ends of a dependency at distance number i; always true if
 * the key is not the distance. */
bool lra_sweep_covers(const lra_sweep *s, int i, int rung);

#endif
