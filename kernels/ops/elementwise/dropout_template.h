/* Dropout factors, 0 or 1/(1 - rate), for many elements at a time. Each SIMD lane computes
 * lra_philox_at() with key (seed, path) and counter (step, number of the draw). */
#ifndef LRA_OPS_ELEMENTWISE_DROPOUT_TEMPLATE_H
#define LRA_OPS_ELEMENTWISE_DROPOUT_TEMPLATE_H

#include "kernels/ops/lanes_template.h"

#include "kernels/base/core/philox.h"

/* DRAWS: number of draws computed at a time. It fills the registers, because the rounds of a single
 * draw depend on each other. A random word is the low half of a 64-bit lane. A lane can hold a full
 * 64-bit product; the bits above a word are never read. */
enum { DRAWS = 32, DROPOUT_BLOCK = 4 * DRAWS };
#if defined(LRA_LEVEL_avx512)
enum { DRAW_LANES = 8 };
#elif defined(LRA_LEVEL_avx2)
enum { DRAW_LANES = 4 };
#else
enum { DRAW_LANES = 2 };
#endif
enum { VECTORS = DRAWS / DRAW_LANES };
typedef uint64_t draw_lanes __attribute__((vector_size(DRAW_LANES * 8)));

/* Product of factor and the low half of each lane, 64 bits. */
LRA_ROW_FN draw_lanes multiply(draw_lanes x, uint32_t factor)
{
#if !LRA_TYPE_f64 && defined(LRA_LEVEL_avx512)
    return (draw_lanes)_mm512_mul_epu32((__m512i)x, _mm512_set1_epi64(factor));
#elif !LRA_TYPE_f64 && defined(LRA_LEVEL_avx2)
    return (draw_lanes)_mm256_mul_epu32((__m256i)x, _mm256_set1_epi64x(factor));
#else
    return (x & 0xFFFFFFFFu) * factor;
#endif
}

typedef struct {
    draw_lanes word[4][VECTORS];
} draw_words;

/* Computes DRAWS draws of four words each. The first half has counters from first[0] on, the second
 * half from first[1] on. */
LRA_ROW_FN draw_words philox_lanes(const uint32_t key[2], const lra_step *step,
                                   const uint64_t first[2])
{
    uint32_t k0 = key[0], k1 = key[1];
    draw_words d;
    for (int j = 0; j < VECTORS; j++)
        for (int l = 0; l < DRAW_LANES; l++) {
            int n = j * DRAW_LANES + l;
            uint64_t at = first[n / (DRAWS / 2)] + (uint64_t)(n % (DRAWS / 2));
            d.word[0][j][l] = step->step, d.word[1][j][l] = step->step >> 32;
            d.word[2][j][l] = at, d.word[3][j][l] = at >> 32;
        }
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        LANES_UNROLL for (int j = 0; j < VECTORS; j++)
        {
            draw_lanes p0 = multiply(d.word[0][j], 0xD2511F53u);
            draw_lanes p1 = multiply(d.word[2][j], 0xCD9E8D57u);
            d.word[0][j] = (p1 >> 32) ^ d.word[1][j] ^ k0;
            d.word[2][j] = (p0 >> 32) ^ d.word[3][j] ^ k1;
            d.word[1][j] = p1, d.word[3][j] = p0;
        }
    }
    return d;
}

/* Key and threshold of the draws of a node. lra_u01f(w) < rate if and only if w >> 8 < least. */
typedef struct {
    uint32_t key[2], least;
    real kept;
} dropout_draw;

static inline dropout_draw dropout_draw_of(double rate, uint32_t path, const lra_step *step)
{
    lra_rng key = lra_rng_new(step->seed, path, 0);
    return (dropout_draw){.key = {key.key[0], key.key[1]},
                          .least = (uint32_t)ceil(rate * 0x1p24),
                          .kept = (real)(1 / (1 - rate))};
}

/* Computes the factors of draws [first[0], first[0] + 16) and [first[1], first[1] + 16), four
 * factors per draw. */
static inline void dropout_factors(const dropout_draw *a, const lra_step *step,
                                   const uint64_t first[2], real factor[DROPOUT_BLOCK])
{
    const real kept = a->kept;
    const uint32_t least = a->least;
    const draw_words d = philox_lanes(a->key, step, first);
    uint64_t word[4][DRAWS];
    memcpy(word, &d, sizeof word);
    for (int l = 0; l < DRAWS; l++)
        for (int k = 0; k < 4; k++)
            factor[4 * l + k] = (uint32_t)word[k][l] >> 8 < least ? 0 : kept;
}

#endif
