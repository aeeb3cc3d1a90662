/* y = act(x w + bias) + residual, whose sums are finished while they are in the first cache.
 *
 * What limits it: beside arithmetic, memory.  A row of x is 128 to 1024 numbers, so that a core
 * asks memory for a line in every hundred cycles of its products, and where a line comes from
 * memory (some 100 ns) it would wait.
 * - The rows of x that come next are asked for, a few lines with every tile, while tiles of the
 *   rows before are multiplied.
 * - A y larger than the second cache is written past the caches: lines that are stored to in the
 *   usual way are read first and written back later, three times the traffic.  What reads y next
 *   finds it in memory instead of the third cache, which costs less than that (4096 rows, 128 to
 *   256: 1.35 times as fast, reading it again included). */
#ifndef LRA_OPS_GEMM_RESULT_FN_H
#define LRA_OPS_GEMM_RESULT_FN_H

#include "kernels/ops/gemm_fn.h"
#include "kernels/ops/product_fn.h"

enum {
    GEMM_STRIP = 10 * TILE_ROWS, /* rows that meet a panel of w before the next panel comes */
    GEMM_BLOCK = 4 * GEMM_STRIP, /* rows that a thread takes at a time */
    GEMM_STREAM = 1 << 21        /* bytes of a y that is written past the caches */
};

/* Nullable: bias, residual. */
typedef struct {
    int64_t N, K;
    const elem *x;      /* (rows,K) */
    const real *packed; /* w, (K,N) */
    const real *bias;
    const elem *residual;
    lra_act act;
    elem *y;
    bool stream;
} gemm_result;

/* Whether y is to be written past the caches; whole lines are. */
static inline bool gemm_streams(int64_t rows, int64_t N, const elem *y)
{
    const int64_t line = 64 / (int64_t)sizeof *y;
    return LRA_PASS == 32 && rows * N * (int64_t)sizeof *y >= GEMM_STREAM && N % line == 0 &&
           (uintptr_t)y % 64 == 0;
}

static inline void gemm_stream_row(int64_t n, const real *from, elem *to)
{
#if LRA_PASS == 32 && defined(LRA_LEVEL_avx512)
    for (int64_t i = 0; i < n; i += LANES) _mm512_stream_ps(to + i, lanes_read(from + i));
#elif LRA_PASS == 32 && defined(LRA_LEVEL_avx2)
    for (int64_t i = 0; i < n; i += LANES) _mm256_stream_ps(to + i, lanes_read(from + i));
#else
    for (int64_t i = 0; i < n; i++) to[i] = e_store(from[i]);
#endif
}
/* Before another thread reads what was streamed. */
static inline void gemm_streamed(void)
{
#if defined(LRA_LEVEL_avx512) || defined(LRA_LEVEL_avx2)
    _mm_sfence();
#endif
}

/* A tile of sums, TILE_COLUMNS apart, of `live` columns from `at` on. */
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

/* Asks for what a tile reads and writes at its end. */
static inline void gemm_ask(const gemm_result *g, int64_t row, int rows, int64_t at, int64_t live)
{
    const int64_t line = 64 / (int64_t)sizeof(elem);
    for (int r = 0; r < rows; r++)
        for (int64_t n = (row + r) * g->N + at, end = n + live; n < end; n += line) {
            if (g->residual) __builtin_prefetch(g->residual + n);
            if (!g->stream) __builtin_prefetch(g->y + n, 1);
        }
}

/* Rows [row, row + n), a strip at most, of which `left` rows more follow; a: the first of them. */
static inline void gemm_result_strip(const gemm_result *g, int64_t row, int64_t n, int64_t left,
                                     const real *a)
{
    const int64_t N = g->N, K = g->K, more = left < GEMM_STRIP ? left : GEMM_STRIP;
    gemm_next next = {(const char *)(g->x + (row + n) * K), more * K * (int64_t)sizeof(elem), 0,
                      more > 0, 0};
    const int64_t lines = gemm_next_lines(&next, gemm_tiles(n, N));
    real sum[TILE_ROWS * TILE_COLUMNS] __attribute__((aligned(64)));
    for (int64_t at = 0; at < N;) {
        int V = tile_panel_vectors(at, N);
        int64_t width = V * TILE_LANES, live = N - at < width ? N - at : width;
        for (int64_t r = 0; r < n; r += TILE_ROWS) {
            int rows = (int)(n - r < TILE_ROWS ? n - r : TILE_ROWS);
            gemm_ask(g, row + r, rows, at, live);
            gemm_ask_next(&next, lines);
            for (int64_t k = 0; k < K; k += TILE_DEPTH)
                tile_any(rows, V, (tile_rows){a + r * K + k, K, 1},
                         K - k < TILE_DEPTH ? K - k : TILE_DEPTH, g->packed + at * K + k * width,
                         width, k > 0, sum, TILE_COLUMNS);
            gemm_finish(g, row + r, rows, at, live, sum);
        }
        at += width;
    }
}

/* Rows [row, row + n); own: reals of a strip of x, where elem is not real. */
static inline void gemm_result_rows(const gemm_result *g, int64_t row, int64_t n, real *own)
{
    for (int64_t end = row + n, some; row < end; row += some) {
        int64_t left = end - row, ld;
        some = left < GEMM_STRIP ? left : GEMM_STRIP;
        const real *a = load_block(g->x + row * g->K, some, g->K, g->K, own, &ld);
        gemm_result_strip(g, row, some, left - some, a);
    }
    if (g->stream) gemm_streamed();
}

#endif
