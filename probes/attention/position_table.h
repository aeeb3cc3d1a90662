/* Toeplitz share of a learned position table: does the product of two of its rows depend on their
 * distance alone?
 *   X = P P^T,  P (T,D): the rows that the longest examples use
 * Computes the Toeplitz share of X (analysis/spectrum.h). (Wennberg and Henter 2021 fit Toeplitz
 * matrices to such products.) */
#ifndef LRA_PROBES_ATTENTION_POSITION_TABLE_H
#define LRA_PROBES_ATTENTION_POSITION_TABLE_H

#include "analysis/spectrum.h"
#include "kernels/graph/graph.h"

/* Computes it for T positions; false: there is no position table, or it has fewer than three
 * rows. */
bool lra_position_table_share(const lra_params *p, int64_t T, lra_toeplitz *out, lra_err *e);

#endif
