/* Philox4x32-10: counter-based random numbers, the only source of randomness of the suite (except
 * for MT19937 in datasets/loader/split.c, which reproduces published splits).
 *   (c0..c3), (k0,k1) -> four independent 32-bit words
 * There is no state: the words depend only on counter and key.
 * Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
 * Known answer: counter 0, key 0 -> 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
 * The functions are inline, because C and CUDA files share them. */
#ifndef LRA_BASE_CORE_PHILOX_H
#define LRA_BASE_CORE_PHILOX_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define LRA_PHILOX_FN static __host__ __device__ __forceinline__
#else
#define LRA_PHILOX_FN static inline
#endif

typedef struct {
    uint32_t v[4];
} lra_philox;

LRA_PHILOX_FN lra_philox lra_philox_at(uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1,
                                       uint32_t c2, uint32_t c3)
{
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1, c3 = (uint32_t)p0, c0 = n0, c2 = n2;
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    lra_philox r = {{c0, c1, c2, c3}};
    return r;
}

/* Uniform numbers from one word: in [0,1) with 24 bits (lra_u01f) or 32 bits (lra_u01); in (0,1]
 * for logarithms (lra_u01_open). */
LRA_PHILOX_FN float lra_u01f(uint32_t w)
{
    return (float)(w >> 8) * 0x1p-24f;
}
LRA_PHILOX_FN double lra_u01(uint32_t w)
{
    return (double)w * 0x1p-32;
}
LRA_PHILOX_FN double lra_u01_open(uint32_t w)
{
    return ((double)w + 1.0) * 0x1p-32;
}

/* Two standard normals from two words (Box-Muller, in double). */
LRA_PHILOX_FN void lra_normal2(uint32_t a, uint32_t b, double *x, double *y)
{
    double r = sqrt(-2.0 * log(lra_u01_open(a))), t = 6.283185307179586 * lra_u01(b);
    *x = r * cos(t), *y = r * sin(t);
}

/* ---- a stream: for code that draws one number after another --------------------------------- */

/* A stream of random numbers. Its values depend only on the key (seed, stream id) and the counter
 * (index, number of draws). */
typedef struct {
    uint32_t key[2];
    uint64_t index;
    uint64_t n_drawn;
    lra_philox block;
} lra_rng;

LRA_PHILOX_FN lra_rng lra_rng_new(uint64_t seed, uint32_t stream, uint64_t index)
{
    lra_rng r;
    r.key[0] = (uint32_t)seed ^ (stream * 0x9E3779B9u);
    r.key[1] = (uint32_t)(seed >> 32) ^ stream;
    r.index = index;
    r.n_drawn = 0;
    return r;
}

LRA_PHILOX_FN uint32_t lra_rng_u32(lra_rng *r)
{
    if ((r->n_drawn & 3) == 0)
        r->block = lra_philox_at(r->key[0], r->key[1], (uint32_t)r->index,
                                 (uint32_t)(r->index >> 32), (uint32_t)(r->n_drawn >> 2),
                                 (uint32_t)(r->n_drawn >> 34));
    return r->block.v[r->n_drawn++ & 3];
}

/* Writes the next n words: the results of n calls of lra_rng_u32(). */
LRA_PHILOX_FN void lra_rng_fill(lra_rng *r, int64_t n, uint32_t *out)
{
    int64_t i = 0;
    for (; i < n && (r->n_drawn & 3); i++) out[i] = lra_rng_u32(r);
    for (; i + 4 <= n; i += 4, r->n_drawn += 4) {
        r->block = lra_philox_at(r->key[0], r->key[1], (uint32_t)r->index,
                                 (uint32_t)(r->index >> 32), (uint32_t)(r->n_drawn >> 2),
                                 (uint32_t)(r->n_drawn >> 34));
        for (int k = 0; k < 4; k++) out[i + k] = r->block.v[k];
    }
    for (; i < n; i++) out[i] = lra_rng_u32(r);
}

LRA_PHILOX_FN double lra_rng_u01(lra_rng *r)
{
    return lra_u01(lra_rng_u32(r));
}

/* Uniform integer in [0,n), exact (Lemire's multiply with rejection); 1 <= n < 2^32. */
LRA_PHILOX_FN uint32_t lra_rng_below(lra_rng *r, uint32_t n)
{
    uint64_t m = (uint64_t)lra_rng_u32(r) * n;
    if ((uint32_t)m < n) {
        uint32_t limit = (uint32_t)(0u - n) % n;
        while ((uint32_t)m < limit) m = (uint64_t)lra_rng_u32(r) * n;
    }
    return (uint32_t)(m >> 32);
}

#endif
