/* Random rows at right angles, as long as normal vectors: what features of a kernel are drawn
 * along.
 *   Q R = G, G (K,K) normal, R with a positive diagonal; row i of Q becomes |g_i| long, g_i another normal vector
 * Without the sign correction rows would not be uniform: the first number of the first would mostly
 * be negative.  More than K rows are blocks of K that know nothing of each other.
 * Source: Choromanski et al. 2021, arXiv:2009.14794, section 3.2. */
#ifndef LRA_BASE_CORE_ORTHOGONAL_H
#define LRA_BASE_CORE_ORTHOGONAL_H

#include "kernels/base/core/philox.h"

/* Number i of what (seed, stream) draw for a step, standard normal. */
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

/* rows: (m,K) */
void lra_orthogonal_rows(uint64_t seed, uint32_t stream, uint64_t step, int64_t m, int64_t K,
                         double *rows);

#endif
