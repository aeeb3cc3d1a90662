/* Toeplitz share of a learned table of position embeddings: how far the product of two of its rows
 * depends on their distance alone.
 *   X = P P^T,  P (T,D): the rows that the longest examples use
 * The Toeplitz share of X is defined in analysis/spectrum.h. Wennberg and Henter (2021) fit
 * Toeplitz matrices to such products. */
#ifndef LRA_PROBES_ATTENTION_POSITION_TABLE_H
#define LRA_PROBES_ATTENTION_POSITION_TABLE_H

#include "analysis/spectrum.h"
#include "kernels/graph/graph.h"

/* Computes the share for T positions. Returns false if the model has no position table, or one with
 * fewer than three rows. */
bool lra_position_table_share(const lra_params *p, int64_t T, lra_toeplitz *out, lra_err *e);

#endif
