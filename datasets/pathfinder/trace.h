/* Pathfinder: recovers the label of an image from its pixels and the geometry of the generator. */
#ifndef LRA_DATASETS_PATHFINDER_TRACE_H
#define LRA_DATASETS_PATHFINDER_TRACE_H

#include "datasets/pathfinder/marker.h"

/* Tracer for images of one size and path length. Each thread needs its own object. */
typedef struct lra_pathfinder_tracer lra_pathfinder_tracer;
lra_pathfinder_tracer *lra_pathfinder_tracer_new(const lra_pathfinder_size *size, int n_paddles);
void lra_pathfinder_tracer_free(lra_pathfinder_tracer *t); /* Nullable: t */

/* Returns 1 if a chain of n_paddles paddles connects the markers, 0 if there is none, -1 if
 * undecided (a marker was not detected, or there are too many chains). */
int32_t lra_pathfinder_trace(lra_pathfinder_tracer *t, const uint8_t *pixel);

#endif
