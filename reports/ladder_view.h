/* Ladders from result files: which results belong together, and what the analysis says of them. */
#ifndef LRA_REPORTS_LADDER_VIEW_H
#define LRA_REPORTS_LADDER_VIEW_H

#include "analysis/ladder.h"
#include "reports/result.h"

/* One ladder: rungs by kernel, seeds that every rung has. */
typedef struct {
    const lra_result *first; /* any of them: task, preset, precision */
    const lra_result *run[LRA_LADDER_MAX_RUNGS][LRA_LADDER_MAX_SEEDS];
    uint8_t *correct[LRA_LADDER_MAX_RUNGS][LRA_LADDER_MAX_SEEDS];
    lra_ladder_data data;
    lra_ladder ladder;
    bool published_reference; /* MEGA's published accuracy; false: the widest rung */
    int n_left_out;           /* results whose seed not every rung has */
} lra_ladder_view;

/* The ladders in a list of results (same task, data, preset, precision and configuration but for kernel
 * and seed); returns their number, or -1.  The results must outlive the views. */
int lra_ladder_views(lra_result *const *list, int n, lra_ladder_view **views, lra_err *e);
void lra_ladder_views_free(lra_ladder_view *views, int n);

#endif
