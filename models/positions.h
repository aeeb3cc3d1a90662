/* Position embeddings for models whose encoder does not know the order of tokens. */
#ifndef LRA_MODELS_POSITIONS_H
#define LRA_MODELS_POSITIONS_H

#include "models/model.h"

/* Adds position embeddings to the inputs, (n,T,D) -> (n,T,D), in the scope "positions":
 *   sinusoidal  sin and cos of t base^(-2i/D) in channels 2i and 2i+1, t from 0
 *   learned     a table (T_max,D), initialised N(0, 0.02^2); rows 0 to T-1, or the rows
 *               b->position_ids
 * Other kinds (none; rotary, which attention applies) return x unchanged. */
lra_tensor *lra_add_positions(const lra_build *b, lra_tensor *x, lra_positions kind);

#endif
