/* The register tile of convolutions and dense products: c += a b. a is read with two strides, so
 * that its rows may overlap (no BLAS accepts a row stride below the row's length) or may be columns
 * of a stored matrix.
 * The same source serves all types and instruction sets, in vectors of the set's width.
 *
 * b is packed in panels, (K, columns), where the columns of one tile are adjacent. It may also be
 * read in place, if it is used so rarely that packing does not pay. */
#ifndef LRA_OPS_DENSE_TILE_TEMPLATE_H
#define LRA_OPS_DENSE_TILE_TEMPLATE_H

#include <stdbool.h>

#include "kernels/ops/real.h"

#if defined(LRA_LEVEL_avx512)
enum { TILE_VECTOR_BYTES = 64, TILE_VECTORS = 4 };
#elif defined(LRA_LEVEL_avx2)
enum { TILE_VECTOR_BYTES = 32, TILE_VECTORS = 2 };
#else
enum { TILE_VECTOR_BYTES = 16, TILE_VECTORS = 2 };
#endif
enum {
    TILE_ROWS = 6, /* registers: 6 x 4 sums, 4 of b and 1 of a fit in 32; 6 x 2 sums fit in 16 */
    TILE_LANES = TILE_VECTOR_BYTES / (int)sizeof(real),
    TILE_COLUMNS = TILE_VECTORS * TILE_LANES,
    TILE_PAD = 16,
    TILE_DEPTH = 256 /* rows of b per pass, such that a panel stays in the core's cache */
};
typedef real tile_vector __attribute__((vector_size(TILE_VECTOR_BYTES), may_alias));
/* Vector with the alignment of a real, for unaligned access. */
typedef real tile_loose
    __attribute__((vector_size(TILE_VECTOR_BYTES), aligned(sizeof(real)), may_alias));

/* Left operand: a(i,k) is a[i * row + k * step]. */
typedef struct {
    const real *a;
    int64_t row, step;
} tile_rows;

#if defined(__clang__)
#define TILE_UNROLL
#else
#define TILE_UNROLL _Pragma("GCC unroll 6")
#endif

/* Data to prefetch during the product; the address advances by `pitch` bytes with every k. A
 * prefetch of all lines at once would occupy the few line fill buffers of a core, and the tile's
 * own loads from the L2 cache would wait. at NULL: nothing. */
typedef struct {
    const char *at;
    int64_t pitch;
} tile_ahead;
static const tile_ahead tile_nothing = {0};

/* sum (R, V vectors) = a (R,K) b (K, V vectors), in registers. Rows of b are ldb apart. R and V are
 * compile-time constants after inlining. */
static inline __attribute__((always_inline)) void
tile_sums(const int R, const int V, tile_rows a, int64_t K, const real *b, int64_t ldb,
          tile_ahead ahead, tile_vector sum[TILE_ROWS][TILE_VECTORS])
{
    TILE_UNROLL for (int i = 0; i < R; i++) TILE_UNROLL for (int j = 0; j < V; j++)
        sum[i][j] = (tile_vector){0};
    for (int64_t k = 0; k < K; k++) {
        const tile_loose *row = (const tile_loose *)(b + k * ldb);
        if (ahead.at) __builtin_prefetch(ahead.at + k * ahead.pitch, 0, 2);
        TILE_UNROLL for (int i = 0; i < R; i++)
        {
            real x = a.a[i * a.row + k * a.step];
            TILE_UNROLL for (int j = 0; j < V; j++) sum[i][j] += x * row[j];
        }
    }
}

/* c (R, V vectors) = a b; c += a b if `add`. */
static inline __attribute__((always_inline)) void tile(const int R, const int V, tile_rows a,
                                                       int64_t K, const real *b, int64_t ldb,
                                                       tile_ahead ahead, bool add, real *c,
                                                       int64_t ldc)
{
    tile_vector sum[TILE_ROWS][TILE_VECTORS];
    tile_sums(R, V, a, K, b, ldb, ahead, sum);
    TILE_UNROLL for (int i = 0; i < R; i++)
    {
        tile_loose *to = (tile_loose *)(c + i * ldc);
        TILE_UNROLL for (int j = 0; j < V; j++)
        {
            if (add) sum[i][j] += to[j];
            to[j] = sum[i][j];
        }
    }
}

/* Calls tile() with constant numbers of rows and vectors. */
static inline __attribute__((always_inline)) void tile_choose(int n_rows, int n_vectors,
                                                              tile_rows a, int64_t K, const real *b,
                                                              int64_t ldb, tile_ahead ahead,
                                                              bool add, real *c, int64_t ldc)
{
#define TILE_CASE(R, V)                                                                            \
    case V * 8 + R:                                                                                \
        tile(R, V, a, K, b, ldb, ahead, add, c, ldc);                                              \
        break;
#define TILE_CASES(V)                                                                              \
    TILE_CASE(1, V) TILE_CASE(2, V) TILE_CASE(3, V) TILE_CASE(4, V) TILE_CASE(5, V) TILE_CASE(6, V)
    switch (n_vectors * 8 + n_rows) {
        TILE_CASES(1)
        TILE_CASES(2)
#if defined(LRA_LEVEL_avx512)
        TILE_CASES(4)
#endif
    default: break;
    }
}
static inline void tile_any(int n_rows, int n_vectors, tile_rows a, int64_t K, const real *b,
                            int64_t ldb, bool add, real *c, int64_t ldc)
{
    tile_choose(n_rows, n_vectors, a, K, b, ldb, tile_nothing, add, c, ldc);
}
static inline void tile_any_ahead(int n_rows, int n_vectors, tile_rows a, int64_t K, const real *b,
                                  int64_t ldb, tile_ahead ahead, bool add, real *c, int64_t ldc)
{
    tile_choose(n_rows, n_vectors, a, K, b, ldb, ahead, add, c, ldc);
}

/* Number of vectors of the panel that starts at column `at` of n. Columns are divided into panels
 * of 4, 2 and 1 vectors; the last panel may have unused lanes. */
static inline int tile_panel_vectors(int64_t at, int64_t n)
{
    int64_t left = (n - at + TILE_LANES - 1) / TILE_LANES;
    int v = TILE_VECTORS;
    while (v > left) v /= 2;
    return v;
}

/* Rounds n up to full vectors of every instruction set, so that sizes of scratch do not depend on
 * the instruction set. */
static inline int64_t tile_padded(int64_t n)
{
    return (n + TILE_PAD - 1) / TILE_PAD * TILE_PAD;
}

#endif
