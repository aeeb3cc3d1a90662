/* The AMX implementation of lra_gemm_bf16_to(), called only from there, and declarations that both
 * implementations share. */
#ifndef LRA_CPU_GEMM_AMX_H
#define LRA_CPU_GEMM_AMX_H

#include "kernels/cpu/gemm.h"

/* out = a b for any M and N; K must be even. */
void lra_gemm_amx(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                  int64_t panel, const lra_bf16_out *out);
/* Epilogue of a block of sums (rows,columns) at position (m,n) of the product. columns: at most 32;
 * 32 floats must be readable in each row of sum. */
void lra_finish_bf16(int64_t rows, int64_t columns, const float *sum, int64_t ld,
                     const lra_bf16_out *out, int64_t m, int64_t n);
/* Runs LRA_AMX_BURST tile products of 16 x 16 x 32 without memory accesses, to measure the peak
 * rate. Returns 0. */
enum { LRA_AMX_BURST = 1 << 16 };
float lra_amx_burst(void);

#endif
