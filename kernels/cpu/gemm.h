/* Dense products of bf16 on one thread; those of float32 and float64 are in
 * kernels/ops/dense/gemm_template.h. Ops call them on fixed blocks of rows from their own parallel
 * loops, so that a result does not depend on the number of threads. */
#ifndef LRA_CPU_GEMM_H
#define LRA_CPU_GEMM_H

#include <stdbool.h>
#include <stdint.h>

/* The processor multiplies bf16 itself; otherwise lra_gemm_bf16() must not be called. */
bool lra_gemm_bf16_fast(void);
/* Packs b (K,N), element (k,n) at b[k * row + n * column], for lra_gemm_bf16(); the padding of K to
 * even and of N to a multiple of 16 is zero.  A panel holds 16 columns and starts `panel` elements
 * after the one before it: 16 * (K rounded up to even) when all of K is packed at once. */
void lra_pack_bf16(int64_t K, int64_t N, const uint16_t *b, int64_t row, int64_t column,
                   int64_t panel, uint16_t *packed);
/* Same for rows at arbitrary addresses: row k of b is at b[k].  Only where lra_gemm_bf16_fast(). */
void lra_pack_rows_bf16(int64_t K, int64_t N, const uint16_t *const *b, int64_t panel,
                        uint16_t *packed);
/* to[c * ld + i] = x[i][c] of n rows, a multiple of 32.  Only where lra_gemm_bf16_fast(). */
void lra_transpose_bf16(int64_t n, int64_t width, const uint16_t *const *x, int64_t ld,
                        uint16_t *to);
/* Elements of the packed b. */
int64_t lra_packed_bf16(int64_t K, int64_t N);
/* The left operand as pairs of neighbours in k: pair p = k/2 of row i is at a + i * row + p * step.
 * Stored rows, which may overlap: (a, lda, 2).  Transposed: pairs of lra_pair_bf16(), (pairs, 2, 2
 * width). */
typedef struct {
    const uint16_t *a;
    int64_t row, step;
} lra_pairs_bf16;
/* Memory that is wanted soon. */
typedef struct {
    const void *at;
    int64_t bytes;
} lra_ahead;
/* Destination of a product: c, accumulated if `add`; or, with c NULL, y = bf16(relu(a b + bias) +
 * residual). ld: elements between rows of c, or of y and residual.  Prefetching: follow: rows of a,
 * y and residual after the last, which this thread reads next; ahead: further memory that it reads.
 * Nullable: bias, residual, and finish, which is called instead with sums (rows,columns), `ld_sum`
 * apart, and their position (m,n) in the product. */
typedef struct lra_bf16_out lra_bf16_out;
struct lra_bf16_out {
    float *c;
    bool add, relu;
    uint16_t *y;
    int64_t ld, follow;
    const float *bias;
    const uint16_t *residual;
    lra_ahead ahead[2]; /* of a product without residual */
    void (*finish)(const lra_bf16_out *out, int64_t rows, int64_t columns, const float *sum,
                   int64_t ld_sum, int64_t m, int64_t n);
};
/* out = a b, (M,N).  K is even.  b: packed. */
void lra_gemm_bf16_to(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                      int64_t panel, const lra_bf16_out *out);
/* Same, into c. */
void lra_gemm_bf16(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                   int64_t panel, bool add, float *c, int64_t ldc);
/* Interleaves rows: pairs[p][j] = (x[2p][j], x[2p+1][j]) for 2p < n; x (n,width) with rows ld
 * apart; a row that is missing is zero, and so is row `first` - 1 and before: x starts at row
 * `first`, 0 or 1. */
void lra_pair_bf16(int64_t n, int64_t width, const uint16_t *x, int64_t ld, int first,
                   uint16_t *pairs);

#endif
