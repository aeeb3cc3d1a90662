/* Dense products on the register tile of tile_template.h: c = op(a) b, where b is packed once and
 * then multiplied by any number of rows.
 *
 * Bottleneck: a tile of 6 rows and 4 vectors does 24 multiply-adds for 4 loads of b and 6 of a, so
 * that it is compute bound as long as b is in the L1 cache. A panel of 64 columns and TILE_DEPTH in
 * k is 64 KiB at most, and all rows of a strip use it before the next panel. Rows of a are read in
 * place. Columns (a transposed) are packed first, so that those of a tile are adjacent. In place,
 * every row would load a line of which a tile uses six numbers, and lines that are a power of two
 * apart map to few sets of a cache.
 * Sums run over k in memory order, in passes of TILE_DEPTH. Their order is independent of the rows
 * of a strip and of the number of threads. */
#ifndef LRA_OPS_DENSE_GEMM_TEMPLATE_H
#define LRA_OPS_DENSE_GEMM_TEMPLATE_H

#include "kernels/ops/dense/tile_template.h"

/* Size of a packed b (K,N), in reals. */
static inline int64_t gemm_packed(int64_t K, int64_t N)
{
    return K * tile_padded(N);
}

/* Packs columns [at, end) of b (K,N) into full panels; element (k,n) is b[k * row + n * column]. b
 * may be stored by rows or by columns; it is read in memory order. */
#define GEMM_PACK(NAME, TYPE, LOAD)                                                                \
    static inline void NAME(int64_t K, int64_t N, const TYPE *b, int64_t row, int64_t column,      \
                            int64_t at, int64_t end, real *packed)                                 \
    {                                                                                              \
        for (int width; at < end; at += width) {                                                   \
            width = tile_panel_vectors(at, N) * TILE_LANES;                                        \
            int64_t live = N - at < width ? N - at : width;                                        \
            const TYPE *from = b + at * column;                                                    \
            real *to = packed + at * K;                                                            \
            for (int64_t k0 = 0; k0 < K; k0 += GEMM_SOME) {                                        \
                int64_t k1 = K - k0 < GEMM_SOME ? K : k0 + GEMM_SOME;                              \
                for (int64_t k = k0; column == 1 && k < k1; k++)                                   \
                    for (int64_t n = 0; n < live; n++)                                             \
                        to[k * width + n] = LOAD(from[k * row + n]);                               \
                for (int64_t n = 0; column != 1 && n < live; n++)                                  \
                    for (int64_t k = k0; k < k1; k++)                                              \
                        to[k * width + n] = LOAD(from[k * row + n * column]);                      \
                for (int64_t k = k0; k < k1; k++)                                                  \
                    for (int64_t n = live; n < width; n++) to[k * width + n] = 0;                  \
            }                                                                                      \
        }                                                                                          \
    }
enum { GEMM_SOME = 16 };
GEMM_PACK(gemm_pack, elem, e_load)
#if LRA_TYPE_bf16
GEMM_PACK(gemm_pack_real, real, )
#else
#define gemm_pack_real gemm_pack
#endif

/* Packs all of b, with all threads of a parallel region. */
static inline void gemm_pack_shared(int64_t K, int64_t N, const elem *b, int64_t row,
                                    int64_t column, real *packed)
{
#pragma omp for schedule(static)
    for (int64_t at = 0; at < N; at += TILE_COLUMNS)
        gemm_pack(K, N, b, row, column, at, N - at < TILE_COLUMNS ? N : at + TILE_COLUMNS, packed);
}

/* Tile with fewer columns (`live`) than its panel has. */
static inline void gemm_edge(int rows, int V, tile_rows a, int64_t K, const real *b, bool add,
                             int64_t live, real *c, int64_t ldc)
{
    real sum[TILE_ROWS * TILE_COLUMNS] = {0};
    tile_any(rows, V, a, K, b, V * TILE_LANES, false, sum, TILE_COLUMNS);
    for (int r = 0; r < rows; r++)
        for (int64_t n = 0; n < live; n++)
            c[r * ldc + n] = sum[r * TILE_COLUMNS + n] + (add ? c[r * ldc + n] : 0);
}

/* Prefetches, during the arithmetic of a tile, the rows of c that it will write and the rows of a
 * that the next tile will read. The writes to c are too short for the hardware prefetcher. */
static inline void gemm_prefetch(int rows, int V, tile_rows a, int64_t depth, bool next,
                                 const real *c, int64_t ldc)
{
    const int64_t line = 64 / (int64_t)sizeof(real);
    for (int i = 0; i < rows; i++)
        for (int64_t n = 0; n < V * TILE_LANES; n += line) __builtin_prefetch(c + i * ldc + n, 1);
    for (int i = TILE_ROWS; next && i < 2 * TILE_ROWS; i++)
        for (int64_t k = 0; k < depth; k += line) __builtin_prefetch(a.a + i * a.row + k, 0, 2);
}

static inline int64_t gemm_tiles(int64_t M, int64_t N)
{
    return (M + TILE_ROWS - 1) / TILE_ROWS * ((N + TILE_COLUMNS - 1) / TILE_COLUMNS);
}

/* Data to prefetch: `bytes` from x on, and rows of y with stride `pitch`, `width` bytes each. One
 * line or less is prefetched per iteration of k. */
typedef struct {
    const char *x, *y; /* NULL: nothing to prefetch */
    int64_t bytes, width, pitch;
} gemm_next;
static const gemm_next gemm_nothing = {0};

/* Prefetches of tile number t, whose loop has K iterations. The first tiles prefetch one line of
 * each row of y. The other tiles, up to number `tiles`, prefetch x in equal parts per iteration.
 * Narrow panels at the end make more tiles, which prefetch nothing. */
static inline tile_ahead gemm_ahead(const gemm_next *n, int64_t t, int64_t tiles, int64_t K)
{
    const int64_t lines = n->y ? (n->width + 63) / 64 : 0, steps = (tiles - lines) * K;
    if (t < lines) return (tile_ahead){n->y + t * 64, n->pitch};
    if (!n->x || t >= tiles) return tile_nothing;
    const int64_t pitch = (n->bytes + steps - 1) / steps;
    return (tile_ahead){n->x + (t - lines) * K * pitch, pitch};
}

/* Left operand: the rows of the first tile, and the offset from one tile to the next. */
typedef struct {
    tile_rows first;
    int64_t next;
} gemm_left;
static inline gemm_left gemm_stored(const real *a, int64_t row, int64_t step)
{
    return (gemm_left){{a, row, step}, TILE_ROWS * row};
}

/* Right operand. ld 0: panels of K rows; otherwise rows of full vectors in place, ld apart. */
typedef struct {
    const real *b;
    int64_t K, ld; /* ld: row stride; 0: panels */
} gemm_right;

/* c (M,N) = a b, summed over k in [k0, k1); c += a b if `add`. a: starts at column k0. `next` is
 * prefetched during the product, if one pass covers all k. */
static inline void gemm_while(int64_t M, int64_t N, int64_t k0, int64_t k1, gemm_left a,
                              gemm_right right, bool add, real *c, int64_t ldc, gemm_next next)
{
    const int64_t tiles = gemm_tiles(M, N);
    for (int64_t at = 0, t = 0; at < N;) {
        int V = tile_panel_vectors(at, N), width = V * TILE_LANES;
        const int64_t ldb = right.ld ? right.ld : width;
        for (int64_t k = k0; k < k1; k += TILE_DEPTH) {
            int64_t depth = k1 - k < TILE_DEPTH ? k1 - k : TILE_DEPTH;
            const real *b = right.b + at * (right.ld ? 1 : right.K) + k * ldb;
            tile_rows left = a.first;
            left.a += (k - k0) * left.step;
            for (int64_t r = 0; r < M; r += TILE_ROWS, left.a += a.next) {
                int rows = (int)(M - r < TILE_ROWS ? M - r : TILE_ROWS);
                bool more = add || k > k0;
                bool below = at == 0 && left.step == 1 && M - r >= 2 * TILE_ROWS;
                gemm_prefetch(rows, V, left, depth, below, c + r * ldc + at, ldc);
                const tile_ahead ahead = gemm_ahead(&next, t++, tiles, depth);
                if (N - at >= width)
                    tile_any_ahead(rows, V, left, depth, b, ldb, ahead, more, c + r * ldc + at,
                                   ldc);
                else
                    gemm_edge(rows, V, left, depth, b, more, N - at, c + r * ldc + at, ldc);
            }
        }
        at += width;
    }
}
static inline void gemm_rows(int64_t M, int64_t N, int64_t K, int64_t k0, int64_t k1, tile_rows a,
                             const real *packed, bool add, real *c, int64_t ldc)
{
    gemm_while(M, N, k0, k1, gemm_stored(a.a, a.row, a.step), (gemm_right){packed, K, 0}, add, c,
               ldc, gemm_nothing);
}

/* Packs the columns of x, which has K rows ld apart, as left operand of gemm_while(): (K,
 * TILE_ROWS) for each tile. It proceeds by a few rows, so that they stay in the L1 cache while all
 * tiles are packed. */
static inline int64_t gemm_columns_padded(int64_t width)
{
    return (width + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
}
static inline gemm_left gemm_columns(int64_t K, int64_t width, const elem *x, int64_t ld, real *to)
{
    for (int64_t k0 = 0; k0 < K; k0 += GEMM_SOME)
        for (int64_t at = 0; at < width; at += TILE_ROWS) {
            const int64_t live = width - at < TILE_ROWS ? width - at : TILE_ROWS;
            const int64_t k1 = K - k0 < GEMM_SOME ? K : k0 + GEMM_SOME;
            const elem *from = x + at;
            real *tile = to + at * K;
            for (int64_t k = k0; live == TILE_ROWS && k < k1; k++)
                for (int j = 0; j < TILE_ROWS; j++)
                    tile[k * TILE_ROWS + j] = e_load(from[k * ld + j]);
            for (int64_t k = k0; live < TILE_ROWS && k < k1; k++)
                for (int64_t j = 0; j < live; j++)
                    tile[k * TILE_ROWS + j] = e_load(from[k * ld + j]);
        }
    return (gemm_left){{to, 1, TILE_ROWS}, TILE_ROWS * K};
}

#endif
