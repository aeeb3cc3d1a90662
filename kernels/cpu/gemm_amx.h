/* The AMX part of lra_gemm_bf16_to(), called only from there, and declarations shared with the
 * other part. */
#ifndef LRA_CPU_GEMM_AMX_H
#define LRA_CPU_GEMM_AMX_H

#include "kernels/cpu/gemm.h"

/* out = a b: M rows, N columns of any number; K even. */
void lra_gemm_amx(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                  int64_t panel, const lra_bf16_out *out);
/* Epilogue of a block of sums (rows,columns), columns at most 32 and 32 floats readable in each of
 * its rows; (m,n): its position in the product. */
void lra_finish_bf16(int64_t rows, int64_t columns, const float *sum, int64_t ld,
                     const lra_bf16_out *out, int64_t m, int64_t n);
/* LRA_AMX_BURST tile products of 16 x 16 x 32 on registers only, to measure the peak rate; returns
 * 0. */
enum { LRA_AMX_BURST = 1 << 16 };
float lra_amx_burst(void);

#endif
