/* Epilogue of a bf16 product: converts float32 sums, which are in the L1 cache, to rows of bf16. */
#ifndef LRA_CPU_GEMM_FINISH_H
#define LRA_CPU_GEMM_FINISH_H

#include <immintrin.h>

#include "kernels/cpu/gemm.h"

#define FINISH_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

/* y = relu(sum + bias) + residual for some rows of a block of up to 32 columns. (m,n): position of
 * the first element in the product. It is fastest if inlined with constant arguments: whole (all 32
 * columns), relu, residual. */
FINISH_TARGET static inline __attribute__((always_inline)) void
finish_rows(const bool whole, const bool relu, const bool residual, int64_t rows, int64_t columns,
            const float *sum, int64_t ld, const lra_bf16_out *out, int64_t m, int64_t n)
{
    const __mmask32 live = whole ? 0xFFFFFFFF : (__mmask32)(0xFFFFFFFFu >> (32 - columns));
    __m512 bias0 = _mm512_setzero_ps(), bias1 = bias0;
    if (out->bias) {
        bias0 = _mm512_maskz_loadu_ps((__mmask16)live, out->bias + n);
        bias1 = _mm512_maskz_loadu_ps((__mmask16)(live >> 16), out->bias + n + 16);
    }
    const int64_t ld_out = out->ld;
    uint16_t *y = out->y + m * ld_out + n;
    const uint16_t *from = residual ? out->residual + m * ld_out + n : NULL;
    for (int64_t r = 0; r < rows; r++, sum += ld, y += ld_out) {
        __m512 v0 = _mm512_add_ps(_mm512_loadu_ps(sum), bias0);
        __m512 v1 = _mm512_add_ps(_mm512_loadu_ps(sum + 16), bias1);
        if (relu) { /* max returns its second operand if one is NaN, so that NaN is kept */
            v0 = _mm512_max_ps(_mm512_setzero_ps(), v0);
            v1 = _mm512_max_ps(_mm512_setzero_ps(), v1);
        }
        if (residual) {
            __m512i x = whole ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi16(live, from);
            __m512i x0 = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(x));
            __m512i x1 = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(x, 1));
            v0 = _mm512_add_ps(v0, _mm512_castsi512_ps(_mm512_slli_epi32(x0, 16)));
            v1 = _mm512_add_ps(v1, _mm512_castsi512_ps(_mm512_slli_epi32(x1, 16)));
            from += ld_out;
        }
        __m512i bits = (__m512i)_mm512_cvtne2ps_pbh(v1, v0);
        if (whole)
            _mm512_storeu_si512(y, bits);
        else
            _mm512_mask_storeu_epi16(y, live, bits);
    }
}

#endif
