/* Sweeps: ladders that differ in one setting of task, model or training, such as the distance of
 * dependencies. */
#ifndef LRA_REPORTS_LADDER_SWEEP_VIEW_H
#define LRA_REPORTS_LADDER_SWEEP_VIEW_H

#include "reports/ladder/ladder_view.h"

enum { LRA_SWEEP_MAX_VALUES = 10 };

typedef struct {
    char *key;    /* "distance" */
    bool of_task; /* true: the key is a setting of the task, not of the model */
    int n;
    const lra_ladder_view *at[LRA_SWEEP_MAX_VALUES];
    char *value[LRA_SWEEP_MAX_VALUES];
    double number[LRA_SWEEP_MAX_VALUES]; /* ascending; NAN if the value is not a number */
} lra_sweep;

/* Sweeps among ladders of the same task, model, preset, precision and rungs; returns their number,
 * or -1.  Ladders must outlive them. */
int lra_sweeps_find(const lra_ladder_view *views, int n, lra_sweep **sweeps, lra_err *e);
void lra_sweeps_free(lra_sweep *sweeps, int n);

bool lra_sweep_is_distance(const lra_sweep *s);
/* Receptive field of one output along the dependency, in tokens, its own token included: 2R + 1
 * (lra_sweep_is_pooled()) if outputs are pooled over a window, R + 1 if outputs are read at single
 * positions. */
bool lra_sweep_is_pooled(const lra_sweep *s);
int64_t lra_sweep_field(const lra_sweep *s, int64_t reach);
/* True if an output of the rung sees both ends of a dependency at the i-th distance; always true
 * for keys other than the distance. */
bool lra_sweep_covers(const lra_sweep *s, int i, int rung);

#endif
