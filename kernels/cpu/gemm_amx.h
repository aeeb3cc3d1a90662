/* The tile part of lra_gemm_bf16(), whole tiles only; called by it alone. */
#ifndef LRA_CPU_GEMM_AMX_H
#define LRA_CPU_GEMM_AMX_H

#include "kernels/cpu/gemm.h"

/* c (M,N) = a b, plus c itself if `add`; M and N multiples of 16, K of 32. */
void lra_gemm_amx(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                  int64_t panel, bool add, float *c, int64_t ldc);
/* LRA_AMX_BURST products of 16 x 16 x 32 from registers alone, for the ceiling; returns 0. */
enum { LRA_AMX_BURST = 1 << 16 };
float lra_amx_burst(void);

#endif
