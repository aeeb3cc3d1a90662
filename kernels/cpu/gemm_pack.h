/* Layout of operands of bf16 products: a part of lra_pack_bf16() that gemm_amx.c needs too. */
#ifndef LRA_CPU_GEMM_PACK_H
#define LRA_CPU_GEMM_PACK_H

#include <stdint.h>

/* Transposes 16 x 16 words of 32 bits: to[i][p] = from[p][i]. Rows of `from` are `step` bf16
 * numbers apart. `from` has n_rows rows of n_columns words; the other words are zero. Requires
 * AVX-512. */
void lra_transpose_words(int64_t n_columns, int64_t n_rows, const uint16_t *from, int64_t step,
                         uint16_t *to);

#endif
