/* Views of ladders from a list of results. */
#ifndef LRA_REPORTS_LADDER_LADDER_VIEWS_H
#define LRA_REPORTS_LADDER_LADDER_VIEWS_H

#include "reports/ladder/ladder_scale.h"

/* Finds the ladders in a list of results: results with the same task, data, preset, precision and
 * configuration, except for the keys that differ within a ladder. Returns their number, or -1. The
 * results must stay valid. */
int lra_ladder_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                     lra_ladder_view **views, lra_err *e);
/* Same as lra_ladder_views(), only for ladders with the metric accuracy; fails if there are
 * none. */
int lra_ladder_accuracy_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                              lra_ladder_view **views, lra_err *e);
/* The ladders with the metric accuracy. If there are none: all ladders, which must share one
 * metric, so that they can be drawn on one axis. */
int lra_ladder_alike_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                           lra_ladder_view **views, lra_err *e);
void lra_ladder_views_free(lra_ladder_view *views, int n);

#endif
