/* Gradient of a convolution with respect to w: dw[k] = sum_{b,t} x[b][t + (k - (K-1)/2) dilation]^T
 * dy[b][t]. Rows t >= length of x and dy are read as zero.
 *
 * The work is divided into pieces of the result (group, some taps, 64 columns). If these are too
 * few, the rows are divided into parts too. Each piece processes its rows in blocks: it sums a
 * block in registers and adds the result to a sum in cache. The division depends on the shape only,
 * and parts are added in order, so that the result does not depend on the number of threads. */
#include <stdio.h>

#include "kernels/ops/args.h"
#include "kernels/ops/conv/conv_dw_parts.h"
#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/dense/product.h"
#include "kernels/ops/conv/conv_template.h"

enum { DW_ROWS = 128, DW_COLUMNS = 64, DW_DEPTH = 256, DW_PIECES = 64, DW_PART_ROWS = 256 };

/* Division of the work. s: sizes with dilation 1, so that a sample is one sequence
 * (conv_template.h), because the gradient of a tap is a sum over all rows of the sample. A piece
 * covers `taps` taps. In the copy of x the rows of adjacent taps start `step` rows apart; step is
 * the dilation, or the number of rows of a block if that is smaller. */
typedef struct {
    conv_sizes s;
    int64_t dilation, step, taps, tap_chunks, column_chunks, row_blocks, n_parts;
    int64_t ldx; /* row stride of the copy of x: an odd number of cache lines */
    /* scratch of a thread in reals: for x, for dy, for the sums */
    int64_t x_size, dy_size, sum_size;
    int64_t size; /* number of elements of dw */
} dw_cut;

#if !LRA_TYPE_f64 /* float64 has no bf16 variant */
static inline conv_sizes sizes_of(const lra_tensor *y)
{
    const conv_dw_args *a = y->args;
    const lra_tensor *x = y->src[0];
    return conv_sizes_of(x->shape.d[0], x->shape.d[1], a->K, a->groups, lra_width(x) / a->groups,
                         lra_width(y->src[1]) / a->groups, a->dilation);
}
#endif

static inline dw_cut cut_of(const lra_tensor *y)
{
    const conv_dw_args *a = y->args;
    const lra_tensor *x = y->src[0], *dy = y->src[1];
    int64_t G = a->groups;
    dw_cut c = {.s = conv_sizes_of(x->shape.d[0], x->shape.d[1], a->K, G, lra_width(x) / G,
                                   lra_width(dy) / G, 1)};
    c.dilation = conv_min(a->dilation, c.s.T);
    c.step = conv_min(c.dilation, DW_ROWS);
    c.taps = conv_max(1, conv_min(c.s.K, DW_DEPTH / c.s.n_in));
    c.tap_chunks = (c.s.K + c.taps - 1) / c.taps;
    c.column_chunks = (c.s.n_out + DW_COLUMNS - 1) / DW_COLUMNS;
    c.row_blocks = (c.s.T + DW_ROWS - 1) / DW_ROWS;
    int64_t pieces = G * c.tap_chunks * c.column_chunks;
    int64_t most = conv_min(c.s.B * c.row_blocks, c.s.B * c.s.T / DW_PART_ROWS);
    c.n_parts = conv_max(1, conv_min((DW_PIECES + pieces - 1) / pieces, most));
    c.ldx = tile_padded(c.s.n_in);
    if (c.ldx / 16 % 2 == 0) c.ldx += 16;
    c.x_size = (conv_min(DW_ROWS, c.s.T) + (c.taps - 1) * c.step) * c.ldx;
    c.dy_size = conv_min(DW_ROWS, c.s.T) * DW_COLUMNS;
    c.sum_size = c.taps * c.s.n_in * DW_COLUMNS;
    c.size = lra_elements(y);
    return c;
}

/* Piece of the result: taps [k, k+n_taps) and columns [column, column+n_columns) of a group. */
typedef struct {
    int64_t group, k, n_taps, column, n_columns;
    real *x, *dy, *sum; /* buffers in the thread's scratch */
} dw_piece;

/* Packs rows [0, n) of dy into panels of the piece's columns; width: row stride of dy. */
static inline void pack_dy(const dw_piece *p, const elem *dy, int64_t n, int64_t width)
{
    for (int64_t at = 0; at < p->n_columns;) {
        int columns = tile_panel_vectors(at, p->n_columns) * TILE_LANES;
        int64_t live = conv_min(columns, p->n_columns - at);
        real *to = p->dy + at * n;
        for (int64_t t = 0; t < n; t++, to += columns) {
            for (int64_t j = 0; j < live; j++) to[j] = e_load(dy[t * width + at + j]);
            for (int64_t j = live; j < columns; j++) to[j] = 0;
        }
        at += columns;
    }
}

/* Adds the products of rows [t0, t0+n) of a sample to the sum of one tap. */
static inline void add_tap(const dw_cut *c, const dw_piece *p, int64_t tap, int64_t t0, int64_t n,
                           int64_t len)
{
    int64_t shift = (p->k + tap - (c->s.K - 1) / 2) * c->dilation;
    int64_t from = conv_max(0, -shift - t0), end = conv_min(n, len - shift - t0);
    if (end <= from) return;
    for (int64_t at = 0; at < p->n_columns;) {
        int V = tile_panel_vectors(at, p->n_columns);
        const real *panel = p->dy + at * n + from * V * TILE_LANES;
        for (int64_t i = 0; i < c->s.n_in; i += TILE_ROWS) {
            tile_rows x = {p->x + (from + tap * c->step) * c->ldx + i, 1, c->ldx};
            tile_any((int)conv_min(TILE_ROWS, c->s.n_in - i), V, x, end - from, panel,
                     V * TILE_LANES, true, p->sum + (tap * c->s.n_in + i) * DW_COLUMNS + at,
                     DW_COLUMNS);
        }
        at += V * TILE_LANES;
    }
}

/* Adds one block of rows of one sample to the sums of a piece. */
static inline void add_block(const lra_call *call, const dw_cut *c, const dw_piece *p,
                             int64_t block)
{
    const conv_dw_args *a = call->y->args;
    const conv_sizes *s = &c->s;
    int64_t sample = block / c->row_blocks, t0 = block % c->row_blocks * DW_ROWS;
    int64_t len = a->has_length ? ((const int32_t *)call->in[2])[sample] : s->T;
    len = conv_min(len, s->T);
    int64_t n = conv_min(DW_ROWS, len - t0);
    if (n <= 0) return;
    int64_t D = s->groups * s->n_in, H = s->groups * s->n_out;
    int64_t lo = t0 + (p->k - (s->K - 1) / 2) * c->dilation, hi = lo + n;
    const elem *x = (const elem *)call->in[0] + sample * s->T * D + p->group * s->n_in;
    const elem *dy = (const elem *)call->in[1] + (sample * s->T + t0) * H;
    if (c->step == c->dilation)
        conv_copy_rows(x, s->n_in, D, lo, hi + (p->n_taps - 1) * c->step, len, c->ldx, p->x);
    for (int64_t tap = 0; tap < p->n_taps && c->step < c->dilation; tap++)
        conv_copy_rows(x, s->n_in, D, lo + tap * c->dilation, hi + tap * c->dilation, len, c->ldx,
                       p->x + tap * c->step * c->ldx);
    pack_dy(p, dy + p->group * s->n_out + p->column, n, H);
    for (int64_t tap = 0; tap < p->n_taps; tap++) add_tap(c, p, tap, t0, n, len);
}

/* Computes piece number `at` over rows part number `part`; to: (K, n_in, H). */
static inline void piece_run(const lra_call *call, const dw_cut *c, int64_t at, int64_t part,
                             real *own, real *to)
{
    const conv_sizes *s = &c->s;
    int64_t n_blocks = s->B * c->row_blocks, H = s->groups * s->n_out;
    dw_piece p = {.x = own, .dy = own + c->x_size, .sum = own + c->x_size + c->dy_size};
    p.column = at % c->column_chunks * DW_COLUMNS;
    p.k = at / c->column_chunks % c->tap_chunks * c->taps;
    p.group = at / c->column_chunks / c->tap_chunks;
    p.n_columns = conv_min(DW_COLUMNS, s->n_out - p.column);
    p.n_taps = conv_min(c->taps, s->K - p.k);
    memset(p.sum, 0, (size_t)c->sum_size * sizeof *p.sum);
    for (int64_t b = part * n_blocks / c->n_parts; b < (part + 1) * n_blocks / c->n_parts; b++)
        add_block(call, c, &p, b);
    for (int64_t r = 0; r < p.n_taps * s->n_in; r++)
        memcpy(to + (p.k * s->n_in + r) * H + p.group * s->n_out + p.column, p.sum + r * DW_COLUMNS,
               (size_t)p.n_columns * sizeof *to);
}

#include "kernels/ops/conv/conv_dw_bf16_template.h"
#include "kernels/ops/conv/conv_dw_narrow_template.h"

LRA_BODY(conv_dw)
{
    if (dw_is_narrow(c->y)) {
        narrow_dw_run(c);
        return;
    }
#if LRA_TYPE_bf16
    conv_sizes s = sizes_of(c->y);
    if (lra_gemm_bf16_fast()) {
        const conv_dw_args *a = c->y->args;
        dw_run_bf16(&s, c->in[0], c->in[1], a->has_length ? c->in[2] : NULL, c->scratch,
                    c->n_threads, c->out);
        return;
    }
#endif
    dw_cut cut = cut_of(c->y);
    int64_t pieces = cut.s.groups * cut.tap_chunks * cut.column_chunks;
    int64_t own_size = cut.x_size + cut.dy_size + cut.sum_size;
    real *out = c->out, *threads = c->scratch, *parts = threads + c->n_threads * own_size;
#pragma omp parallel num_threads(c->n_threads)
    {
        real *own = threads + omp_get_thread_num() * own_size;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < pieces * cut.n_parts; i++) {
            int64_t part = i / pieces; /* part 0 is written directly to the result */
            piece_run(c, &cut, i % pieces, part, own, part ? parts + (part - 1) * cut.size : out);
        }
        add_parts(cut.n_parts - 1, parts, cut.size, out);
    }
}

#if LRA_RECORD
LRA_DECLARE(conv_dw)

static int shape(lra_tensor *y, lra_err *e)
{
    const conv_dw_args *a = y->args;
    const lra_tensor *x = y->src[0], *dy = y->src[1];
    if (lra_expect_float(x, "x", e) != 0 || lra_expect_float(dy, "dy", e) != 0) return LRA_FAILED;
    if (x->shape.n != 3 || dy->shape.n != 3)
        return lra_fail(e, "x has %d dimensions and dy %d, expected (B,T,D) and (B,T,H)",
                        x->shape.n, dy->shape.n);
    int64_t B = x->shape.d[0], T = x->shape.d[1], D = lra_width(x), H = lra_width(dy);
    if (lra_expect_shape(dy, LRA_SHAPE(B, T, H), "dy", e) != 0) return LRA_FAILED;
    if (a->K < 1 || a->K % 2 == 0 || a->groups < 1 || D % a->groups != 0 || H % a->groups != 0)
        return lra_fail(e,
                        "kernel size %lld, %lld groups of %lld and %lld channels: expected odd and "
                        "a divisor",
                        (long long)a->K, (long long)a->groups, (long long)D, (long long)H);
    if (conv_check_dilation(a->dilation, e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(a->K, D / a->groups, H);
    y->type = lra_real(y->graph);
    return lra_expect_length(a->has_length ? y->src[2] : NULL, B, e);
}

static void grad(lra_tensor *y, lra_tensor *dw, lra_tensor **dx)
{
    const conv_dw_args *a = y->args;
    lra_tensor *x = y->src[0], *dy = y->src[1], *length = a->has_length ? y->src[2] : NULL;
    dx[0] = lra_conv_dx(dy, dw, length, a->groups, a->dilation);
    dx[1] = lra_conv(x, dw, NULL, LRA_ACT_NONE, length, a->groups, a->dilation);
}

static double flops(const lra_tensor *y)
{
    return 2.0 * (double)lra_elements(y) * (double)lra_rows(y->src[0]);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    if (dw_is_narrow(y)) return narrow_dw_scratch(y, n_threads) * (int64_t)lra_type_size(y->type);
    conv_sizes s = sizes_of(y);
    if (lra_graph_type(y->graph) == LRA_BF16 && lra_gemm_bf16_fast()) {
        dw_bf16 bf16 = dw_cut_bf16(s);
        return dw_scratch_bf16(&bf16, n_threads);
    }
    dw_cut c = cut_of(y);
    int64_t n = n_threads * (c.x_size + c.dy_size + c.sum_size) + (c.n_parts - 1) * c.size;
    return n * (int64_t)lra_type_size(y->type);
}

static int64_t cuda_scratch(const lra_tensor *y)
{
    const conv_dw_args *a = y->args;
    const lra_tensor *x = y->src[0], *dy = y->src[1];
    int64_t G = a->groups;
    conv_dw_sizes s = {x->shape.d[0],    x->shape.d[1],     a->K,       G,
                       lra_width(x) / G, lra_width(dy) / G, a->dilation};
    int64_t parts = conv_dw_parts(&s);
    return parts > 1 ? parts * conv_dw_size(&s) * (int64_t)sizeof(float) : 0;
}

lra_tensor *lra_conv_dw(lra_tensor *x, lra_tensor *dy, lra_tensor *length, int64_t groups,
                        int64_t K, int64_t dilation)
{
    lra_tensor *src[3] = {lra_as_elem(x), lra_as_elem(dy), length};
    conv_dw_args a = {.K = K, .groups = groups, .dilation = dilation, .has_length = length != NULL};
    return lra_node(&lra_op_conv_dw, x->graph, length ? 3 : 2, src, &a, sizeof a);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const struct {
        int64_t T, K, D, H, groups, dilation;
        bool length;
    } s[] = {{7, 3, 3, 5, 1, 1, false},   {6, 1, 2, 3, 1, 1, true},   {5, 5, 4, 6, 2, 1, true},
             {7, 15, 2, 2, 1, 1, true},   {150, 3, 2, 1, 1, 1, true}, {3, 3, 7, 19, 1, 1, false},
             {300, 1, 2, 1, 1, 1, true},  {9, 5, 3, 5, 1, 2, true},   {7, 3, 4, 6, 2, 3, true},
             {140, 3, 2, 1, 1, 130, true}};
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    char fill[32];
    snprintf(fill, sizeof fill, "length:%d", (int)s[i].T);
    return lra_conv_dw(lra_sample_input(g, "x", "normal", LRA_SHAPE(2, s[i].T, s[i].D)),
                       lra_sample_input(g, "dy", "normal", LRA_SHAPE(2, s[i].T, s[i].H)),
                       s[i].length ? lra_sample_input(g, "length", fill, LRA_SHAPE(2)) : NULL,
                       s[i].groups, s[i].K, s[i].dilation);
}

const lra_op lra_op_conv_dw = {.name = "conv_dw",
                               .shape = shape,
                               .grad = grad,
                               .flops = flops,
                               .scratch = scratch,
                               .cuda_scratch = cuda_scratch,
                               .cpu = LRA_BODIES(conv_dw),
                               .sample = sample};
#endif
