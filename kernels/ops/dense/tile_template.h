/* The register tile under convolutions and dense products: c += a b with a read through two
 * strides, so that rows of a may overlap (no BLAS accepts a row step below the row's length) or be
 * columns of a stored matrix.
 * One source for all types and instruction sets, in vectors of the set's width.
 *
 * b is packed in panels: (K, columns) with the columns of one tile adjacent; or it is read in
 * place, where it is read rarely enough. */
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
    TILE_ROWS = 6, /* 6 x 4 sums, 4 of b and 1 of a fit 32 registers; 6 x 2 fit 16 */
    TILE_LANES = TILE_VECTOR_BYTES / (int)sizeof(real),
    TILE_COLUMNS = TILE_VECTORS * TILE_LANES,
    TILE_PAD = 16,
    TILE_DEPTH = 256 /* rows of b per pass: a panel stays in the core's cache */
};
typedef real tile_vector __attribute__((vector_size(TILE_VECTOR_BYTES), may_alias));
/* Without alignment beyond that of a real. */
typedef real tile_loose
    __attribute__((vector_size(TILE_VECTOR_BYTES), aligned(sizeof(real)), may_alias));

/* a(i,k) is at a[i * row + k * step]. */
typedef struct {
    const real *a;
    int64_t row, step;
} tile_rows;

#if defined(__clang__)
#define TILE_UNROLL
#else
#define TILE_UNROLL _Pragma("GCC unroll 6")
#endif

/* Data to prefetch during the product, `pitch` bytes further on with every k: prefetched all at
 * once, lines from memory would fill the few line fill buffers of a core, and the tile's own loads
 * from the L2 cache would wait.  NULL: nothing. */
typedef struct {
    const char *at;
    int64_t pitch;
} tile_ahead;
static const tile_ahead tile_nothing = {0};

/* sum (R, V vectors) = a (R,K) b (K, V vectors), in registers; R and V are compile-time constants
 * after inlining.  Rows of b are ldb apart. */
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

/* c (R, V vectors) = a b, plus c itself if `add`. */
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

/* The same for the numbers of rows and vectors that occur. */
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

/* Columns [at, n) are cut into panels of 4, 2 and 1 vectors; the last may hold unused lanes. */
static inline int tile_panel_vectors(int64_t at, int64_t n)
{
    int64_t left = (n - at + TILE_LANES - 1) / TILE_LANES;
    int v = TILE_VECTORS;
    while (v > left) v /= 2;
    return v;
}

/* n rounded up to full vectors of every instruction set, so that sizes of scratch do not depend on
 * it. */
static inline int64_t tile_padded(int64_t n)
{
    return (n + TILE_PAD - 1) / TILE_PAD * TILE_PAD;
}

#endif
