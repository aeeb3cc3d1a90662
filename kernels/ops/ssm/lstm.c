/* The recurrent part of an LSTM over all tokens, from first to last or, with `back`, from last to
 * first:
 *   (i,f,g,o)_t = x_t + h_(t-1) w;  c_t = sigmoid(f) c_(t-1) + sigmoid(i) tanh(g);
 *     h_t = sigmoid(o) tanh(c_t)
 * x, the contribution of inputs and biases to the gates, is computed beforehand as one product for
 * all tokens.
 * Examples are independent: a thread processes a block of examples, token by token. Each token
 * costs a small product and 5 H functions per example; w is packed once and stays in the L2 cache.
 * States are real. c and the gates are stored for the gradient (lstm_body.h), which runs in the
 * opposite direction. The gradient of w is one product, h_(t-1)^T dx. All values after the length
 * of an example are 0, so that `back` begins at the last token.
 * Source: Hochreiter & Schmidhuber 1997; Gers et al. 2000 (forget gate f). The order of the gates
 * is that of PyTorch. */
#include <omp.h>

#include "kernels/ops/dense/gemm_template.h"
#include "kernels/ops/ssm/lstm_body.h"
#include "kernels/ops/dense/product.h"

/* maximum number of examples of a block; fewer than 32 examples are split into two blocks */
enum { ROWS = 16 };

static inline int64_t rows_of(const lstm_sizes *s)
{
    return s->B < 2 * ROWS ? (s->B + 1) / 2 : ROWS;
}

/* Scratch in reals. packed_scratch(): packed w. thread_scratch(): a thread's block, h and z
 * (forward) or dh, dc and da (backward). */
static inline int64_t packed_scratch(int64_t H)
{
    int64_t there = gemm_packed(H, 4 * H), back = gemm_packed(4 * H, H);
    return there > back ? there : back;
}
static inline int64_t thread_scratch(int64_t H)
{
    return ROWS * tile_padded(6 * H);
}

static inline lstm_sizes sizes_of(const lra_tensor *y, const lra_tensor *x)
{
    const lstm_args *a = y->args;
    return (lstm_sizes){x->shape.d[0], x->shape.d[1], x->shape.d[2] / 4, a->back};
}

/* Examples [first, first + n) of a block, and the number of tokens of each. */
typedef struct {
    int64_t first, n;
    int64_t length[ROWS], longest;
} block;

static inline block block_of(const lstm_sizes *s, int64_t at, const int32_t *length)
{
    int64_t rows = rows_of(s);
    block k = {.first = at * rows};
    k.n = s->B - k.first < rows ? s->B - k.first : rows;
    for (int64_t r = 0; r < k.n; r++) {
        k.length[r] = length ? length[k.first + r] : s->T;
        if (k.length[r] > k.longest) k.longest = k.length[r];
    }
    return k;
}

/* Clears one row of the result, for a position of padding. */
static inline void clear_row(const lstm_sizes *s, int64_t row, real *y)
{
    int64_t H = s->H, plane = lstm_plane(s);
    memset(y + row * H, 0, (size_t)H * sizeof *y);
    memset(y + plane + row * H, 0, (size_t)H * sizeof *y);
    memset(y + 2 * plane + row * 4 * H, 0, (size_t)(4 * H) * sizeof *y);
}

/* Computes one token of one example. z: products h w (4,H), to which x is added; h: state of the
 * example. */
static inline void step_row(const lstm_sizes *s, int64_t row, int64_t before, const elem *x,
                            real *z, real *h, real *y)
{
    int64_t H = s->H, plane = lstm_plane(s);
    real *c = y + plane + row * H, *gate = y + 2 * plane + row * 4 * H;
    const real *old = before < 0 ? NULL : y + plane + before * H;
#pragma omp simd
    for (int64_t j = 0; j < 4 * H; j++) z[j] += e_load(x[row * 4 * H + j]);
    if (old) {
#pragma omp simd
        for (int64_t j = 0; j < H; j++) h[j] = lstm_forward(z + j, H, old[j], gate + j, c + j);
    } else {
#pragma omp simd
        for (int64_t j = 0; j < H; j++) h[j] = lstm_forward(z + j, H, 0, gate + j, c + j);
    }
    memcpy(y + row * H, h, (size_t)H * sizeof *h);
}

/* Sources: x, w, [length]. Scratch: packed w, then h and z of each thread's block. */
LRA_BODY(lstm)
{
    const lstm_args *a = c->y->args;
    const lstm_sizes s = sizes_of(c->y, c->y->src[0]);
    int64_t H = s.H, blocks = (s.B + rows_of(&s) - 1) / rows_of(&s);
    real *w = c->scratch, *rest = w + packed_scratch(H);
    gemm_pack_real(H, 4 * H, c->in[1], 4 * H, 1, 0, 4 * H, w);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t at = 0; at < blocks; at++) {
        const block k = block_of(&s, at, a->has_length ? c->in[2] : NULL);
        real *h = rest + omp_get_thread_num() * thread_scratch(H), *z = h + ROWS * H;
        memset(h, 0, (size_t)(ROWS * H) * sizeof *h);
        for (int64_t step = 0; step < s.T; step++) {
            int64_t t = lstm_step(&s, step), before = lstm_before(&s, t);
            if (t < k.longest)
                gemm_rows(k.n, 4 * H, H, 0, H, (tile_rows){h, H, 1}, w, false, z, 4 * H);
            for (int64_t r = 0; r < k.n; r++) {
                int64_t first = (k.first + r) * s.T;
                if (t >= k.length[r])
                    clear_row(&s, first + t, c->out);
                else
                    step_row(&s, first + t, before < 0 ? -1 : first + before, c->in[0],
                             z + r * 4 * H, h + r * H, c->out);
            }
        }
    }
}

/* Backward pass of one token of one example: adds the gradient dy of h_t from outside the
 * recurrence to dh, then computes da and dc. dx is da, rounded to elem. */
static inline void back_row(const lstm_sizes *s, int64_t row, int64_t before, const real *dy,
                            const real *y, const real *dh, real *dc, real *da, elem *dx)
{
    int64_t H = s->H, plane = lstm_plane(s);
    const real *c = y + plane + row * H, *gate = y + 2 * plane + row * 4 * H;
    const real *old = before < 0 ? NULL : y + plane + before * H, *out = dy + row * H;
#pragma omp simd
    for (int64_t j = 0; j < H; j++)
        dc[j] = lstm_backward(gate + j, H, c[j], old ? old[j] : 0, dh[j] + out[j], dc[j], da + j);
#pragma omp simd
    for (int64_t j = 0; j < 4 * H; j++) dx[row * 4 * H + j] = e_store(da[j]);
}

/* Sources: dh (B,T,H), the result of the forward op, x, w, [length]. Result: dx. Scratch: packed w,
 * then dh, dc and da of each thread's block. */
LRA_BODY(lstm_grad)
{
    const lstm_args *a = c->y->args;
    const lstm_sizes s = sizes_of(c->y, c->y->src[2]);
    int64_t H = s.H, blocks = (s.B + rows_of(&s) - 1) / rows_of(&s);
    real *w = c->scratch, *rest = w + packed_scratch(H); /* packs w transposed */
    gemm_pack_real(4 * H, H, c->in[3], 1, 4 * H, 0, H, w);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t at = 0; at < blocks; at++) {
        const block k = block_of(&s, at, a->has_length ? c->in[4] : NULL);
        real *dh = rest + omp_get_thread_num() * thread_scratch(H), *dc = dh + ROWS * H;
        real *da = dc + ROWS * H;
        elem *dx = c->out;
        memset(dh, 0, (size_t)(ROWS * 6 * H) * sizeof *dh);
        for (int64_t step = s.T - 1; step >= 0; step--) {
            int64_t t = lstm_step(&s, step), before = lstm_before(&s, t);
            for (int64_t r = 0; r < k.n; r++) {
                int64_t first = (k.first + r) * s.T, row = first + t;
                if (t >= k.length[r])
                    memset(dx + row * 4 * H, 0, (size_t)(4 * H) * sizeof *dx);
                else
                    back_row(&s, row, before < 0 ? -1 : first + before, c->in[0], c->in[1],
                             dh + r * H, dc + r * H, da + r * 4 * H, dx);
            }
            if (t < k.longest)
                gemm_rows(k.n, H, 4 * H, 0, 4 * H, (tile_rows){da, 4 * H, 1}, w, false, dh, H);
            for (int64_t r = 0; r < k.n; r++) /* clears the gradients at positions of padding */
                if (t >= k.length[r])
                    for (int64_t j = 0; j < H; j++) dh[r * H + j] = dc[r * H + j] = 0;
        }
    }
}

#if LRA_RECORD
LRA_DECLARE(lstm)
LRA_DECLARE(lstm_grad)

/* Checks x, w and [length], which start at source number `first`. */
static int check(const lra_tensor *y, int first, lra_err *e)
{
    const lra_tensor *x = y->src[first], *w = y->src[first + 1];
    const lstm_args *a = y->args;
    if (x->shape.n != 3 || x->shape.d[2] % 4)
        return lra_fail(e, "x must be (B,T,4H): four gates of every channel");
    if (x->type != lra_elem(y->graph)) return lra_fail(e, "x must be elem");
    if (w->type != lra_real(y->graph)) return lra_fail(e, "w must be real");
    int64_t H = x->shape.d[2] / 4;
    if (lra_expect_shape(w, LRA_SHAPE(H, 4 * H), "w", e) != 0) return LRA_FAILED;
    return lra_expect_length(a->has_length ? y->src[first + 2] : NULL, x->shape.d[0], e);
}

static int shape(lra_tensor *y, lra_err *e)
{
    if (check(y, 0, e) != 0) return LRA_FAILED;
    const lstm_sizes s = sizes_of(y, y->src[0]);
    y->shape = LRA_SHAPE(LSTM_PLANES * lstm_plane(&s));
    y->type = lra_real(y->graph);
    return 0;
}

static int grad_shape(lra_tensor *y, lra_err *e)
{
    if (check(y, 2, e) != 0) return LRA_FAILED;
    const lstm_sizes s = sizes_of(y, y->src[2]);
    if (lra_expect_shape(y->src[0], LRA_SHAPE(s.B, s.T, s.H), "dh", e) != 0 ||
        lra_expect_shape(y->src[1], LRA_SHAPE(LSTM_PLANES * lstm_plane(&s)), "kept", e) != 0)
        return LRA_FAILED;
    y->shape = y->src[2]->shape;
    y->type = lra_elem(y->graph);
    return 0;
}

/* States h, (B,T,H), as a slice of the forward op's result. */
static lra_tensor *states(lra_tensor *y, const lstm_sizes *s)
{
    return lra_reshape(lra_slice(y, 0, 0, lstm_plane(s)), LRA_SHAPE(s->B, s->T, s->H));
}

/* Gradient of h, the only part of the op's result that is used by other nodes. If dy is the
 * gradient of a slice (a padding with zeros), the padding is skipped and its source is returned. */
static lra_tensor *of_states(lra_tensor *dy, const lstm_sizes *s)
{
    bool padded = dy->op == &lra_op_pad && lra_elements(dy->src[0]) == lstm_plane(s);
    return padded ? lra_reshape(dy->src[0], LRA_SHAPE(s->B, s->T, s->H)) : states(dy, s);
}

/* States shifted by one token in the direction of the recurrence; 0 at its first token. */
static lra_tensor *states_before(lra_tensor *y, const lstm_sizes *s)
{
    lra_tensor *h = lra_cast(states(y, s), lra_elem(y->graph));
    lra_tensor *none = lra_zeros(y->graph, h->type, LRA_SHAPE(s->B, 1, s->H));
    if (s->T == 1) return none;
    h = lra_slice(h, 1, s->back ? 1 : 0, s->T - 1);
    lra_tensor *both[] = {s->back ? h : none, s->back ? none : h};
    return lra_concat(2, both, 1);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const lstm_args *a = y->args;
    const lstm_sizes s = sizes_of(y, y->src[0]);
    lra_tensor *src[] = {of_states(dy, &s), y, y->src[0], y->src[1],
                         a->has_length ? y->src[2] : NULL};
    dx[0] = lra_node(&lra_op_lstm_grad, y->graph, 4 + a->has_length, src, a, sizeof *a);
    dx[1] = lra_linear_dw(states_before(y, &s), dx[0]);
}

static double flops(const lra_tensor *y)
{
    int64_t H = y->src[y->n_src > 3 ? 2 : 0]->shape.d[2] / 4;
    return 2.0 * (double)lra_elements(y->src[y->n_src > 3 ? 2 : 0]) * (double)H;
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    int64_t H = y->src[y->n_src > 3 ? 2 : 0]->shape.d[2] / 4;
    return (packed_scratch(H) + n_threads * thread_scratch(H)) *
           (int64_t)lra_type_size(lra_real(y->graph));
}

lra_tensor *lra_lstm(lra_tensor *x, lra_tensor *w, lra_tensor *length, bool back)
{
    lra_tensor *src[] = {lra_as_elem(x), w, length};
    const lstm_args a = {back, length != NULL};
    lra_tensor *y = lra_node(&lra_op_lstm, x->graph, 2 + a.has_length, src, &a, sizeof a);
    if (y->shape.n != 1) return y; /* invalid node: the op has reported the error */
    const lstm_sizes s = sizes_of(y, y->src[0]);
    lra_tensor *h = lra_cast(states(y, &s), lra_elem(x->graph)), *limit = lra_next_limit(x->graph);
    if (!limit) return h;
    lra_tensor *near[] = {h, src[0], w, limit, length};
    return lra_node(&lra_op_lstm_windowed, x->graph, 4 + a.has_length, near, &a, sizeof a);
}

static lra_tensor *sample_weights(lra_graph *g, int64_t H)
{
    return lra_cast(lra_sample_input(g, "w", "normal", LRA_SHAPE(H, 4 * H)), lra_real(g));
}

/* Test samples: both directions, one token, more examples than a block has. */
static lra_tensor *sample(lra_graph *g, int i)
{
    static const struct {
        int64_t B, T, H;
        bool back, padded;
    } s[] = {{2, 7, 3, false, false},
             {2, 7, 3, true, true},
             {3, 1, 2, true, false},
             {19, 5, 4, false, true},
             {1, 6, 17, true, false}};
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(s[i].B, s[i].T, 4 * s[i].H));
    lra_tensor *length = NULL;
    if (s[i].padded) length = lra_sample_input(g, "length", "length:5", LRA_SHAPE(s[i].B));
    return lra_lstm(x, sample_weights(g, s[i].H), length, s[i].back);
}

static lra_tensor *grad_sample(lra_graph *g, int i)
{
    if (i > 0) return NULL;
    const lstm_args a = {true, true};
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(3, 6, 8));
    lra_tensor *dh = lra_cast(lra_sample_input(g, "dh", "normal", LRA_SHAPE(3, 6, 2)), lra_real(g));
    lra_tensor *length = lra_sample_input(g, "length", "length:6", LRA_SHAPE(3));
    lra_tensor *src[] = {x, sample_weights(g, 2), length};
    lra_tensor *y = lra_node(&lra_op_lstm, g, 3, src, &a, sizeof a);
    lra_tensor *of[] = {dh, y, x, src[1], length};
    return lra_node(&lra_op_lstm_grad, g, 5, of, &a, sizeof a);
}

const lra_op lra_op_lstm = {.name = "lstm",
                            .shape = shape,
                            .grad = grad,
                            .flops = flops,
                            .scratch = scratch,
                            .cuda_scratch = lra_no_scratch,
                            .cpu = LRA_BODIES(lstm),
                            .sample = sample};
const lra_op lra_op_lstm_grad = {.name = "lstm_grad",
                                 .flags = LRA_NOGRAD,
                                 .shape = grad_shape,
                                 .flops = flops,
                                 .scratch = scratch,
                                 .cuda_scratch = lra_no_scratch,
                                 .cpu = LRA_BODIES(lstm_grad),
                                 .sample = grad_sample};
#endif
