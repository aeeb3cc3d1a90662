/* y = act(x w + bias) + residual, where the epilogue is applied to the sums while they are in the
 * L1 cache.
 *
 * Bottlenecks: arithmetic and memory. A row of x has 128 to 1024 numbers, so that a core loads one
 * cache line per hundred cycles of products. It would wait for each line that comes from memory
 * (about 100 ns).
 * - The next rows of x and of the residual are prefetched, evenly, while tiles of the previous rows
 *   are multiplied.
 * - A y larger than the L2 cache is written with streaming stores. Ordinary stores read each line
 *   first and write it back later, which is three times the traffic. The next reader of y then
 *   finds it in memory instead of the L3 cache, which costs less than the additional traffic (4096
 *   rows, 128 to 256: 1.35 times as fast, including that read). */
#ifndef LRA_OPS_DENSE_GEMM_RESULT_TEMPLATE_H
#define LRA_OPS_DENSE_GEMM_RESULT_TEMPLATE_H

#include "kernels/ops/dense/gemm_template.h"
#include "kernels/ops/dense/product_template.h"

enum {
    GEMM_STRIP = 10 * TILE_ROWS, /* rows that use a panel of w before the next panel is loaded */
    GEMM_BLOCK = 4 * GEMM_STRIP, /* rows of a thread's block */
    GEMM_STREAM = 1 << 21 /* minimum size in bytes of a y that is written with streaming stores */
};

/* Arguments of a product. Nullable: bias, residual */
typedef struct {
    int64_t M, N, K;
    int64_t skip;  /* rows from a block to the block that the same thread probably computes next */
    const elem *x; /* first row of x, (rows,K) */
    const real *packed; /* packed w, (K,N) */
    const real *bias;
    const elem *residual;
    lra_act act;
    elem *y;
    bool stream;
} gemm_result;

/* True if y is written with streaming stores, which requires full cache lines. */
static inline bool gemm_streams(int64_t rows, int64_t N, const elem *y)
{
    const int64_t line = 64 / (int64_t)sizeof *y;
    return LRA_TYPE_f32 && rows * N * (int64_t)sizeof *y >= GEMM_STREAM && N % line == 0 &&
           (uintptr_t)y % 64 == 0;
}

static inline void gemm_stream_row(int64_t n, const real *from, elem *to)
{
#if LRA_TYPE_f32
    for (int64_t i = 0; i < n; i += LANES) lanes_stream(to + i, lanes_read(from + i));
#else
    for (int64_t i = 0; i < n; i++) to[i] = e_store(from[i]);
#endif
}

/* Applies the epilogue to a tile of sums, whose rows are TILE_COLUMNS apart, and stores `live`
 * columns of y from column `at` on. */
static inline void gemm_finish(const gemm_result *g, int64_t row, int rows, int64_t at,
                               int64_t live, real *sum)
{
    const bool plain = !g->bias && !g->residual && g->act == LRA_ACT_NONE;
    for (int r = 0; r < rows; r++, sum += TILE_COLUMNS) {
        int64_t to = (row + r) * g->N + at;
        if (!g->stream || !plain)
            finish_row(live, sum, g->bias ? g->bias + at : NULL, g->act,
                       g->residual ? g->residual + to : NULL,
                       g->stream ? (elem *)(void *)sum : g->y + to);
        if (g->stream) gemm_stream_row(live, sum, g->y + to);
    }
}

#if LRA_TYPE_f32
/* Stores a vector of y, with a streaming store if `stream` is true. */
static inline void gemm_put(bool stream, tile_vector v, real *to)
{
#if defined(LRA_LEVEL_avx512)
    if (stream) {
        _mm512_stream_ps(to, (__m512)v);
        return;
    }
#elif defined(LRA_LEVEL_avx2)
    if (stream) {
        _mm256_stream_ps(to, (__m256)v);
        return;
    }
#endif
    (void)stream;
    *(tile_loose *)to = v;
}

/* The last pass over k of a tile without edges, K deep, with the epilogue. before: sums of the
 * earlier passes, with rows TILE_COLUMNS apart; NULL: none. Bias, relu and residual are applied to
 * the sums in registers, because a separate pass over y took about 2 % of the time of a layer of
 * 128 channels. Not inlined, because the compiler would keep addresses of the loop over k in
 * memory. */
static __attribute__((noinline)) void gemm_whole(const gemm_result *g, int64_t row, int64_t at,
                                                 tile_rows a, int64_t K, const real *b,
                                                 tile_ahead ahead, const real *before)
{
    enum { R = TILE_ROWS, V = TILE_VECTORS, N = TILE_LANES };
#define EACH        TILE_UNROLL for (int i = 0; i < R; i++) TILE_UNROLL for (int j = 0; j < V; j++)
#define AT(x, step) (*(const tile_loose *)((x) + i * (step) + j * N))
    tile_vector sum[TILE_ROWS][TILE_VECTORS];
    const int64_t to = row * g->N + at;
    tile_sums(R, V, a, K, b, TILE_COLUMNS, ahead, sum);
    if (before) EACH sum[i][j] += AT(before, TILE_COLUMNS);
    if (g->bias) EACH sum[i][j] += AT(g->bias + at, 0);
    if (g->act == LRA_ACT_RELU) EACH sum[i][j] = (tile_vector)lanes_relu((lanes)sum[i][j]);
    if (g->residual) EACH sum[i][j] += AT(g->residual + to, g->N);
    EACH gemm_put(g->stream, sum[i][j], g->y + to + i * g->N + j * N);
#undef EACH
#undef AT
}
#endif

/* Prefetches the lines of y that a tile will write. */
static inline void gemm_ask(const gemm_result *g, int64_t row, int rows, int64_t at, int64_t live)
{
    const int64_t line = 64 / (int64_t)sizeof(elem);
    for (int r = 0; r < rows; r++)
        for (int64_t n = (row + r) * g->N + at, end = n + live; n < end; n += line)
            __builtin_prefetch(g->y + n, 1);
}

/* Computes a tile of y: `live` columns in V vectors from column `at` on. a: the tile's rows of
 * x. */
static inline void gemm_result_tile(const gemm_result *g, int64_t row, int rows, int64_t at, int V,
                                    int64_t live, const real *a, tile_ahead ahead)
{
    const int64_t K = g->K, width = V * TILE_LANES;
    real sum[TILE_ROWS * TILE_COLUMNS] __attribute__((aligned(64)));
    for (int64_t k = 0; k < K; k += TILE_DEPTH) {
        const int64_t depth = K - k < TILE_DEPTH ? K - k : TILE_DEPTH;
        const real *b = g->packed + at * K + k * width;
        const tile_rows left = {a + k, K, 1};
#if LRA_TYPE_f32
        if (rows == TILE_ROWS && live == TILE_COLUMNS && k + depth == K &&
            (g->act == LRA_ACT_NONE || g->act == LRA_ACT_RELU)) {
            gemm_whole(g, row, at, left, depth, b, ahead, k > 0 ? sum : NULL);
            return;
        }
#endif
        tile_any_ahead(rows, V, left, depth, b, width, ahead, k > 0, sum, TILE_COLUMNS);
        if (ahead.at) ahead.at += depth * ahead.pitch;
    }
    gemm_finish(g, row, rows, at, live, sum);
}

/* Describes the prefetch of rows [row, row + n) of x, `width` wide, spread evenly over `steps`
 * iterations of k. */
static inline tile_ahead gemm_evenly(const elem *x, int64_t row, int64_t n, int64_t width,
                                     int64_t steps)
{
    const int64_t bytes = n * width * (int64_t)sizeof *x;
    if (n <= 0) return tile_nothing;
    return (tile_ahead){(const char *)(x + row * width), (bytes + steps - 1) / steps};
}

/* Computes rows [row, row + n), at most GEMM_STRIP of them. a: the first of these rows of x; next:
 * the first row of the next strip, which is prefetched. */
static inline void gemm_result_strip(const gemm_result *g, int64_t row, int64_t n, const real *a,
                                     int64_t next)
{
    const int64_t N = g->N, K = g->K, left = g->M - next;
    const int64_t more = left < GEMM_STRIP ? left : GEMM_STRIP;
    /* tiles alternate between prefetching x and the residual */
    const int64_t sources = g->residual ? 2 : 1, tiles = gemm_tiles(n, N);
    const int64_t steps = (tiles + sources - 1) / sources * K;
    tile_ahead ahead[] = {gemm_evenly(g->x, next, more, K, steps), tile_nothing};
    if (g->residual) ahead[1] = gemm_evenly(g->residual, next, more, N, steps);
    for (int64_t at = 0, t = 0; at < N;) {
        int V = tile_panel_vectors(at, N);
        int64_t width = V * TILE_LANES, live = N - at < width ? N - at : width;
        for (int64_t r = 0; r < n; r += TILE_ROWS) {
            int rows = (int)(n - r < TILE_ROWS ? n - r : TILE_ROWS);
            tile_ahead *now = &ahead[t++ % sources];
            if (!g->stream) gemm_ask(g, row + r, rows, at, live);
            gemm_result_tile(g, row + r, rows, at, V, live, a + r * K, *now);
            if (now->at) now->at += K * now->pitch;
        }
        at += width;
    }
}

/* Computes rows [row, row + n). own: scratch for a strip of x as real, used if elem is not real. */
static inline void gemm_result_rows(const gemm_result *g, int64_t row, int64_t n, real *own)
{
    const int64_t end = row + n, after = row + g->skip;
    for (int64_t some; row < end; row += some) {
        int64_t ld;
        some = end - row < GEMM_STRIP ? end - row : GEMM_STRIP;
        const real *a = load_block(g->x + row * g->K, some, g->K, g->K, own, &ld);
        gemm_result_strip(g, row, some, a, row + some < end ? row + some : after);
    }
    if (g->stream) lanes_streamed();
}

#endif
