/* Complex diagonal recurrences over time, channel by channel:
 *   x[k] = lambda x[k-1] + u[k],  x[-1] = 0
 * k counts tokens from the first one of an example or, with `back`, from the last one. With a
 * distance limit r, only the last r+1 inputs are summed: x[k] = sum_(0 <= j <= r) lambda^j u[k-j].
 * Gradients: du[k] = conj(lambda) du[k+1] + dx[k], which is a scan in the opposite direction, and
 *   dlambda = sum_k g[k] conj(x[k-1] - (r+1) lambda^r u[k-r-1])
 * where g is du of the scan without a limit; without a limit the term with u is absent.
 * Rows (B,T,2N) hold N real parts, then N imaginary parts. u may be elem; x is real, because a
 * slowly decaying state is a sum of many inputs. Several vectors of channels are interleaved, which
 * hides the latency of the recurrence. With few examples and channels, chunks of a sequence run in
 * parallel, in three passes: the end states of all chunks from initial state 0, then the states
 * carried from chunk to chunk, then all tokens again from these states. The choice depends on the
 * shapes only, so that the result does not depend on the number of threads.
 * Windows (with a limit): the sequence is divided into blocks of r+1 tokens. Each window is the sum
 * of two parts, from its block's start to its last token, and from its first token to the end of
 * the previous block. Nothing is subtracted, so that tokens outside of the window leave no rounding
 * error. */
#include <omp.h>
#include <stdio.h>

#include "kernels/ops/ssm/scan_walk_template.h"

/* Number of work items (examples times channel groups) from which on sequences are not divided into
 * chunks. */
enum { WHOLE_FROM = 32 };

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Converts the end states of chunks with initial state 0 into the initial states of the chunks.
 * ends: (chunks,2N) of one example. */
static inline void carry(const walk *p, const real *lambda, bool conjugate, real *ends)
{
    int64_t end = p->vectors == VECTORS ? VECTORS * LANES : p->w;
    for (int64_t n = p->n0; n < p->n0 + end; n++) {
        c_number jump = c_power(scan_rate(lambda, n, p->N, conjugate), SCAN_CHUNK), s = c_of(0, 0);
        for (int64_t i = 0; i < scan_chunks(p->T); i++) {
            real *re = ends + i * 2 * p->N + n, *im = re + p->N;
            c_number own = c_of((double)*re, (double)*im);
            *re = (real)s.re, *im = (real)s.im;
            s = c_add(c_mul(jump, s), own);
        }
    }
}

static inline void scan_chunked(const lra_call *c, scan_sizes s)
{
    int64_t units = n_units(s.N), chunks = scan_chunks(s.T), pieces = s.B * chunks * units;
    const scan_args *a = c->y->args;
    real *ends = c->scratch;
#pragma omp parallel num_threads(c->n_threads)
    for (int pass = 0; pass < 3; pass++) {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < (pass == 1 ? s.B * units : pieces); i++) {
            int64_t unit = i % units, chunk = i / units % chunks;
            int64_t b = pass == 1 ? i / units : i / units / chunks, from = chunk * SCAN_CHUNK;
            int64_t to = from + SCAN_CHUNK < s.T ? from + SCAN_CHUNK : s.T;
            real *own = ends + b * chunks * 2 * s.N;
            walk p = walk_of(c, b, unit);
            state now = {0};
            if (pass == 1) {
                carry(&p, c->in[1], a->conjugate, own);
                continue;
            }
            if (pass == 2) now = read_state(&p, own + chunk * 2 * s.N);
            walk_steps(&p, from, to, pass == 2, &now);
            if (pass == 0) write_state(&p, &now, own + chunk * 2 * s.N);
            if (pass == 2) clear(&p, from, to);
        }
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

/* own[i - from] = sum of lambda^(to-1-j) u[j] over j from i to the end of the block [from, to). */
LRA_ROW_FN void sum_ends(const walk *p, int64_t from, int64_t to, int vectors, state *own)
{
    state sum = {0}, power = {0};
    for (int v = 0; v < vectors; v++) power.re[v] = lanes_of(1);
    for (int64_t k = to - 1; k >= from; k--) {
        for (int v = 0; v < vectors; v++) {
            int64_t at = at_step(p, k, v);
            lanes re = lanes_load(p->u, p->type, at, p->w), pr = power.re[v];
            lanes im = lanes_load(p->u, p->type, at + p->N, p->w), pi = power.im[v];
            sum.re[v] += pr * re - pi * im;
            sum.im[v] += pr * im + pi * re;
            power.re[v] = pr * p->re[v] - pi * p->im[v];
            power.im[v] = pr * p->im[v] + pi * p->re[v];
        }
        own[k - from] = sum;
    }
}

/* Computes the states x of one block [from, to). before: sum_ends() of the previous block; NULL:
 * there is none. */
LRA_ROW_FN void add_block(const walk *p, int64_t from, int64_t to, int64_t window, int vectors,
                          const state *before)
{
    state now = {0}, power = {0};
    for (int v = 0; v < vectors; v++) power.re[v] = p->re[v], power.im[v] = p->im[v];
    for (int64_t k = from; k < to; k++) {
        step(p->type, p, k, vectors, p->w, &now);
        const state *rest = before && k - from + 1 < window ? before + (k - from + 1) : NULL;
        for (int v = 0; v < vectors; v++) {
            int64_t at = at_step(p, k, v);
            lanes re = now.re[v], im = now.im[v], pr = power.re[v], pi = power.im[v];
            if (rest) {
                re += pr * rest->re[v] - pi * rest->im[v];
                im += pr * rest->im[v] + pi * rest->re[v];
            }
            lanes_store(p->x, LRA_F32, at, p->w, re);
            lanes_store(p->x, LRA_F32, at + p->N, p->w, im);
            power.re[v] = pr * p->re[v] - pi * p->im[v];
            power.im[v] = pr * p->im[v] + pi * p->re[v];
        }
    }
}

/* Scan with windows of `window` tokens. own: scratch, one state for each token of a block. */
static inline void scan_windows(const walk *p, int64_t window, state *own)
{
    for (int64_t from = 0; from < p->tokens; from += window) {
        int64_t to = from + window < p->tokens ? from + window : p->tokens;
        add_block(p, from, to, window, p->vectors, from ? own : NULL);
        sum_ends(p, from, to, p->vectors, own);
    }
    clear(p, 0, p->T);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Sources: u, lambda, [length], [limit]. Scratch: end states of chunks, or the states of a block
 * for each thread. */
LRA_BODY(scan)
{
    const scan_args *a = c->y->args;
    scan_sizes s = scan_sizes_of(c->y);
    int64_t units = n_units(s.N), limit = s.T;
    if (a->has_limit) limit = *(const int32_t *)c->in[2 + a->has_length];
    if (limit < 0) limit = 0;
    if (limit >= s.T - 1 && s.B * units < WHOLE_FROM) {
        scan_chunked(c, s);
        return;
    }
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t i = 0; i < s.B * units; i++) {
        walk p = walk_of(c, i / units, i % units);
        state now = {0};
        if (limit < s.T - 1) {
            scan_windows(&p, limit + 1, (state *)c->scratch + omp_get_thread_num() * s.T);
            continue;
        }
        walk_steps(&p, 0, s.T, true, &now);
        clear(&p, 0, s.T);
    }
}

#if LRA_RECORD
LRA_DECLARE(scan)

static int check_rows(const lra_tensor *y, const lra_tensor *u, lra_err *e)
{
    const scan_args *a = y->args;
    if (lra_expect_float(u, "the source", e) != 0) return LRA_FAILED;
    if (u->shape.n != 3 || u->shape.d[2] % 2)
        return lra_fail(e, "the source is not (B,T,2N), real and imaginary parts");
    return lra_expect_length(a->has_length ? y->src[2] : NULL, u->shape.d[0], e);
}

static int check_lambda(const lra_tensor *y, const lra_tensor *lambda, int64_t N, lra_err *e)
{
    if (lambda->type != lra_real(y->graph)) return lra_fail(e, "lambda must be real");
    return lra_expect_shape(lambda, LRA_SHAPE(2, N), "lambda", e);
}

static int shape(lra_tensor *y, lra_err *e)
{
    const scan_args *a = y->args;
    const lra_tensor *u = y->src[0];
    if (check_rows(y, u, e) != 0) return LRA_FAILED;
    if (check_lambda(y, y->src[1], u->shape.d[2] / 2, e) != 0) return LRA_FAILED;
    y->shape = u->shape;
    y->type = lra_real(y->graph);
    return a->has_limit ? lra_expect_limit(y->src[2 + a->has_length], e) : 0;
}

/* Gradient with respect to u: the scan of dy in the opposite direction, with conj(lambda). */
static lra_tensor *go_back(lra_tensor *y, lra_tensor *dy, bool limited)
{
    scan_args a = *(const scan_args *)y->args;
    lra_tensor *src[4] = {dy, y->src[1]};
    int n = 2;
    if (a.has_length) src[n++] = y->src[2];
    if (limited) src[n++] = y->src[2 + a.has_length];
    a.back = !a.back, a.conjugate = true, a.has_limit = limited;
    return lra_node(&lra_op_scan_dx, y->graph, n, src, &a, sizeof a);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const scan_args *a = y->args;
    lra_tensor *src[6] = {go_back(y, dy, false), y};
    int n = 2;
    dx[0] = lra_cast(a->has_limit ? go_back(y, dy, true) : src[0], y->src[0]->type);
    if (a->has_length) src[n++] = y->src[2];
    if (a->has_limit)
        src[n++] = y->src[0], src[n++] = y->src[1], src[n++] = y->src[2 + a->has_length];
    dx[1] = lra_node(&lra_op_scan_dlambda, y->graph, n, src, a, sizeof *a);
}

/* FLOP: a complex product and a complex sum for each element. */
static double flops(const lra_tensor *y)
{
    return 4.0 * (double)lra_elements(y);
}
static int64_t scratch(const lra_tensor *y, int n_threads)
{
    const scan_args *a = y->args;
    int64_t states = n_threads * y->shape.d[1] * 2 * MAX_CHANNELS *
                     (int64_t)lra_type_size(lra_real(y->graph));
    return a->has_limit && states > scan_ends(y) ? states : scan_ends(y);
}
static int64_t cuda_scratch(const lra_tensor *y)
{
    return scan_ends(y);
}
static lra_tensor *build(lra_tensor *u, lra_tensor *lambda, lra_tensor *length, lra_tensor *limit,
                         bool back)
{
    const scan_args a = {back, false, length != NULL, limit != NULL};
    lra_tensor *src[4] = {u, lambda};
    int n = 2;
    if (length) src[n++] = length;
    if (limit) src[n++] = limit;
    return lra_node(&lra_op_scan, u->graph, n, src, &a, sizeof a);
}

lra_tensor *lra_scan(lra_tensor *u, lra_tensor *length, const lra_scan_spec *s)
{
    return build(u, s->decay, length, lra_next_limit(u->graph), s->back);
}

typedef struct {
    int64_t B, T, N;
    bool back, length, limit;
} sample_case;

/* Test samples: both directions; one channel, part of a vector, all vectors and one more; several
 * chunks; so many examples that sequences are not divided; windows. */
static const sample_case cases[] = {
    {2, 7, 3, false, true, false},    {2, 7, 3, true, true, false},
    {1, 150, 1, false, false, false}, {1, 150, 2, true, true, false},
    {1, 3, 81, false, false, false},  {33, 4, 2, true, true, false},
    {2, 9, 3, false, true, true},     {2, 11, 18, true, true, true},
    {1, 5, 66, true, false, true}};

/* Creates the sources of a sample: u, lambda with magnitude below 1, and the optional ones. */
static lra_tensor *sources(lra_graph *g, const sample_case *s, lra_tensor **lambda,
                           lra_tensor **length, lra_tensor **limit)
{
    char fill[24];
    lra_tensor *size = lra_cast(lra_sample_input(g, "lambda", "positive", LRA_SHAPE(2, s->N)),
                                lra_real(g));
    *lambda = lra_affine(size, 0.6, s->back ? -0.1 : 0.1);
    snprintf(fill, sizeof fill, "length:%d", (int)s->T);
    *length = s->length ? lra_sample_input(g, "length", fill, LRA_SHAPE(s->B)) : NULL;
    *limit = s->limit ? lra_sample_input(g, "limit", "index:6", LRA_SHAPE(1)) : NULL;
    return lra_sample_input(g, "u", "normal", LRA_SHAPE(s->B, s->T, 2 * s->N));
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i >= (int)(sizeof cases / sizeof *cases)) return NULL;
    lra_tensor *lambda, *length, *limit, *u = sources(g, &cases[i], &lambda, &length, &limit);
    return build(u, lambda, length, limit, cases[i].back);
}

static lra_tensor *dx_sample(lra_graph *g, int i)
{
    lra_tensor *y = sample(g, i);
    return y ? go_back(y, lra_sample_input(g, "dx", "normal", y->shape),
                       ((const scan_args *)y->args)->has_limit)
             : NULL;
}

const lra_op lra_op_scan = {.name = "scan",
                            .shape = shape,
                            .grad = grad,
                            .flops = flops,
                            .scratch = scratch,
                            .cuda_scratch = cuda_scratch,
                            .cpu = LRA_BODIES(scan),
                            .sample = sample};
const lra_op lra_op_scan_dx = {.name = "scan_dx",
                               .flags = LRA_NOGRAD,
                               .shape = shape,
                               .flops = flops,
                               .scratch = scratch,
                               .cuda_scratch = cuda_scratch,
                               .cpu = LRA_BODIES(scan),
                               .sample = dx_sample};
#endif
