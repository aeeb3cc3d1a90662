/* What learned positions have become: is a product of two rows of their table one of the distance
 * between them alone?
 *   X = P P^T,  P (T,D): the rows that the longest examples use;  its Toeplitz share (analysis/spectrum.h)
 * (Wennberg and Henter 2021 fit Toeplitz matrices to such products.) */
#ifndef LRA_PROBES_ATTENTION_POSITION_TABLE_H
#define LRA_PROBES_ATTENTION_POSITION_TABLE_H

#include "analysis/spectrum.h"
#include "kernels/graph/graph.h"

/* Of T positions; false: there is no table of positions, or it has fewer than three rows. */
bool lra_position_table_share(const lra_params *p, int64_t T, lra_toeplitz *out, lra_err *e);

#endif
