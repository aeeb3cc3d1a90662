/* Ladders from result files: which results belong together. */
#ifndef LRA_REPORTS_LADDER_LADDER_VIEWS_H
#define LRA_REPORTS_LADDER_LADDER_VIEWS_H

#include "reports/ladder/ladder_scale.h"

/* The ladders in a list of results (same task, data, preset, precision and configuration, except
 * for the keys that differ within a ladder); returns their number, or -1.  The results must outlive
 * the views. */
int lra_ladder_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                     lra_ladder_view **views, lra_err *e);
/* Same, only ladders with the metric accuracy; fails if there are none. */
int lra_ladder_accuracy_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                              lra_ladder_view **views, lra_err *e);
/* The ladders of accuracy, or, if there are none, all ladders, which must then share one metric, so
 * that they can be drawn on one axis. */
int lra_ladder_alike_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                           lra_ladder_view **views, lra_err *e);
void lra_ladder_views_free(lra_ladder_view *views, int n);

#endif
