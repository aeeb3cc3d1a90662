/* Matrix products of tiles in the L1 or L2 cache, for attention: c = a b, or c += a b.
 * Elements of a are read one at a time, with two strides (a may be transposed), and broadcast to
 * all lanes of a register. Rows of b and c are full registers. There are 16 sums in registers: 4
 * rows of 4 registers, or 8 rows of 2. Each register of b is thus used 4 (or 8) times, with 8 (or
 * 10) loads for 16 multiply-adds. A core issues two multiply-adds and two loads per clock. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_PRODUCT_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_PRODUCT_TEMPLATE_H

#include "kernels/ops/real.h"

#if defined(LRA_LEVEL_avx512)
enum { AP_BYTES = 64, AP_VECTORS = 4, AP_SUMS = 16 };
#elif defined(LRA_LEVEL_avx2)
enum { AP_BYTES = 32, AP_VECTORS = 2, AP_SUMS = 8 };
#else
enum { AP_BYTES = 16, AP_VECTORS = 2, AP_SUMS = 8 };
#endif
enum { AP_LANES = AP_BYTES / (int)sizeof(real), AP_ROWS = 8 };
typedef real ap_vector
    /* allows unaligned access */
    __attribute__((vector_size(AP_BYTES), aligned(sizeof(real)), may_alias));

/* Left operand: a(i,k) is a[i row + k step]. */
typedef struct {
    const real *a;
    int64_t row, step;
} ap_left;

#if defined(__clang__)
#define AP_UNROLL
#else
#define AP_UNROLL _Pragma("GCC unroll 8")
#endif

/* sum (R, V registers) = a (R,depth) b (depth, V registers). R and V are compile-time constants
 * after inlining, so that the sums stay in registers. */
static inline __attribute__((always_inline)) void ap_sums(const int R, const int V, ap_left a,
                                                          int64_t depth, const real *b, int64_t ldb,
                                                          ap_vector sum[AP_ROWS][AP_VECTORS])
{
    AP_UNROLL for (int i = 0; i < R; i++) AP_UNROLL for (int j = 0; j < V; j++)
        sum[i][j] = (ap_vector){0};
    for (int64_t k = 0; k < depth; k++) {
        const ap_vector *row = (const ap_vector *)(b + k * ldb);
        AP_UNROLL for (int i = 0; i < R; i++)
        {
            real x = a.a[i * a.row + k * a.step];
            AP_UNROLL for (int j = 0; j < V; j++) sum[i][j] += x * row[j];
        }
    }
}

static inline __attribute__((always_inline)) void ap_tile(const int R, const int V, ap_left a,
                                                          int64_t depth, const real *b, int64_t ldb,
                                                          bool add, real *c, int64_t ldc)
{
    ap_vector sum[AP_ROWS][AP_VECTORS];
    ap_sums(R, V, a, depth, b, ldb, sum);
    AP_UNROLL for (int i = 0; i < R; i++)
    {
        ap_vector *to = (ap_vector *)(c + i * ldc);
        AP_UNROLL for (int j = 0; j < V; j++)
        {
            if (add) sum[i][j] += to[j];
            to[j] = sum[i][j];
        }
    }
}

/* c (rows, V registers) = a (rows,depth) b, in groups of rows whose sums fit in registers; with
 * `add`: c +=. */
static inline __attribute__((always_inline)) void ap_panel(const int V, int64_t rows, ap_left a,
                                                           int64_t depth, const real *b,
                                                           int64_t ldb, bool add, real *c,
                                                           int64_t ldc)
{
    const int most = AP_SUMS / V < AP_ROWS ? AP_SUMS / V : AP_ROWS;
    int64_t i = 0;
    for (; i + most <= rows; i += most, a.a += most * a.row)
        ap_tile(most, V, a, depth, b, ldb, add, c + i * ldc, ldc);
    for (; i + 2 <= rows; i += 2, a.a += 2 * a.row)
        ap_tile(2, V, a, depth, b, ldb, add, c + i * ldc, ldc);
    if (i < rows) ap_tile(1, V, a, depth, b, ldb, add, c + i * ldc, ldc);
}

/* columns: a multiple of 16, which is a multiple of the register width of every instruction set */
static inline __attribute__((always_inline)) void ap_panels(int64_t rows, int64_t columns,
                                                            int64_t depth, ap_left a, const real *b,
                                                            int64_t ldb, bool add, real *c,
                                                            int64_t ldc)
{
    int64_t at = 0, vectors = columns / AP_LANES;
    for (; at + AP_VECTORS <= vectors; at += AP_VECTORS)
        ap_panel(AP_VECTORS, rows, a, depth, b + at * AP_LANES, ldb, add, c + at * AP_LANES, ldc);
#if defined(LRA_LEVEL_avx512)
    if (at + 2 <= vectors) {
        ap_panel(2, rows, a, depth, b + at * AP_LANES, ldb, add, c + at * AP_LANES, ldc);
        at += 2;
    }
    if (at < vectors)
        ap_panel(1, rows, a, depth, b + at * AP_LANES, ldb, add, c + at * AP_LANES, ldc);
#endif
}

static void ap_product(int64_t rows, int64_t columns, int64_t depth, ap_left a, const real *b,
                       int64_t ldb, bool add, real *c, int64_t ldc)
{
    ap_panels(rows, columns, depth, a, b, ldb, add, c, ldc);
}
/* c += a b, like ap_product() with `add`, for an a whose row stride `row` is a compile-time
 * constant after inlining. Eight rows then need one pointer; eight pointers would not fit in the
 * registers. Measured with two registers of columns: 105 -> 137 GFLOP/s of 138 peak. */
static inline __attribute__((always_inline)) void ap_add_product(const int row, int64_t rows,
                                                                 int64_t columns, int64_t depth,
                                                                 const real *a, const real *b,
                                                                 int64_t ldb, real *c, int64_t ldc)
{
    ap_panels(rows, columns, depth, (ap_left){a, row, 1}, b, ldb, true, c, ldc);
}

#endif
