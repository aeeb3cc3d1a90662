/* Products in bf16, on tiles (AMX) or registers (AVX512_BF16), of operands that an op keeps in the
 * order of tiles itself, so that nothing is packed twice.  Between lra_tiles_begin() and
 * lra_tiles_end() a thread may call lra_tiles_product(). */
#ifndef LRA_CPU_TILES_H
#define LRA_CPU_TILES_H

#include <stdbool.h>
#include <stdint.h>

/* a: 32 elements of k for a step, rows `row` elements apart, at any address; b: panels of 16
 * columns, `panel` elements apart, a step of which is 16 pairs of k by 16 columns; c: rows `ld`
 * apart. */
typedef struct {
    const uint16_t *a;
    int64_t row;
    const uint16_t *b;
    int64_t panel;
    float *c;
    int64_t ld;
    bool add;
} lra_tiles_job;

/* True if the processor has bf16 products; otherwise none of these functions may be called. */
bool lra_tiles_usable(void);
/* Required divisors of M and K: 16 and 32 on tiles, 1 and 2 on registers. */
typedef struct {
    int64_t rows, depth;
} lra_tiles_unit;
lra_tiles_unit lra_tiles_units(void);
void lra_tiles_begin(void);
void lra_tiles_end(void);
/* c (M,N) = a b, plus c itself if `add`; N a multiple of 16. */
void lra_tiles_product(int64_t M, int64_t N, int64_t K, const lra_tiles_job *j);

#endif
