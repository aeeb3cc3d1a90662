/* Linear recurrence of a matrix state S (V,K), head by head:
 *   S_t = S_(t-1) (diag(w_t) - a_t b_t^T) + v_t k_t^T,  y_t = S_t q_t,  S_(-1) = 0
 * Linear attention, RetNet, GLA and Mamba-2 have a decay w only; the delta rule adds a = beta k,
 * b = k (DeltaNet); Gated DeltaNet, KDA and RWKV-7 have both. A value channel of ones yields the
 * normaliser of mLSTM.
 * Padding after the length of an example yields 0. With `back`, the recurrence runs from the last
 * token to the first.
 * y is linear in v: y_t = sum_(j <= t) A_tj v_j with the effective attention
 *   A_tj = k_j . z_j,  z_t = q_t,  z_(j-1) = w_j z_j - (b_j . z_j) a_j
 * A distance limit r sets A_tj = 0 for t - j > r; this sum then replaces the state: 4 to 8 K FLOP
 * for each pair, K reals of memory.
 * Without a limit: 8 K V FLOP for each token (5 K V without a, b). A thread processes a head of an
 * example; the state (16 KiB for K = V = 64) stays in the L1 cache.
 * Source: Yang et al. 2024, arXiv:2406.06484 (delta rule) and arXiv:2412.06464 (gated). */
#include <omp.h>
#include <stdio.h>

#include "kernels/graph/distance_limit.h"
#include "kernels/ops/ssm/matrix_state_template.h"

/* Reals of a thread: vectors of a head, y, the state. */
static inline int64_t forward_reals(matrix_state_sizes s)
{
    int64_t KP = padded(s.K, WIDTH), VP = padded(s.V, ROWS);
    return padded(head_reals(s) + s.T * VP + VP * KP, 16);
}

/* Tokens [from, to) of ROWS rows of the state. y: (T,VP) */
LRA_ROW_FN void run_rows(const head *x, int64_t row, int64_t from, int64_t to, bool decays,
                         bool corrects, real *state, real *y)
{
    int64_t KP = x->KP, VP = x->VP;
    for (int64_t t = from; t < to; t++) {
        real u[ROWS];
        step_rows(KP, decays ? x->w + t * KP : NULL, corrects ? x->a + t * KP : NULL,
                  corrects ? x->b + t * KP : NULL, x->k + t * KP, x->q + t * KP,
                  x->v + t * VP + row, state + row * KP, state + row * KP, u, y + t * VP + row);
    }
}

static inline void run_head(const head *x, real *state, real *y)
{
    memset(state, 0, (size_t)(x->VP * x->KP) * sizeof *state);
    for (int64_t from = 0; from < x->tokens; from += CHUNK) {
        int64_t to = from + CHUNK < x->tokens ? from + CHUNK : x->tokens;
        for (int64_t row = 0; row < x->VP; row += ROWS) {
            if (x->a && x->w)
                run_rows(x, row, from, to, true, true, state, y);
            else if (x->a)
                run_rows(x, row, from, to, false, true, state, y);
            else if (x->w)
                run_rows(x, row, from, to, true, false, state, y);
            else
                run_rows(x, row, from, to, false, false, state, y);
        }
    }
}

/* The same with a distance limit. z: (2,KP) */
static inline void run_limited(const head *x, real *z, real *y)
{
    int64_t KP = x->KP, VP = x->VP;
    for (int64_t t = 0; t < x->tokens; t++) {
        real *now = z, *next = z + KP, *out = y + t * VP;
        memset(out, 0, (size_t)VP * sizeof *out);
        memcpy(now, x->q + t * KP, (size_t)KP * sizeof *now);
        for (int64_t j = t; j >= 0 && t - j <= x->limit; j--) {
            real weight = dot(x->k + j * KP, now, KP), *free = now;
            for (int64_t i = 0; i < VP; i++) out[i] += weight * x->v[j * VP + i];
            step_back(x, j, now, next);
            now = next, next = free;
        }
    }
}

/* Sources: q, k, v, [w], [a, b], [length], [limit]. */
LRA_BODY(matrix_state)
{
    matrix_state_sizes s = matrix_state_sizes_of(c->y, 0);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t i = 0; i < s.B * s.H; i++) {
        real *at = (real *)c->scratch + omp_get_thread_num() * forward_reals(s);
        head_place p;
        head x = read_head(c, 0, i, &p, &at);
        real *y = at, *state = y + s.T * x.VP;
        if (x.limit < s.T - 1)
            run_limited(&x, state, y);
        else
            run_head(&x, state, y);
        for (int64_t k = 0; k < s.T; k++) {
            int64_t t = k < x.tokens ? matrix_state_place(p.back, k, x.tokens) : k;
            elem *out = (elem *)c->out + ((p.b * s.T + t) * s.H + p.h) * s.V;
            for (int64_t v = 0; v < s.V; v++) out[v] = k < x.tokens ? e_store(y[k * x.VP + v]) : 0;
        }
    }
}

#if LRA_RECORD
LRA_DECLARE(matrix_state)

/* Checks a source (B,T,H,width). */
static int check_source(const lra_tensor *x, matrix_state_sizes s, int64_t width, const char *name,
                        lra_err *e)
{
    if (lra_expect_float(x, name, e) != 0) return LRA_FAILED;
    return lra_expect_shape(x, LRA_SHAPE(s.B, s.T, s.H, width), name, e);
}

int lra_matrix_state_check(const lra_tensor *y, int first, lra_err *e)
{
    const matrix_state_args *a = y->args;
    lra_tensor *const *src = y->src + first;
    if (src[0]->shape.n != 4 || src[2]->shape.n != 4)
        return lra_fail(e, "q and v must be (B,T,H,K) and (B,T,H,V)");
    if (a->decays && src[STATE_W]->shape.n != 4) return lra_fail(e, "w must be (B,T,H,K or 1)");
    matrix_state_sizes s = matrix_state_sizes_of(y, first);
    if (a->decays && s.W != 1 && s.W != s.K)
        return lra_fail(e, "w has width %lld; expected 1 or %lld", (long long)s.W, (long long)s.K);
    static const char *const name[] = {"q", "k", "v", "w", "a", "b"};
    const int64_t width[] = {s.K, s.K, s.V, s.W, s.K, s.K};
    for (int i = 0; i <= STATE_B; i++) {
        int at = matrix_state_source(a, i);
        if (at >= 0 && check_source(src[at], s, width[i], name[i], e) != 0) return LRA_FAILED;
    }
    int length = matrix_state_source(a, STATE_LENGTH), at = matrix_state_source(a, STATE_LIMIT);
    if (lra_expect_length(length < 0 ? NULL : src[length], s.B, e) != 0) return LRA_FAILED;
    const lra_tensor *limit = at < 0 ? NULL : src[at];
    if (limit && (limit->type != LRA_I32 || limit->shape.n != 1 ||
                  (limit->shape.d[0] != 1 && limit->shape.d[0] != s.H)))
        return lra_fail(e, "the distance limit must be one int32, or one for each of %lld heads",
                        (long long)s.H);
    return 0;
}

static int shape(lra_tensor *y, lra_err *e)
{
    if (lra_matrix_state_check(y, 0, e) != 0) return LRA_FAILED;
    y->shape = y->src[2]->shape;
    y->type = lra_elem(y->graph);
    return 0;
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const matrix_state_args *a = y->args;
    matrix_state_sizes s = matrix_state_sizes_of(y, 0);
    lra_tensor *src[1 + STATE_ALL] = {dy};
    for (int i = 0; i < y->n_src; i++) src[1 + i] = y->src[i];
    lra_tensor *all = lra_node(&lra_op_matrix_state_grad, y->graph, 1 + y->n_src, src, a,
                               sizeof *a);
    for (int i = 0; i <= STATE_B; i++) {
        int at = matrix_state_source(a, i);
        if (at < 0) continue;
        lra_tensor *x = y->src[at];
        lra_tensor *part = lra_slice(all, 0, matrix_state_offset(a, s, i), lra_elements(x));
        dx[at] = lra_cast(lra_reshape(part, x->shape), x->type);
    }
}

/* FLOP of the recurrence, per token and element of the state: 2 for v k^T and 2 for S q; 1 for the
 * decay; 4 for a and b. */
static double flops(const lra_tensor *y)
{
    const matrix_state_args *a = y->args;
    matrix_state_sizes s = matrix_state_sizes_of(y, 0);
    return (double)(s.B * s.T * s.H) * (double)(s.K * s.V) * (4 + a->decays + 4 * a->corrects);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    return n_threads * forward_reals(matrix_state_sizes_of(y, 0)) *
           (int64_t)lra_type_size(lra_real(y->graph));
}

lra_tensor *lra_matrix_state(const lra_matrix_state_spec *m)
{
    lra_graph *g = m->query->graph;
    lra_tensor *limit = lra_next_limits(g, m->query->shape.n == 4 ? m->query->shape.d[2] : 1);
    const matrix_state_args a = {m->back, m->decay != NULL, m->correct != NULL, m->length != NULL,
                                 limit != NULL};
    lra_tensor *src[STATE_ALL] = {m->query, m->key, m->value};
    int n = STATE_W;
    if ((m->correct == NULL) != (m->read == NULL))
        lra_graph_fail(g, "a matrix state needs both vectors of its correction, or neither");
    if (m->decay) src[n++] = m->decay;
    if (m->correct) src[n++] = m->correct, src[n++] = m->read;
    if (m->length) src[n++] = m->length;
    if (limit) src[n++] = limit;
    return lra_node(&lra_op_matrix_state, g, n, src, &a, sizeof a);
}

/* Test samples: every combination of decay and correction; both directions; widths below, equal to
 * and above a vector; more than one chunk; limits for all heads and for each head. */
static const struct {
    int64_t B, T, H, K, V, W;
    bool corrects, back, length;
    int limits;
} cases[] = {
    {2, 6, 2, 3, 2, 0, false, false, true, 0},  {2, 5, 1, 4, 5, 1, false, true, true, 0},
    {1, 7, 2, 3, 3, 3, false, false, false, 0}, {2, 6, 1, 3, 4, 0, true, true, true, 0},
    {1, 5, 2, 17, 3, 1, true, false, true, 0},  {2, 6, 2, 4, 3, 4, true, true, true, 0},
    {1, 70, 1, 2, 2, 2, true, false, true, 0},  {2, 6, 2, 3, 2, 3, true, false, true, 1},
    {1, 9, 2, 2, 3, 1, true, true, true, 2},    {2, 5, 1, 3, 2, 0, false, false, false, 1}};

/* Source of a sample, scaled so that the state does not grow. */
static lra_tensor *source(lra_graph *g, const char *name, const char *fill, lra_shape s,
                          double scale, double offset)
{
    return lra_affine(lra_sample_input(g, name, fill, s), scale, offset);
}

static lra_tensor *sample_node(lra_graph *g, int i, const lra_op *op)
{
    if (i >= (int)(sizeof cases / sizeof *cases)) return NULL;
    int64_t B = cases[i].B, T = cases[i].T, H = cases[i].H, K = cases[i].K;
    const matrix_state_args a = {cases[i].back, cases[i].W > 0, cases[i].corrects, cases[i].length,
                                 cases[i].limits > 0};
    lra_shape wide = LRA_SHAPE(B, T, H, K), values = LRA_SHAPE(B, T, H, cases[i].V);
    double scale = 0.7 / sqrt((double)K);
    lra_tensor *src[1 + STATE_ALL] = {NULL};
    int n = 0;
    if (op != &lra_op_matrix_state) src[n++] = lra_sample_input(g, "dy", "normal", values);
    src[n++] = lra_sample_input(g, "q", "normal", wide);
    src[n++] = lra_sample_input(g, "k", "normal", wide);
    src[n++] = lra_sample_input(g, "v", "normal", values);
    if (a.decays) src[n++] = source(g, "w", "positive", LRA_SHAPE(B, T, H, cases[i].W), 0.8, 0.1);
    if (a.corrects) {
        src[n++] = source(g, "a", "normal", wide, scale, 0);
        src[n++] = source(g, "b", "normal", wide, scale, 0);
    }
    char fill[24];
    snprintf(fill, sizeof fill, "length:%d", (int)T);
    if (a.has_length) src[n++] = lra_sample_input(g, "length", fill, LRA_SHAPE(B));
    if (a.has_limit) src[n++] = lra_sample_input(g, "limit", "index:6", LRA_SHAPE(cases[i].limits));
    return lra_node(op, g, n, src, &a, sizeof a);
}

lra_tensor *lra_matrix_state_grad_sample(lra_graph *g, int i)
{
    return sample_node(g, i, &lra_op_matrix_state_grad);
}
static lra_tensor *sample(lra_graph *g, int i)
{
    return sample_node(g, i, &lra_op_matrix_state);
}

const lra_op lra_op_matrix_state = {.name = "matrix_state",
                                    .shape = shape,
                                    .grad = grad,
                                    .flops = flops,
                                    .scratch = scratch,
                                    .cuda_scratch = lra_no_scratch,
                                    .cpu = LRA_BODIES(matrix_state),
                                    .sample = sample};
#endif
