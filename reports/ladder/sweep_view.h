/* Sweeps: ladders that differ in one setting of task, model or training, such as the distance of
 * dependencies. */
#ifndef LRA_REPORTS_LADDER_SWEEP_VIEW_H
#define LRA_REPORTS_LADDER_SWEEP_VIEW_H

#include "reports/ladder/ladder_view.h"

enum { LRA_SWEEP_MAX_VALUES = 10 };

typedef struct {
    char *key;    /* "distance" */
    bool of_task; /* whose setting it is */
    int n;
    const lra_ladder_view *at[LRA_SWEEP_MAX_VALUES];
    char *value[LRA_SWEEP_MAX_VALUES];
    double number[LRA_SWEEP_MAX_VALUES]; /* ascending; NAN where the value is a word */
} lra_sweep;

/* Sweeps among ladders of the same task, model, preset, precision and rungs; returns their number,
 * or -1.  Ladders must outlive them. */
int lra_sweeps_find(const lra_ladder_view *views, int n, lra_sweep **sweeps, lra_err *e);
void lra_sweeps_free(lra_sweep *sweeps, int n);

bool lra_sweep_is_distance(const lra_sweep *s);
/* Steps that one answer sees in one direction of the dependency, itself included: the field 2R + 1
 * of a window where outputs are pooled, R + 1 where they are asked at steps. */
bool lra_sweep_is_pooled(const lra_sweep *s);
int64_t lra_sweep_field(const lra_sweep *s, int64_t reach);
/* Whether an answer of that rung sees both ends of a dependency at the i-th distance; true for
 * other keys. */
bool lra_sweep_covers(const lra_sweep *s, int i, int rung);

#endif
