/* bf16 products on AMX tiles or on registers (AVX512_BF16), for operands that an op itself stores
 * in tile layout, so that nothing is packed twice. A thread may call lra_tiles_product() between
 * lra_tiles_begin() and lra_tiles_end(). */
#ifndef LRA_CPU_TILES_H
#define LRA_CPU_TILES_H

#include <stdbool.h>
#include <stdint.h>

/* Operands and result of a product. a: rows `row` elements apart, at any address; a step of k is 32
 * elements. b: panels of 16 columns, `panel` elements apart; a step of k is 16 pairs of k by 16
 * columns. c: rows `ld` apart. */
typedef struct {
    const uint16_t *a;
    int64_t row;
    const uint16_t *b;
    int64_t panel;
    float *c;
    int64_t ld;
    bool add;
} lra_tiles_job;

/* True if the processor has bf16 products. Otherwise no other function of this file may be
 * called. */
bool lra_tiles_usable(void);
/* Required divisors of M (rows) and K (depth): 16 and 32 on tiles, 1 and 2 on registers. */
typedef struct {
    int64_t rows, depth;
} lra_tiles_unit;
lra_tiles_unit lra_tiles_units(void);
void lra_tiles_begin(void);
void lra_tiles_end(void);
/* c (M,N) = a b; c += a b if `add`. N must be a multiple of 16. */
void lra_tiles_product(int64_t M, int64_t N, int64_t K, const lra_tiles_job *j);

#endif
