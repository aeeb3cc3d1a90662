/* Weight gradient of a dense layer: dw = x^T dy, a sum over all rows.  Rows are summed in blocks of
 * LRA_ROW_BLOCK; blocks are gathered in at most N_PARTS partial sums, which are added in order, so that
 * the result does not depend on the number of threads. */
#include <omp.h>

#include "kernels/ops/conv_dw_bf16_fn.h"
#include "kernels/ops/product.h"
#include "kernels/ops/product_fn.h"

enum { N_PARTS = 32 };

static inline int64_t blocks_of(int64_t n_rows)
{
    return (n_rows + LRA_ROW_BLOCK - 1) / LRA_ROW_BLOCK;
}
static inline int64_t parts_of(int64_t n_rows)
{
    int64_t n = blocks_of(n_rows);
    return n < N_PARTS ? n : N_PARTS;
}

#if LRA_PASS != 64 /* which knows no bf16 */
/* As a convolution of one tap, where the processor multiplies bf16 itself. */
static inline conv_sizes one_tap(const lra_tensor *y)
{
    return conv_sizes_of(1, lra_rows(y->src[0]), 1, 1, lra_width(y->src[0]), lra_width(y->src[1]),
                         1);
}

/* Floats of scratch of a thread otherwise: a block of x and dy as float32. */
static inline int64_t thread_scratch(int64_t D, int64_t H)
{
    return LRA_ROW_BLOCK * (D + H);
}
#endif

/* sum = x^T dy over blocks [first, end); copy: 16-bit passes only. */
static void part_sum(const lra_call *c, int64_t first, int64_t end, real *copy, real *sum)
{
    const lra_tensor *x = c->y->src[0], *dy = c->y->src[1];
    int64_t M = lra_rows(x), D = lra_width(x), H = lra_width(dy);
    for (int64_t block = first; block < end; block++) {
        int64_t row = block * LRA_ROW_BLOCK, ldx, ldy;
        int64_t n = M - row < LRA_ROW_BLOCK ? M - row : LRA_ROW_BLOCK;
        const real *rx = load_block((const elem *)c->in[0] + row * D, n, D, D, copy, &ldx);
        const real *ry = load_block((const elem *)c->in[1] + row * H, n, H, H,
                                    copy ? copy + LRA_ROW_BLOCK * D : NULL, &ldy);
        r_gemm(true, false, D, H, n, rx, ldx, ry, ldy, block > first, sum, H);
    }
}

LRA_BODY(linear_dw)
{
    const lra_tensor *x = c->y->src[0], *dy = c->y->src[1];
    int64_t M = lra_rows(x), D = lra_width(x), H = lra_width(dy);
    int64_t n_blocks = blocks_of(M), n_parts = parts_of(M), size = D * H;
#if LRA_PASS == 16
    conv_sizes s = one_tap(c->y);
    if (lra_gemm_bf16_fast()) {
        dw_run_bf16(&s, c->in[0], c->in[1], NULL, c->scratch, c->n_threads, c->out);
        return;
    }
#endif
    real *out = c->out, *parts = c->scratch; /* the first part is summed in place */
#pragma omp parallel num_threads(c->n_threads)
    {
        real *copy = NULL;
#if LRA_PASS == 16
        copy = parts + (n_parts - 1) * size + omp_get_thread_num() * thread_scratch(D, H);
#endif
#pragma omp for schedule(static)
        for (int64_t p = 0; p < n_parts; p++)
            part_sum(c, p * n_blocks / n_parts, (p + 1) * n_blocks / n_parts, copy,
                     p ? parts + (p - 1) * size : out);
        add_parts(n_parts - 1, parts, size, out);
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
    int64_t n = (parts_of(lra_rows(y->src[0])) - 1) * lra_elements(y);
    bool bf16 = lra_graph_type(y->graph) == LRA_BF16;
    if (bf16 && lra_gemm_bf16_fast()) {
        dw_bf16 cut = dw_cut_bf16(one_tap(y));
        return dw_scratch_bf16(&cut, n_threads);
    }
    if (bf16) n += n_threads * thread_scratch(lra_width(y->src[0]), lra_width(y->src[1]));
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
