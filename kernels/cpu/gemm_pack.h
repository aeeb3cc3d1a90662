/* How the operands of bf16 products are laid out: parts of lra_pack_bf16() that tiles need too. */
#ifndef LRA_CPU_GEMM_PACK_H
#define LRA_CPU_GEMM_PACK_H

#include <stdint.h>

/* to[i][p] = from[p][i], 16 x 16 words of 32 bits; rows of from are `step` bf16 apart.  from has
 * n_rows rows of n_columns words; the others are zero.  AVX-512 only. */
void lra_transpose_words(int64_t n_columns, int64_t n_rows, const uint16_t *from, int64_t step,
                         uint16_t *to);

#endif
