/* Pathfinder: the label of an image found again from its pixels and the geometry of the generator
 * alone. */
#ifndef LRA_DATASETS_PATHFINDER_TRACE_H
#define LRA_DATASETS_PATHFINDER_TRACE_H

#include "datasets/pathfinder/marker.h"

/* Follows paths of one size and length; one for each thread. */
typedef struct lra_pathfinder_tracer lra_pathfinder_tracer;
lra_pathfinder_tracer *lra_pathfinder_tracer_new(const lra_pathfinder_size *size, int n_paddles);
void lra_pathfinder_tracer_free(lra_pathfinder_tracer *t); /* Nullable: t */

/* 1: a chain of n_paddles paddles leads from one marker to the other; 0: none does; -1: not decided
 * (a marker was not found, or more chains than can be followed). */
int32_t lra_pathfinder_trace(lra_pathfinder_tracer *t, const uint8_t *pixel);

#endif
