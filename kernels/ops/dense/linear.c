/* Dense layer: y = act(x w + bias) + residual, in fixed blocks of rows of x.
 * Gradients, with e = dy act'(x w + bias): dx = e w^T, dw = x^T e, dbias = column sums of e,
 * dresidual = dy. For relu act' is computed from y; for other activations the product is computed
 * again. */
#include <omp.h>

#include "kernels/ops/args.h"
#include "kernels/ops/dense/gemm_result_template.h"
#include "kernels/ops/dense/product.h"

/* Sizes of a layer, and its number of row blocks. */
typedef struct {
    int64_t M, D, H, n_blocks;
} linear_sizes;

static inline linear_sizes sizes_of(const lra_tensor *y)
{
    int64_t M = lra_rows(y);
    return (linear_sizes){M, lra_width(y->src[0]), lra_width(y),
                          (M + LRA_GEMM_ROWS - 1) / LRA_GEMM_ROWS};
}

#if !LRA_TYPE_f64 /* float64 has no bf16 variant */
/* True if the bf16 code supports the sizes. It reads elements of a row in pairs, so D must be
 * even. */
static inline bool fits_bf16(const linear_sizes *s)
{
    return lra_gemm_bf16_fast() && s->D % 2 == 0;
}
#endif

#if LRA_TYPE_bf16
/* The layer on processors with bf16 instructions. */
static void linear_bf16(const lra_call *c)
{
    const linear_args *a = c->y->args;
    const linear_sizes s = sizes_of(c->y);
    const elem *residual = a->has_residual ? c->in[2 + a->has_bias] : NULL;
    elem *packed = c->scratch;
#pragma omp parallel num_threads(c->n_threads)
    {
        pack_weights(s.D, s.H, c->in[1], s.H, 1, packed);
#pragma omp for schedule(static)
        for (int64_t block = 0; block < s.n_blocks; block++) {
            int64_t row = block * LRA_GEMM_ROWS;
            int64_t n = s.M - row < LRA_GEMM_ROWS ? s.M - row : LRA_GEMM_ROWS;
            lra_bf16_out out = bf16_result((elem *)c->out + row * s.H, s.H,
                                           a->has_bias ? c->in[2] : NULL, a->act,
                                           residual ? residual + row * s.H : NULL);
            out.follow = s.M - row - n;
            lra_pairs_bf16 x = {(const elem *)c->in[0] + row * s.D, s.D, 2};
            lra_gemm_bf16_to(n, s.H, s.D, x, packed, 16 * s.D, &out);
        }
    }
}
#endif

/* Scratch of a thread in reals: a strip of x, used if elem is not real. */
static inline int64_t thread_scratch(const linear_sizes *s)
{
    return GEMM_STRIP * tile_padded(s->D);
}

LRA_BODY(linear)
{
    const linear_sizes s = sizes_of(c->y);
#if LRA_TYPE_bf16
    if (fits_bf16(&s)) {
        linear_bf16(c);
        return;
    }
#endif
    const linear_args *a = c->y->args;
    real *packed = c->scratch, *threads = packed + gemm_packed(s.D, s.H);
    const gemm_result result = {.M = s.M,
                                .N = s.H,
                                .K = s.D,
                                .skip = c->n_threads * GEMM_BLOCK,
                                .x = c->in[0],
                                .packed = packed,
                                .bias = a->has_bias ? c->in[2] : NULL,
                                .residual = a->has_residual ? c->in[2 + a->has_bias] : NULL,
                                .act = a->act,
                                .y = c->out,
                                .stream = gemm_streams(s.M, s.H, c->out)};
#pragma omp parallel num_threads(c->n_threads)
    {
        gemm_pack_shared(s.D, s.H, c->in[1], s.H, 1, packed);
        real *own = threads + omp_get_thread_num() * thread_scratch(&s);
#pragma omp for schedule(dynamic)
        for (int64_t row = 0; row < s.M; row += GEMM_BLOCK)
            gemm_result_rows(&result, row, s.M - row < GEMM_BLOCK ? s.M - row : GEMM_BLOCK, own);
    }
}

#if LRA_RECORD
LRA_DECLARE(linear)

static int shape(lra_tensor *y, lra_err *e)
{
    const linear_args *a = y->args;
    const lra_tensor *x = y->src[0], *w = y->src[1];
    if (lra_expect_float(x, "x", e) != 0 || lra_expect_float(w, "w", e) != 0) return LRA_FAILED;
    if (x->shape.n < 1) return lra_fail(e, "x is a scalar, expected (..,D)");
    int64_t H = lra_width(w);
    if (lra_expect_shape(w, LRA_SHAPE(lra_width(x), H), "w", e) != 0) return LRA_FAILED;
    y->shape = x->shape;
    y->shape.d[y->shape.n - 1] = H;
    y->type = lra_elem(y->graph);
    if (a->has_bias && (lra_expect_float(y->src[2], "bias", e) != 0 ||
                        lra_expect_shape(y->src[2], LRA_SHAPE(H), "bias", e) != 0))
        return LRA_FAILED;
    if (!a->has_residual) return 0;
    const lra_tensor *residual = y->src[2 + a->has_bias];
    if (lra_expect_float(residual, "residual", e) != 0) return LRA_FAILED;
    return lra_expect_shape(residual, y->shape, "residual", e);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const linear_args *a = y->args;
    lra_tensor *x = y->src[0], *w = y->src[1], *de = dy;
    if (a->act == LRA_ACT_RELU && !a->has_residual)
        de = lra_activation_backward(dy, y, a->act, NULL);
    else if (a->act != LRA_ACT_NONE)
        de = lra_activation_backward(
            dy, lra_linear(x, w, a->has_bias ? y->src[2] : NULL, LRA_ACT_NONE, NULL), a->act, NULL);
    dx[0] = lra_matmul_t(de, false, w, true);
    dx[1] = lra_linear_dw(x, de);
    if (a->has_bias) dx[2] = lra_column_sum(de);
    if (a->has_residual) dx[2 + a->has_bias] = dy;
}

static double flops(const lra_tensor *y)
{
    return 2.0 * (double)lra_elements(y) * (double)lra_width(y->src[0]);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    const linear_sizes s = sizes_of(y);
    bool bf16 = lra_graph_type(y->graph) == LRA_BF16;
    if (bf16 && fits_bf16(&s)) return lra_packed_bf16(s.D, s.H) * (int64_t)sizeof(uint16_t);
    int64_t n = gemm_packed(s.D, s.H) + (bf16 ? n_threads * thread_scratch(&s) : 0);
    return n * (int64_t)lra_type_size(lra_real(y->graph));
}

/* Scratch of the CUDA body: float32 sums of a bf16 result. */
static int64_t cuda_scratch(const lra_tensor *y)
{
    return y->type == LRA_BF16 ? lra_elements(y) * (int64_t)sizeof(float) : 0;
}

lra_tensor *lra_linear(lra_tensor *x, lra_tensor *w, lra_tensor *bias, lra_act act,
                       lra_tensor *residual)
{
    lra_tensor *src[4] = {lra_as_elem(x), lra_as_weight(w)};
    int n = 2;
    if (residual && residual->type != lra_elem(x->graph))
        return lra_add(residual, lra_cast(lra_linear(x, w, bias, act, NULL), residual->type));
    if (bias) src[n++] = lra_as_real(bias);
    if (residual) src[n++] = lra_as_elem(residual);
    linear_args a = {.act = act, .has_bias = bias != NULL, .has_residual = residual != NULL};
    return lra_node(&lra_op_linear, x->graph, n, src, &a, sizeof a);
}

/* Returns a copy of node y with a residual as its last source. NULL: the op supports no residual,
 * or y already has one. */
static lra_tensor *add_residual(lra_tensor *y, lra_tensor *residual)
{
    if (y->op != &lra_op_linear && y->op != &lra_op_matmul) return NULL;
    lra_tensor *src[4]; /* sources of y: x, w, bias, residual; if y is a matmul: a, b, residual */
    if (y->n_src > 3) return NULL;
    for (int i = 0; i < y->n_src; i++) src[i] = y->src[i];
    src[y->n_src] = residual;
    if (y->op == &lra_op_linear) {
        linear_args linear = *(const linear_args *)y->args;
        if (linear.act != LRA_ACT_NONE || linear.has_residual) return NULL;
        linear.has_residual = true;
        return lra_node(y->op, y->graph, y->n_src + 1, src, &linear, sizeof linear);
    }
    matmul_args product = *(const matmul_args *)y->args;
    if (product.a_t || product.has_residual) return NULL;
    product.has_residual = true;
    return lra_node(y->op, y->graph, y->n_src + 1, src, &product, sizeof product);
}

/* The residual is not an argument of the builders, because the residual of a layer is known only
 * after its last product was built, and that of a gradient only after the gradient rule of another
 * op has built the product. */
lra_tensor *lra_with_residual(lra_tensor *y, lra_tensor *residual)
{
    if (y->name || y->type != residual->type || !lra_shape_equal(y->shape, residual->shape) ||
        residual->id >= y->id || lra_is_read(y))
        return NULL;
    lra_tensor *sum = add_residual(y, residual);
    if (sum) sum->scope = y->scope;
    return sum;
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const struct {
        int64_t B, T, D, H;
        bool bias, residual;
        lra_act act;
    } s[] = {
        {2, 3, 5, 4, true, false, LRA_ACT_NONE},  {1, 1, 1, 1, false, false, LRA_ACT_NONE},
        {3, 7, 6, 9, true, true, LRA_ACT_GELU},   {2, 150, 3, 2, true, false, LRA_ACT_SILU},
        {2, 2, 4, 17, true, false, LRA_ACT_RELU}, {4, 1, 3, 5, false, true, LRA_ACT_RELU},
        {1, 5, 3, 3, true, true, LRA_ACT_NONE},   {2, 4, 5, 3, false, false, LRA_ACT_GELU_TANH},
        {1, 9, 16, 24, true, true, LRA_ACT_GELU}, {2, 4, 24, 16, true, true, LRA_ACT_NONE},
        {1, 7, 16, 16, true, false, LRA_ACT_RELU}};
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(s[i].B, s[i].T, s[i].D));
    lra_tensor *w = lra_sample_input(g, "w", "normal", LRA_SHAPE(s[i].D, s[i].H));
    lra_tensor *bias = s[i].bias ? lra_sample_input(g, "bias", "normal", LRA_SHAPE(s[i].H)) : NULL;
    lra_tensor *residual = s[i].residual ? lra_sample_input(g, "r", "normal",
                                                            LRA_SHAPE(s[i].B, s[i].T, s[i].H))
                                         : NULL;
    return lra_linear(x, w, bias, s[i].act, residual);
}

const lra_op lra_op_linear = {.name = "linear",
                              .shadow = 1u << 1,
                              .shape = shape,
                              .grad = grad,
                              .flops = flops,
                              .scratch = scratch,
                              .cuda_scratch = cuda_scratch,
                              .cpu = LRA_BODIES(linear),
                              .sample = sample};
#endif
