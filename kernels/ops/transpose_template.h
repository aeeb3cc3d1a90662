/* Transposes blocks of 16 x 16 numbers in registers. An elementwise transposition would wait for 16
 * cache lines in each iteration, which map to few cache sets if rows are a power of two apart. */
#ifndef LRA_OPS_TRANSPOSE_TEMPLATE_H
#define LRA_OPS_TRANSPOSE_TEMPLATE_H

#include "kernels/ops/lanes_template.h"

#if defined(LRA_LEVEL_avx512) && !LRA_TYPE_f64
#define LANES_TRANSPOSED 1

/* Transposes 16 vectors: lane j of r[i] and lane i of r[j] are exchanged. */
LRA_ROW_FN void lanes_transpose(lanes *r)
{
    __m512 t[16];
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int k = 0; k < 2; k++) {
            __m512d a = _mm512_castps_pd(t[i + k]), b = _mm512_castps_pd(t[i + k + 2]);
            r[i + 2 * k] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            r[i + 2 * k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
    for (int i = 0; i < 4; i++) { /* exchanges 4 x 4 blocks of four numbers */
        __m512 a = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
        __m512 b = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xDD);
        __m512 c = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        __m512 d = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xDD);
        t[i] = _mm512_shuffle_f32x4(a, c, 0x88), t[i + 8] = _mm512_shuffle_f32x4(a, c, 0xDD);
        t[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88), t[i + 12] = _mm512_shuffle_f32x4(b, d, 0xDD);
    }
    for (int i = 0; i < 16; i++) r[i] = t[i];
}
#else
#define LANES_TRANSPOSED 0
#endif

#endif
