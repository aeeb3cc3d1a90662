/* An LSTM whose state is reset `limit` tokens before each token: h_t depends only on tokens t -
 * limit .. t (with `back`: t .. t + limit).
 * A limit of at least T-1 has no effect: the result is then source 0, the states without a limit,
 * bit for bit. Below T-1 every token has its own recurrence, O(T limit) cell updates in total. A
 * block of adjacent tokens is processed together, so that their recurrences share one matrix
 * product per update. The op is an intervention on trained models and has no gradient. */
#include <omp.h>

#include "kernels/ops/dense/gemm_template.h"
#include "kernels/ops/ssm/lstm_body.h"

enum { ROWS = 16 }; /* tokens of a block */

/* Scratch of a thread in reals: h, c and gate sums of each recurrence, gates of one. */
static inline int64_t thread_scratch(int64_t H)
{
    return tile_padded(ROWS * 6 * H + 4 * H);
}

/* Position that the recurrence of token t reads in its update number s; -1: before the start of the
 * example, or after its end. */
static inline int64_t near_step(const lstm_sizes *z, int64_t t, int64_t s, int64_t limit,
                                int64_t length)
{
    int64_t at = z->back ? t + limit - s : t - limit + s;
    return at >= 0 && at < length && t < length ? at : -1;
}

static inline void near_block(const lstm_sizes *z, int64_t t0, int64_t n, int64_t limit,
                              int64_t length, const elem *x, const real *w, real *own, elem *y)
{
    int64_t H = z->H;
    real *h = own, *c = h + ROWS * H, *sums = c + ROWS * H, *gate = sums + ROWS * 4 * H;
    memset(h, 0, (size_t)(2 * ROWS * H) * sizeof *h);
    for (int64_t s = 0; s <= limit; s++) {
        gemm_rows(n, 4 * H, H, 0, H, (tile_rows){h, H, 1}, w, false, sums, 4 * H);
        for (int64_t r = 0; r < n; r++) {
            int64_t at = near_step(z, t0 + r, s, limit, length);
            real *a = sums + r * 4 * H, *state = h + r * H, *cell = c + r * H;
            if (at < 0) continue;
#pragma omp simd
            for (int64_t k = 0; k < 4 * H; k++) a[k] += e_load(x[at * 4 * H + k]);
#pragma omp simd
            for (int64_t k = 0; k < H; k++)
                state[k] = lstm_forward(a + k, H, cell[k], gate + k, cell + k);
        }
    }
    for (int64_t r = 0; r < n; r++)
        for (int64_t k = 0; k < H; k++)
            y[(t0 + r) * H + k] = t0 + r < length ? e_store(h[r * H + k]) : 0;
}

/* Sources: states without a limit, x, w, limit, [length]. Scratch: packed w, then one segment per
 * thread. */
LRA_BODY(lstm_windowed)
{
    const lstm_args *a = c->y->args;
    const int64_t *d = c->y->shape.d;
    const lstm_sizes z = {d[0], d[1], d[2], a->back};
    int64_t limit = *(const int32_t *)c->in[3], blocks = (z.T + ROWS - 1) / ROWS;
    if (limit >= z.T - 1) {
        if (c->out != c->in[0]) memcpy(c->out, c->in[0], (size_t)lstm_plane(&z) * sizeof(elem));
        return;
    }
    if (limit < 0) limit = 0;
    real *w = c->scratch, *rest = w + gemm_packed(z.H, 4 * z.H);
    gemm_pack_real(z.H, 4 * z.H, c->in[2], 4 * z.H, 1, 0, 4 * z.H, w);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t at = 0; at < z.B * blocks; at++) {
        int64_t b = at / blocks, t0 = at % blocks * ROWS, n = z.T - t0 < ROWS ? z.T - t0 : ROWS;
        int64_t length = a->has_length ? ((const int32_t *)c->in[4])[b] : z.T;
        near_block(&z, t0, n, limit, length, (const elem *)c->in[1] + b * z.T * 4 * z.H, w,
                   rest + omp_get_thread_num() * thread_scratch(z.H),
                   (elem *)c->out + b * z.T * z.H);
    }
}

#if LRA_RECORD
LRA_DECLARE(lstm_windowed)

static int shape(lra_tensor *y, lra_err *e)
{
    const lra_tensor *h = y->src[0], *x = y->src[1], *w = y->src[2];
    const lstm_args *a = y->args;
    if (x->shape.n != 3 || x->shape.d[2] % 4) return lra_fail(e, "x must be (B,T,4H)");
    int64_t H = x->shape.d[2] / 4;
    if (lra_expect_shape(h, LRA_SHAPE(x->shape.d[0], x->shape.d[1], H), "h", e) != 0 ||
        lra_expect_shape(w, LRA_SHAPE(H, 4 * H), "w", e) != 0 ||
        lra_expect_limit(y->src[3], e) != 0)
        return LRA_FAILED;
    if (x->type != lra_elem(y->graph) || h->type != x->type)
        return lra_fail(e, "h and x must be elem");
    if (w->type != lra_real(y->graph)) return lra_fail(e, "w must be real");
    y->shape = h->shape;
    y->type = h->type;
    return lra_expect_length(a->has_length ? y->src[4] : NULL, h->shape.d[0], e);
}

/* Counts half of all updates, because the limit is known only when the graph runs. */
static double flops(const lra_tensor *y)
{
    return 4 * (double)lra_elements(y) * (double)lra_width(y) * (double)y->shape.d[1];
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    int64_t H = lra_width(y);
    return (gemm_packed(H, 4 * H) + n_threads * thread_scratch(H)) *
           (int64_t)lra_type_size(lra_real(y->graph));
}

static lra_tensor *sample(lra_graph *g, int i)
{
    static const struct {
        int64_t B, T, H;
        bool back, padded;
    } s[] = {{2, 7, 3, false, false},
             {2, 9, 3, true, true},
             {1, 21, 4, false, true},
             {3, 1, 2, false, false},
             {1, 18, 17, true, false}};
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    int64_t B = s[i].B, T = s[i].T, H = s[i].H;
    lra_tensor *w = lra_cast(lra_sample_input(g, "w", "normal", LRA_SHAPE(H, 4 * H)), lra_real(g));
    lra_tensor *src[] = {lra_sample_input(g, "h", "normal", LRA_SHAPE(B, T, H)),
                         lra_sample_input(g, "x", "normal", LRA_SHAPE(B, T, 4 * H)), w,
                         lra_sample_input(g, "limit", "index:6", LRA_SHAPE(1)), NULL};
    if (s[i].padded) src[4] = lra_sample_input(g, "length", "length:7", LRA_SHAPE(B));
    const lstm_args a = {s[i].back, s[i].padded};
    return lra_node(&lra_op_lstm_windowed, g, 4 + s[i].padded, src, &a, sizeof a);
}

const lra_op lra_op_lstm_windowed = {.name = "lstm_windowed",
                                     .flags = LRA_INPLACE | LRA_NOGRAD,
                                     .shape = shape,
                                     .flops = flops,
                                     .scratch = scratch,
                                     .cuda_scratch = lra_no_scratch,
                                     .cpu = LRA_BODIES(lstm_windowed),
                                     .sample = sample};
#endif
