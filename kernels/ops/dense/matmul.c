/* Batched product y = a b, where a and b may be transposed in their last two dimensions; optionally
 * y = a b + residual.
 * Gradients: da = dy b^T and db = a^T dy, transposed if the operand was; dresidual = dy. An operand
 * without leading dimensions is shared by all products and receives the sum of their gradients. */
#include <omp.h>

#include "kernels/ops/args.h"
#include "kernels/ops/dense/gemm_result_template.h"
#include "kernels/ops/dense/product.h"

/* Sizes of one product, and the strides between the operands of consecutive products (0:
 * shared). */
typedef struct {
    int64_t n_products, M, N, K, a_step, b_step;
} extent;

static extent extent_of(const lra_tensor *y)
{
    const matmul_args *args = y->args;
    const lra_tensor *a = y->src[0], *b = y->src[1];
    int last = y->shape.n - 1;
    extent s = {.M = y->shape.d[last - 1], .N = y->shape.d[last]};
    s.K = a->shape.d[args->a_t ? a->shape.n - 2 : a->shape.n - 1];
    s.n_products = lra_elements(y) / (s.M * s.N);
    s.a_step = a->shape.n > 2 ? s.M * s.K : 0;
    s.b_step = b->shape.n > 2 ? s.K * s.N : 0;
    if (s.b_step == 0 && !args->a_t && s.a_step > 0) { /* all rows form one product */
        s.M *= s.n_products;
        s.n_products = 1;
    }
    return s;
}

#if !LRA_TYPE_f64 /* float64 has no bf16 variant */
/* True if the bf16 code supports the sizes. Its instructions multiply pairs of adjacent k, so K
 * must be even. */
static inline bool fits_bf16(const extent *s)
{
    return lra_gemm_bf16_fast() && s->K % 2 == 0;
}

/* Scratch in bytes in a BF16 graph on processors with bf16 instructions: packed b, once for all
 * threads if they share it; and, if a is transposed, each thread's block of a in pairs of k. */
static inline int64_t packed_bytes(const extent *s)
{
    return (lra_packed_bf16(s->K, s->N) * (int64_t)sizeof(uint16_t) + 63) / 64 * 64;
}
static inline int64_t pairs_bytes(const extent *s, bool a_t)
{
    return a_t ? (LRA_GEMM_ROWS * s->K * (int64_t)sizeof(uint16_t) + 63) / 64 * 64 : 0;
}
#if LRA_RECORD
static inline int64_t scratch_bf16(const extent *s, bool a_t, int n_threads)
{
    return (s->b_step ? n_threads : 1) * packed_bytes(s) + n_threads * pairs_bytes(s, a_t);
}
#endif
#endif

/* Scratch of the other cases, in reals: packed b, once for all threads if they share it. */
static inline int64_t packed_reals(const extent *s)
{
    return tile_padded(gemm_packed(s->K, s->N));
}
/* Scratch of a thread in reals: rows of a as real; or, for a transposed a, some of its columns and,
 * if elem is not real, rows of y. */
static inline int64_t thread_scratch(const extent *s, bool bf16, bool a_t)
{
    if (!a_t) return bf16 ? tile_padded(GEMM_STRIP * s->K) : 0;
    return tile_padded(TILE_DEPTH * gemm_columns_padded(LRA_GEMM_ROWS) +
                       (bf16 ? LRA_GEMM_ROWS * s->N : 0));
}

#if LRA_TYPE_bf16
/* Computes rows [row, row+n) of product i. */
static void product_rows_bf16(const lra_call *c, const extent *s, int64_t i, int64_t row, int64_t n,
                              const elem *packed, elem *transposed)
{
    const matmul_args *args = c->y->args;
    const elem *a = (const elem *)c->in[0] + i * s->a_step;
    lra_pairs_bf16 pairs = {a + row * s->K, s->K, 2};
    if (args->a_t) {
        for (int64_t k = 0; k < s->K; k += 2)
            lra_pair_bf16(2, n, a + k * s->M + row, s->M, 0, transposed + k * n);
        pairs = (lra_pairs_bf16){transposed, 2, 2 * n};
    }
    int64_t to = (i * s->M + row) * s->N;
    const elem *residual = args->has_residual ? (const elem *)c->in[2] + to : NULL;
    lra_bf16_out out = bf16_result((elem *)c->out + to, s->N, NULL, LRA_ACT_NONE, residual);
    out.follow = s->M - row - n;
    lra_gemm_bf16_to(n, s->N, s->K, pairs, packed, 16 * s->K, &out);
}

/* The op on processors with bf16 instructions. If b is not shared, each thread packs the b that it
 * needs. */
static void matmul_bf16(const lra_call *c, const extent *s)
{
    const matmul_args *args = c->y->args;
    int64_t row_b = args->b_t ? 1 : s->N, column_b = args->b_t ? s->K : 1;
    int64_t n_blocks = (s->M + LRA_GEMM_ROWS - 1) / LRA_GEMM_ROWS, last = -1;
    char *threads = (char *)c->scratch + (s->b_step ? c->n_threads : 1) * packed_bytes(s);
#pragma omp parallel num_threads(c->n_threads) firstprivate(last)
    {
        int id = omp_get_thread_num();
        elem *packed = (elem *)((char *)c->scratch + (s->b_step ? id : 0) * packed_bytes(s));
        elem *transposed = (elem *)(threads + id * pairs_bytes(s, args->a_t));
        if (!s->b_step) pack_weights(s->K, s->N, c->in[1], row_b, column_b, packed);
#pragma omp for schedule(static)
        for (int64_t at = 0; at < s->n_products * n_blocks; at++) {
            int64_t i = at / n_blocks, row = at % n_blocks * LRA_GEMM_ROWS;
            int64_t n = s->M - row < LRA_GEMM_ROWS ? s->M - row : LRA_GEMM_ROWS;
            if (s->b_step && last != i)
                lra_pack_bf16(s->K, s->N, (const elem *)c->in[1] + i * s->b_step, row_b, column_b,
                              16 * s->K, packed);
            last = i;
            product_rows_bf16(c, s, i, row, n, packed, transposed);
        }
    }
}
#endif

/* Computes rows [row, row+n) of product i with a transposed: some columns of a at a time. */
static void product_columns(const lra_call *c, const extent *s, int64_t i, int64_t row, int64_t n,
                            const real *packed, real *own)
{
    const elem *a = (const elem *)c->in[0] + i * s->a_step;
    elem *y = (elem *)c->out + (i * s->M + row) * s->N;
    int64_t N = s->N, K = s->K;
#if LRA_TYPE_bf16
    real *sum = own + thread_scratch(s, true, true) - LRA_GEMM_ROWS * N;
#else
    real *sum = y;
#endif
    for (int64_t k = 0; k < K; k += TILE_DEPTH) {
        int64_t end = K - k < TILE_DEPTH ? K : k + TILE_DEPTH;
        gemm_while(n, N, k, end, gemm_columns(end - k, n, a + k * s->M + row, s->M, own),
                   (gemm_right){packed, K, 0}, k > 0, sum, N, gemm_nothing);
    }
#if LRA_TYPE_bf16
    for (int64_t j = 0; j < n * N; j++) y[j] = e_store(sum[j]);
#endif
}

/* Computes rows [row, row+n) of product i with a not transposed. */
static void product_rows(const lra_call *c, const extent *s, int64_t i, int64_t row, int64_t n,
                         const real *packed, real *own)
{
    const elem *residual = ((const matmul_args *)c->y->args)->has_residual ? c->in[2] : NULL;
    const gemm_result result = {.M = s->M,
                                .N = s->N,
                                .K = s->K,
                                .skip = (s->b_step ? 1 : c->n_threads) * GEMM_BLOCK,
                                .x = (const elem *)c->in[0] + i * s->a_step,
                                .packed = packed,
                                .residual = residual ? residual + i * s->M * s->N : NULL,
                                .act = LRA_ACT_NONE,
                                .y = (elem *)c->out + i * s->M * s->N,
                                .stream = gemm_streams(s->n_products * s->M, s->N, c->out)};
    gemm_result_rows(&result, row, n, own);
}

/* If b is not shared, each thread packs the b that it needs. */
LRA_BODY(matmul)
{
    const matmul_args *args = c->y->args;
    extent s = extent_of(c->y);
    int64_t block = args->a_t ? LRA_GEMM_ROWS : GEMM_BLOCK;
    int64_t n_blocks = (s.M + block - 1) / block, last = -1, together = s.b_step ? n_blocks : 1;
    int64_t row_b = args->b_t ? 1 : s.N, column_b = args->b_t ? s.K : 1;
#if LRA_TYPE_bf16
    if (fits_bf16(&s)) {
        matmul_bf16(c, &s);
        return;
    }
#endif
    real *threads = (real *)c->scratch + (s.b_step ? c->n_threads : 1) * packed_reals(&s);
#pragma omp parallel num_threads(c->n_threads) firstprivate(last)
    {
        int id = omp_get_thread_num();
        real *packed = (real *)c->scratch + (s.b_step ? id : 0) * packed_reals(&s);
        real *own = threads + id * thread_scratch(&s, LRA_TYPE_bf16, args->a_t);
        if (!s.b_step) gemm_pack_shared(s.K, s.N, c->in[1], row_b, column_b, packed);
#pragma omp for schedule(dynamic, together)
        for (int64_t at = 0; at < s.n_products * n_blocks; at++) {
            int64_t i = at / n_blocks, row = at % n_blocks * block;
            int64_t n = s.M - row < block ? s.M - row : block;
            if (s.b_step && last != i)
                gemm_pack(s.K, s.N, (const elem *)c->in[1] + i * s.b_step, row_b, column_b, 0, s.N,
                          packed);
            last = i;
            (args->a_t ? product_columns : product_rows)(c, &s, i, row, n, packed, own);
        }
    }
}

#if LRA_RECORD
LRA_DECLARE(matmul)

static int shape(lra_tensor *y, lra_err *e)
{
    const matmul_args *args = y->args;
    const lra_tensor *a = y->src[0], *b = y->src[1];
    char sa[96], sb[96];
    if (lra_expect_float(a, "a", e) != 0 || lra_expect_float(b, "b", e) != 0) return LRA_FAILED;
    int na = a->shape.n, nb = b->shape.n;
    if (na < 2 || nb < 2)
        return lra_fail(e, "a has shape %s and b %s, expected two dimensions or more",
                        lra_shape_text(a->shape, sa), lra_shape_text(b->shape, sb));
    int64_t M = a->shape.d[args->a_t ? na - 1 : na - 2],
            K = a->shape.d[args->a_t ? na - 2 : na - 1];
    int64_t N = b->shape.d[args->b_t ? nb - 2 : nb - 1];
    if (K != b->shape.d[args->b_t ? nb - 1 : nb - 2])
        return lra_fail(e, "inner dimensions of a %s%s and b %s%s differ",
                        lra_shape_text(a->shape, sa), args->a_t ? " (transposed)" : "",
                        lra_shape_text(b->shape, sb), args->b_t ? " (transposed)" : "");
    lra_shape lead_a = lra_shape_from(na - 2, a->shape.d),
              lead_b = lra_shape_from(nb - 2, b->shape.d);
    if (na > 2 && nb > 2 && !lra_shape_equal(lead_a, lead_b))
        return lra_fail(e, "leading dimensions of a %s and b %s differ",
                        lra_shape_text(a->shape, sa), lra_shape_text(b->shape, sb));
    y->shape = na > 2 ? a->shape : b->shape;
    y->shape.d[y->shape.n - 2] = M;
    y->shape.d[y->shape.n - 1] = N;
    y->type = lra_elem(y->graph);
    return 0; /* a residual is set by lra_with_residual(), which checks it */
}

static lra_tensor *flat(lra_tensor *x)
{
    return x->shape.n == 2 ? x : lra_reshape(x, LRA_SHAPE(lra_rows(x), lra_width(x)));
}

/* Sums dx over all leading dimensions if x has none. */
static lra_tensor *summed(lra_tensor *dx, const lra_tensor *x)
{
    return dx->shape.n > x->shape.n ? lra_reduce_sum(lra_as_real(dx), x->shape) : dx;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const matmul_args *s = y->args;
    lra_tensor *a = y->src[0], *b = y->src[1];
    lra_tensor *da = s->a_t ? lra_matmul_t(b, s->b_t, dy, true)
                            : lra_matmul_t(dy, false, b, !s->b_t);
    dx[0] = summed(da, a);
    /* the product sums over rows, as the weight gradient of a dense layer does */
    if (b->shape.n == 2 && !s->a_t)
        dx[1] = s->b_t ? lra_linear_dw(flat(dy), flat(a)) : lra_linear_dw(flat(a), flat(dy));
    else
        dx[1] = summed(
            s->b_t ? lra_matmul_t(dy, true, a, s->a_t) : lra_matmul_t(a, !s->a_t, dy, false), b);
    if (s->has_residual) dx[2] = dy;
}

static double flops(const lra_tensor *y)
{
    return 2.0 * (double)lra_elements(y) * (double)extent_of(y).K;
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    extent s = extent_of(y);
    const matmul_args *args = y->args;
    bool bf16 = lra_graph_type(y->graph) == LRA_BF16;
    if (bf16 && fits_bf16(&s)) return scratch_bf16(&s, args->a_t, n_threads);
    int64_t n = (s.b_step ? n_threads : 1) * packed_reals(&s) +
                n_threads * thread_scratch(&s, bf16, args->a_t);
    return n * (int64_t)lra_type_size(lra_real(y->graph));
}

lra_tensor *lra_matmul_t(lra_tensor *a, bool a_transposed, lra_tensor *b, bool b_transposed)
{
    matmul_args args = {.a_t = a_transposed, .b_t = b_transposed};
    lra_tensor *src[2] = {lra_as_weight(a), lra_as_weight(b)};
    return lra_node(&lra_op_matmul, a->graph, 2, src, &args, sizeof args);
}

lra_tensor *lra_matmul(lra_tensor *a, lra_tensor *b)
{
    return lra_matmul_t(a, false, b, false);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const struct {
        int64_t M, N, K;
        bool a_t, b_t, a_shared, b_shared;
    } s[] = {{3, 5, 4, false, false, false, false}, {4, 3, 7, true, false, false, false},
             {5, 2, 3, false, true, false, false},  {2, 6, 5, true, true, false, false},
             {3, 4, 5, false, false, false, true},  {3, 4, 5, false, true, false, true},
             {3, 4, 5, true, false, false, true},   {2, 3, 4, false, true, true, false},
             {300, 3, 2, false, false, true, true}, {2, 1, 1, true, true, true, true},
             {3, 5, 4, false, false, false, false}, {40, 24, 16, false, true, false, true},
             {7, 64, 6, false, true, true, false}};
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    lra_tensor *residual = NULL;
    int64_t M = s[i].M, N = s[i].N, K = s[i].K;
    int64_t a[] = {2, 3, s[i].a_t ? K : M, s[i].a_t ? M : K};
    int64_t b[] = {2, 3, s[i].b_t ? N : K, s[i].b_t ? K : N};
    int skip_a = s[i].a_shared ? 2 : 0, skip_b = s[i].b_shared ? 2 : 0;
    if (i > 9) residual = lra_sample_input(g, "residual", "normal", LRA_SHAPE(2, 3, M, N));
    lra_tensor *y = lra_matmul_t(
        lra_sample_input(g, "a", "normal", lra_shape_from(4 - skip_a, a + skip_a)), s[i].a_t,
        lra_sample_input(g, "b", "normal", lra_shape_from(4 - skip_b, b + skip_b)), s[i].b_t);
    if (!residual) return y;
    lra_tensor *sum = lra_with_residual(y, residual);
    if (!sum) lra_graph_fail(g, "a product takes no residual");
    return sum ? sum : y;
}

const lra_op lra_op_matmul = {.name = "matmul",
                              .shadow = 1u << 0 | 1u << 1,
                              .shape = shape,
                              .grad = grad,
                              .flops = flops,
                              .scratch = scratch,
                              .cuda_scratch = lra_no_scratch,
                              .cpu = LRA_BODIES(matmul),
                              .sample = sample};
#endif
