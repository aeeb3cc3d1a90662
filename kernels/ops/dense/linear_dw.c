/* Weight gradient of a dense layer: dw = x^T dy, a sum over all rows. The result is divided into
 * ranges of columns, and the rows into parts, which are added in order. The division of the rows
 * depends on the shape only, so that the result does not depend on the number of threads. A part
 * processes its rows in blocks of TILE_DEPTH, which stay in the L2 cache.
 *
 * Tiles of 6 x 64 (AVX-512) read x and dy in place there: a tile loads about five lines in the time
 * of 24 multiplications, and packing took up to a quarter of the time of the products. Tiles of 6 x
 * 16 load two lines in the time of 12 multiplications, use 6 and 16 numbers of them, and wait for
 * them (256 to 1024 on Zen 3: 60 % of the peak in place, 78 % packed). Operands are also packed if
 * they have more than IN_PLACE columns, because too many of their lines then map to the same cache
 * sets; if their columns are not full vectors; and in bf16. If only x is that wide, dy^T x is
 * computed and transposed at the end, which gives the same sums. */
#include <omp.h>

#include "kernels/ops/conv/conv_dw_bf16_template.h"
#include "kernels/ops/dense/gemm_template.h"
#include "kernels/ops/dense/product.h"
#include "kernels/ops/dense/product_template.h"

/* There are few parts, because each is a matrix that is written and read again to be added, which
 * took a tenth of the time for 4,096 rows of 128 to 128 in 16 parts. Instead, ranges are narrow, so
 * that there is work for several threads. Each range reads all of x, which limits how narrow a
 * range can be. */
enum {
    COLUMNS = 128,      /* columns of a range; 64 if that gives each thread work */
    IN_PLACE = 256,     /* maximum width of an x that is read in place */
    N_PARTS = 32,       /* maximum number of parts */
    PART_SUMS = 1 << 16 /* maximum number of sums in all parts together, unless there is one part */
};

/* Sizes of the product. If x and dy are exchanged (turned), D and H are the widths of dy and x. */
typedef struct {
    int64_t M, D, H, n_blocks, columns, n_ranges, n_parts;
} dw_sizes;

static inline bool can_turn(const lra_tensor *y)
{
    return lra_width(y->src[0]) > IN_PLACE && lra_width(y->src[1]) <= IN_PLACE;
}
static inline dw_sizes sizes_of(const lra_tensor *y, bool turned, int n_threads)
{
    const lra_tensor *x = y->src[turned], *dy = y->src[!turned];
    dw_sizes s = {.M = lra_rows(x), .D = lra_width(x), .H = lra_width(dy)};
    s.n_blocks = (s.M + TILE_DEPTH - 1) / TILE_DEPTH;
    int64_t most = PART_SUMS / (s.D * s.H);
    if (most > N_PARTS) most = N_PARTS;
    if (most > s.n_blocks) most = s.n_blocks;
    s.n_parts = most < 1 ? 1 : most;
    s.columns = (s.H + COLUMNS - 1) / COLUMNS * s.n_parts < 2 * n_threads ? COLUMNS / 2 : COLUMNS;
    s.n_ranges = (s.H + s.columns - 1) / s.columns;
    return s;
}

/* Scratch of a thread in reals: a block of x and of dy. */
static inline int64_t thread_scratch(const dw_sizes *s)
{
    return TILE_DEPTH * (gemm_columns_padded(s->D) + COLUMNS);
}

#if !LRA_TYPE_f64 /* float64 has no bf16 variant */
/* Sizes of the layer as a convolution with one tap, for processors with bf16 instructions. */
static inline conv_sizes one_tap(const lra_tensor *y)
{
    return conv_sizes_of(1, lra_rows(y->src[0]), 1, 1, lra_width(y->src[0]), lra_width(y->src[1]),
                         1);
}
#endif

/* Describes the prefetch of n complete rows of x, and of `width` columns of n rows of dy. */
static inline gemm_next rows_of(const dw_sizes *s, const elem *x, const elem *dy, int64_t width,
                                int64_t n)
{
    const int64_t size = (int64_t)sizeof *x;
    if (n <= 0) return gemm_nothing;
    return (gemm_next){(const char *)x, (const char *)dy, n * s->D * size, width * size,
                       s->H * size};
}

/* True if tiles are too narrow to read operands in place. */
static const bool narrow = TILE_VECTORS < 4 || LRA_TYPE_bf16;

/* Adds columns [at, at + n) of x^T dy, summed over blocks [first, end), to sum (D,H). While a block
 * is multiplied the next one is prefetched from memory; otherwise copying it would wait for every
 * line. */
static void part_sum(const elem *x, const elem *dy, const dw_sizes *s, int64_t at, int64_t n,
                     int64_t first, int64_t end, real *own, real *sum)
{
    real *packed = own + TILE_DEPTH * gemm_columns_padded(s->D);
    dy += at;
    const bool copy_x = narrow || s->D > IN_PLACE, copy_dy = narrow || n % TILE_LANES != 0;
    for (int64_t block = first; block < end; block++) {
        int64_t row = block * TILE_DEPTH, K = s->M - row < TILE_DEPTH ? s->M - row : TILE_DEPTH;
        int64_t then = row + K, left = block + 1 < end ? s->M - then : 0;
        if (left > TILE_DEPTH) left = TILE_DEPTH;
        gemm_left a = gemm_stored((const real *)(const void *)(x + row * s->D), 1, s->D);
        gemm_right b = {(const real *)(const void *)(dy + row * s->H), K, s->H};
        if (copy_x) a = gemm_columns(K, s->D, x + row * s->D, s->D, own);
        if (copy_dy) {
            gemm_pack(K, n, dy + row * s->H, s->H, 1, 0, n, packed);
            b = (gemm_right){packed, K, 0};
        }
        gemm_while(s->D, n, 0, K, a, b, block > first, sum + at, s->H,
                   rows_of(s, x + then * s->D, dy + then * s->H, n, left));
    }
}

LRA_BODY(linear_dw)
{
    const bool turned = !narrow && can_turn(c->y);
    const dw_sizes s = sizes_of(c->y, turned, c->n_threads);
    const int64_t size = s.D * s.H;
#if LRA_TYPE_bf16
    conv_sizes one = one_tap(c->y);
    if (lra_gemm_bf16_fast()) {
        dw_run_bf16(&one, c->in[0], c->in[1], NULL, c->scratch, c->n_threads, c->out);
        return;
    }
#endif
    real *parts = c->scratch, *sums = parts + tile_padded((s.n_parts - 1) * size);
    real *all = sums + (turned ? tile_padded(size) : 0), *out = c->out;
    real *first = turned ? sums : out;
#pragma omp parallel num_threads(c->n_threads)
    {
        real *own = all + omp_get_thread_num() * thread_scratch(&s);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < s.n_parts * s.n_ranges; i++) {
            int64_t p = i / s.n_ranges, at = i % s.n_ranges * s.columns;
            int64_t n = s.H - at < s.columns ? s.H - at : s.columns;
            part_sum(c->in[turned], c->in[!turned], &s, at, n, p * s.n_blocks / s.n_parts,
                     (p + 1) * s.n_blocks / s.n_parts, own, p ? parts + (p - 1) * size : first);
        }
        add_parts(s.n_parts - 1, parts, size, first);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < (turned ? s.H : 0); i++)
            for (int64_t j = 0; j < s.D; j++) out[i * s.D + j] = sums[j * s.H + i];
    }
}

#if LRA_RECORD
LRA_DECLARE(linear_dw)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *x = y->src[0], *dy = y->src[1];
    char a[96], b[96];
    if (lra_expect_float(x, "x", e) != 0 || lra_expect_float(dy, "dy", e) != 0) return LRA_FAILED;
    if (x->shape.n < 1 || dy->shape.n < 1 || lra_rows(x) != lra_rows(dy))
        return lra_fail(e, "x %s and dy %s have different rows", lra_shape_text(x->shape, a),
                        lra_shape_text(dy->shape, b));
    y->shape = LRA_SHAPE(lra_width(x), lra_width(dy));
    y->type = lra_real(y->graph);
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dw, lra_tensor **dx)
{
    dx[0] = lra_matmul_t(y->src[1], false, dw, true);
    dx[1] = lra_linear(y->src[0], dw, NULL, LRA_ACT_NONE, NULL);
}

static double flops(const lra_tensor *y)
{
    return 2.0 * (double)lra_elements(y) * (double)lra_rows(y->src[0]);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    const dw_sizes s = sizes_of(y, false, n_threads);
    const dw_sizes other = sizes_of(y, can_turn(y), n_threads);
    if (lra_graph_type(y->graph) == LRA_BF16 && lra_gemm_bf16_fast()) {
        dw_bf16 cut = dw_cut_bf16(one_tap(y));
        return dw_scratch_bf16(&cut, n_threads);
    }
    int64_t own = thread_scratch(&s), turned = thread_scratch(&other);
    int64_t n = tile_padded((s.n_parts - 1) * s.D * s.H) +
                n_threads * (own > turned ? own : turned);
    if (can_turn(y)) n += tile_padded(s.D * s.H);
    return n * (int64_t)lra_type_size(y->type);
}

lra_tensor *lra_linear_dw(lra_tensor *x, lra_tensor *dy)
{
    lra_tensor *src[2] = {lra_as_elem(x), lra_as_elem(dy)};
    return lra_node(&lra_op_linear_dw, x->graph, 2, src, NULL, 0);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const int64_t s[][4] = {{2, 3, 5, 4}, {1, 1, 1, 1}, {3, 400, 2, 3}, {1, 7, 9, 2}};
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    return lra_linear_dw(lra_sample_input(g, "x", "normal", LRA_SHAPE(s[i][0], s[i][1], s[i][2])),
                         lra_sample_input(g, "dy", "normal", LRA_SHAPE(s[i][0], s[i][1], s[i][3])));
}

const lra_op lra_op_linear_dw = {.name = "linear_dw",
                                 .shape = shape,
                                 .grad = grad,
                                 .flops = flops,
                                 .scratch = scratch,
                                 .cuda_scratch = lra_no_scratch,
                                 .cpu = LRA_BODIES(linear_dw),
                                 .sample = sample};
#endif
