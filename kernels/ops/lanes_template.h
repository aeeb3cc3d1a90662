/* SIMD vectors of reals, loaded from and stored to arrays of elem or real. For row ops and
 * elementwise ops whose loops the compiler vectorises badly (a bf16 array among float32 arrays,
 * sums of short rows, conditionals that it turns into masks). The same source serves all
 * instruction sets and types; with LRA_TYPE f64 a vector has one element.
 *   lanes_fn: a function f(i, w, ...) that reads and writes elements [i, i + w) with lanes_load()
 *     and lanes_store();
 *   LANES_EACH(n, f, ...): calls f for all of [0, n), with the constant w = LANES, and once for the
 *     remainder;
 *   LANES_BODY(n, t, f, ...): like LANES_EACH, in parallel, as the body of an op; the constant type
 *     t is the third argument of f.
 * Arrays that are real in every graph have type LRA_F32. */
#ifndef LRA_OPS_LANES_TEMPLATE_H
#define LRA_OPS_LANES_TEMPLATE_H

#include "kernels/ops/typed.h"

#if defined(LRA_LEVEL_avx512) || defined(LRA_LEVEL_avx2)
#include <immintrin.h>
#endif

#define LANES_SPAN(first, last, f, ...)                                                            \
    do {                                                                                           \
        int64_t at_ = (first), end_ = (last);                                                      \
        for (; at_ + LANES <= end_; at_ += LANES) f(at_, LANES, __VA_ARGS__);                      \
        if (at_ < end_) f(at_, end_ - at_, __VA_ARGS__);                                           \
    } while (0)
#define LANES_EACH(n, f, ...) LANES_SPAN(0, n, f, __VA_ARGS__)

#if LRA_TYPE_bf16
#define LANES_TYPED(first, last, f, t, ...)                                                        \
    if ((t) == LRA_BF16)                                                                           \
        LANES_SPAN(first, last, f, LRA_BF16, __VA_ARGS__);                                         \
    else                                                                                           \
        LANES_SPAN(first, last, f, LRA_F32, __VA_ARGS__)
#else
#define LANES_TYPED(first, last, f, t, ...) LANES_SPAN(first, last, f, LRA_F32, __VA_ARGS__)
#endif

/* Complete body of an elementwise op: calls f(i, w, t, ...) for n elements of type t, in parallel,
 * in pieces of LRA_PIECE. */
#define LANES_BODY(n, t, f, ...)                                                                   \
    const int64_t all_ = (n);                                                                      \
    LRA_PRAGMA(omp parallel for num_threads(c->n_threads) if (all_ >= LRA_PARALLEL_MIN))           \
    for (int64_t from_ = 0; from_ < all_; from_ += LRA_PIECE) {                                    \
        int64_t to_ = all_ - from_ < LRA_PIECE ? all_ : from_ + LRA_PIECE;                         \
        LANES_TYPED(from_, to_, f, t, __VA_ARGS__);                                                \
    }

/* Unrolls a loop over the vectors of a few rows, so that they stay in registers. */
#if defined(__clang__)
#define LANES_UNROLL
#else
#define LANES_UNROLL _Pragma("GCC unroll 8")
#endif

/* ---- the vectors ----------------------------------------------------------------------------- */

#if LRA_TYPE_f64
enum { LANES = 1 };
typedef real lanes;
LRA_ROW_FN lanes lanes_max(lanes a, lanes b)
{
    return b < a ? a : b;
}
LRA_ROW_FN lanes lanes_step(lanes v)
{
    return v > 0 ? 1 : 0;
}
LRA_ROW_FN real lanes_sum(lanes v)
{
    return v;
}
LRA_ROW_FN real lanes_largest(lanes v)
{
    return v;
}
LRA_ROW_FN lanes lanes_sqrt(lanes v)
{
    return sqrt(v);
}
LRA_ROW_FN lanes lanes_read(const real *x)
{
    return *x;
}
LRA_ROW_FN void lanes_write(real *y, lanes v)
{
    *y = v;
}

#else

#if defined(LRA_LEVEL_avx512)
enum { LANES = 16 };
#elif defined(LRA_LEVEL_avx2)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float lanes __attribute__((vector_size(LANES * 4)));
typedef uint32_t lanes_bits __attribute__((vector_size(LANES * 4)));
typedef int32_t lanes_int __attribute__((vector_size(LANES * 4)));
typedef uint16_t lanes_half __attribute__((vector_size(LANES * 2)));

LRA_ROW_FN lanes lanes_read(const float *x)
{
    lanes v;
    memcpy(&v, x, sizeof v);
    return v;
}
LRA_ROW_FN void lanes_write(float *y, lanes v)
{
    memcpy(y, &v, sizeof v);
}

/* Maximum of each lane; b if one of the operands is NaN. */
LRA_ROW_FN lanes lanes_max(lanes a, lanes b)
{
#if defined(LRA_LEVEL_avx512)
    return _mm512_max_ps(a, b);
#elif defined(LRA_LEVEL_avx2)
    return _mm256_max_ps(a, b);
#else
    lanes_int m = b < a;
    return (lanes)(((lanes_int)a & m) | ((lanes_int)b & ~m));
#endif
}
LRA_ROW_FN lanes lanes_min(lanes a, lanes b)
{
#if defined(LRA_LEVEL_avx512)
    return _mm512_min_ps(a, b);
#elif defined(LRA_LEVEL_avx2)
    return _mm256_min_ps(a, b);
#else
    lanes_int m = b > a;
    return (lanes)(((lanes_int)a & m) | ((lanes_int)b & ~m));
#endif
}

/* 1 in lanes where v > 0, else 0. */
LRA_ROW_FN lanes lanes_step(lanes v)
{
    const lanes one = 1 - (lanes){0};
    return (lanes)((v > (lanes){0}) & (lanes_int)one);
}

/* Sum of all lanes. The upper half is repeatedly added to the lower half, so that the order of the
 * additions is fixed for an instruction set. */
LRA_ROW_FN real lanes_sum(lanes v)
{
#if defined(LRA_LEVEL_avx512)
    return _mm512_reduce_add_ps(v);
#else
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) v[l] += v[l + half];
    return v[0];
#endif
}
/* Maximum of all lanes. A NaN may be lost. */
LRA_ROW_FN real lanes_largest(lanes v)
{
#if defined(LRA_LEVEL_avx512)
    return _mm512_reduce_max_ps(v);
#else
    float most = v[0];
    for (int l = 1; l < LANES; l++) most = v[l] > most ? v[l] : most;
    return most;
#endif
}
LRA_ROW_FN lanes lanes_sqrt(lanes v)
{
#if defined(LRA_LEVEL_avx512)
    return _mm512_sqrt_ps(v);
#elif defined(LRA_LEVEL_avx2)
    return _mm256_sqrt_ps(v);
#else
    for (int l = 0; l < LANES; l++) v[l] = sqrtf(v[l]);
    return v;
#endif
}

LRA_ROW_FN lanes lanes_widen(const uint16_t *x)
{
#if defined(LRA_LEVEL_avx512)
    __m512i bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x));
    return (lanes)_mm512_slli_epi32(bits, 16);
#else
    lanes_half half;
    memcpy(&half, x, sizeof half);
    return (lanes)(__builtin_convertvector(half, lanes_bits) << 16);
#endif
}
/* Stores all lanes as bf16, rounded like e_store(). */
LRA_ROW_FN void lanes_narrow(uint16_t *y, lanes v)
{
    lanes_bits bits = (lanes_bits)v, even = bits + ((bits >> 16 & 1u) + 0x7FFFu);
#if defined(LRA_LEVEL_avx512)
    __m512i all = _mm512_mask_or_epi32((__m512i)even, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q),
                                       (__m512i)bits, _mm512_set1_epi32(0x400000));
    __m256i half = _mm512_cvtepi32_epi16(_mm512_srli_epi32(all, 16));
    _mm256_storeu_si256((__m256i *)(void *)y, half);
#else
    lanes_bits nan = (lanes_bits)(v != v);
    bits = ((bits | 0x400000u) & nan) | (even & ~nan);
    lanes_half half = __builtin_convertvector(bits >> 16, lanes_half);
    memcpy(y, &half, sizeof half);
#endif
}
#endif

#if LRA_TYPE_f32
/* lanes_write() with a streaming store; y must be aligned to a full vector. */
LRA_ROW_FN void lanes_stream(float *y, lanes v)
{
#if defined(LRA_LEVEL_avx512)
    _mm512_stream_ps(y, v);
#elif defined(LRA_LEVEL_avx2)
    _mm256_stream_ps(y, v);
#else
    lanes_write(y, v);
#endif
}
#endif
/* Store fence: call before another thread reads streamed data. */
static inline void lanes_streamed(void)
{
#if defined(LRA_LEVEL_avx512) || defined(LRA_LEVEL_avx2)
    _mm_sfence();
#endif
}

/* Vector with x in every lane. */
LRA_ROW_FN lanes lanes_of(real x)
{
    return x - (lanes){0};
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Vector of elements [i, i + w) of x; the remaining lanes are zero. */
LRA_ROW_FN lanes lanes_load(const void *x, lra_type t, int64_t i, int64_t w)
{
    real part[LANES];
    if (w < LANES) {
        for (int64_t l = 0; l < LANES; l++) part[l] = l < w ? t_load(x, t, i + l) : 0;
        return lanes_read(part);
    }
#if LRA_TYPE_bf16
    if (t == LRA_BF16) return lanes_widen((const uint16_t *)x + i);
#endif
    return lanes_read((const real *)x + i);
}
LRA_ROW_FN void lanes_store(void *y, lra_type t, int64_t i, int64_t w, lanes v)
{
    real part[LANES];
    if (w < LANES) {
        lanes_write(part, v);
        for (int64_t l = 0; l < w; l++) t_store(y, t, i + l, part[l]);
        return;
    }
#if LRA_TYPE_bf16
    if (t == LRA_BF16) {
        lanes_narrow((uint16_t *)y + i, v);
        return;
    }
#endif
    lanes_write((real *)y + i, v);
}

/* v, with the lanes from w on replaced by `rest`. */
LRA_ROW_FN lanes lanes_keep(lanes v, int64_t w, real rest)
{
    real part[LANES];
    if (w == LANES) return v;
    lanes_write(part, v);
    for (int64_t l = w; l < LANES; l++) part[l] = rest;
    return lanes_read(part);
}

/* ---- functions of vectors: lanes_exp, lanes_tanh, lanes_normal, lanes_abs; in double exact -- */

#if LRA_TYPE_f64
#define lanes_exp  exp
#define lanes_tanh tanh
#else
#define F            lanes
#define F_BITS       lanes_bits
#define F_INT        lanes_int
#define F_NAME(name) lanes_##name
#define F_MAX(a, b)  lanes_max(lanes_of(a), b)
#define F_MIN(a, b)  lanes_min(lanes_of(a), b)
#include "kernels/ops/math_source_body.h"
#undef F
#undef F_BITS
#undef F_INT
#undef F_NAME
#undef F_MAX
#undef F_MIN
#endif

#endif
