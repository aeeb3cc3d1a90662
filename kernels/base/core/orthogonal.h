/* Random orthogonal rows with the lengths of normal vectors: directions of random features
 * (Performer).
 *   Q R = G, G (K,K) normal, R with a positive diagonal; row i of Q is scaled to |g_i|, g_i another
 *   normal vector
 * Without the positive diagonal the rows would not be uniformly distributed: the first element of
 * the first row would mostly be negative. More than K rows form independent blocks of K rows.
 * Source: Choromanski et al. 2021, arXiv:2009.14794, section 3.2. */
#ifndef LRA_BASE_CORE_ORTHOGONAL_H
#define LRA_BASE_CORE_ORTHOGONAL_H

#include "kernels/base/core/philox.h"

/* The i-th standard normal value of the stream (seed, stream) at an optimiser step. */
LRA_PHILOX_FN double lra_normal_at(uint64_t seed, uint32_t stream, uint64_t step, int64_t i)
{
    lra_rng r = lra_rng_new(seed, stream, 0);
    uint64_t at = (uint64_t)i / 4;
    lra_philox w = lra_philox_at(r.key[0], r.key[1], (uint32_t)step, (uint32_t)(step >> 32),
                                 (uint32_t)at, (uint32_t)(at >> 32));
    double x, y;
    if (i % 4 < 2)
        lra_normal2(w.v[0], w.v[1], &x, &y);
    else
        lra_normal2(w.v[2], w.v[3], &x, &y);
    return i % 2 ? y : x;
}

/* Computes m such rows of K values at an optimiser step; rows: (m,K). */
void lra_orthogonal_rows(uint64_t seed, uint32_t stream, uint64_t step, int64_t m, int64_t K,
                         double *rows);

#endif
