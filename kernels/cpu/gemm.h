/* Dense bf16 products on one thread. Those of float32 and float64 are in
 * kernels/ops/dense/gemm_template.h. Ops call them on fixed blocks of rows from their own parallel
 * loops, so that a result does not depend on the number of threads. */
#ifndef LRA_CPU_GEMM_H
#define LRA_CPU_GEMM_H

#include <stdbool.h>
#include <stdint.h>

/* True if the processor has instructions for bf16 products. Otherwise lra_gemm_bf16() must not be
 * called. */
bool lra_gemm_bf16_fast(void);
/* Packs b (K,N) for lra_gemm_bf16(); element (k,n) is b[k * row + n * column]. K is padded to even
 * and N to a multiple of 16, with zeros. A panel holds 16 columns and starts `panel` elements after
 * the previous one: 16 * (K rounded up to even) if all of K is packed at once. */
void lra_pack_bf16(int64_t K, int64_t N, const uint16_t *b, int64_t row, int64_t column,
                   int64_t panel, uint16_t *packed);
/* Like lra_pack_bf16() for rows at arbitrary addresses: row k of b is at b[k]. Requires
 * lra_gemm_bf16_fast(). */
void lra_pack_rows_bf16(int64_t K, int64_t N, const uint16_t *const *b, int64_t panel,
                        uint16_t *packed);
/* Transposes n rows, a multiple of 32: to[c * ld + i] = x[i][c]. Requires lra_gemm_bf16_fast(). */
void lra_transpose_bf16(int64_t n, int64_t width, const uint16_t *const *x, int64_t ld,
                        uint16_t *to);
/* Number of elements of a packed b. */
int64_t lra_packed_bf16(int64_t K, int64_t N);
/* The left operand, as pairs of adjacent numbers along k: pair p = k/2 of row i is at a + i * row +
 * p * step. Rows in memory, which may overlap: (a, lda, 2). Transposed: pairs of lra_pair_bf16(),
 * (pairs, 2, 2 width). */
typedef struct {
    const uint16_t *a;
    int64_t row, step;
} lra_pairs_bf16;
/* Memory to prefetch. */
typedef struct {
    const void *at;
    int64_t bytes;
} lra_ahead;
/* Destination of a product: c, accumulated if `add`; or, if c is NULL, y = bf16(relu(a b + bias) +
 * residual). ld: elements between rows of c, or of y and residual. For prefetching: follow is the
 * number of rows of a, y and residual after the last one that this thread reads next; ahead is
 * further memory that it reads. finish: if set, it is called instead of the epilogue with sums
 * (rows,columns), whose rows are `ld_sum` apart, and their position (m,n) in the product. Nullable:
 * bias, residual, finish */
typedef struct lra_bf16_out lra_bf16_out;
struct lra_bf16_out {
    float *c;
    bool add, relu;
    uint16_t *y;
    int64_t ld, follow;
    const float *bias;
    const uint16_t *residual;
    lra_ahead ahead[2]; /* used for products without residual */
    void (*finish)(const lra_bf16_out *out, int64_t rows, int64_t columns, const float *sum,
                   int64_t ld_sum, int64_t m, int64_t n);
};
/* out = a b, (M,N). K must be even. b: packed. */
void lra_gemm_bf16_to(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                      int64_t panel, const lra_bf16_out *out);
/* c = a b, or c += a b if `add`. K must be even. b: packed. */
void lra_gemm_bf16(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                   int64_t panel, bool add, float *c, int64_t ldc);
/* Interleaves pairs of rows: pairs[p][j] = (x[2p][j], x[2p+1][j]) for 2p < n. x: (n,width), rows ld
 * apart. `first` (0 or 1) is the index of x's first row; a missing row, before it or after the
 * last, is zero. */
void lra_pair_bf16(int64_t n, int64_t width, const uint16_t *x, int64_t ld, int first,
                   uint16_t *pairs);

#endif
