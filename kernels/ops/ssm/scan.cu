/* Scans on a GPU: one thread for each channel of a chunk of an example. There are three passes: the
 * end states of chunks from initial state 0, then the states carried from chunk to chunk, then all
 * tokens again from these states. With a distance limit each window is summed directly. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/ssm/scan_body.h"

typedef struct {
    scan_args a;
    scan_sizes s;
    lra_type type; /* type of u */
    const void *u;
    const real *lambda;
    const int32_t *length, *limit;
    real *x;
    real *ends; /* states of the chunks, (B,chunks,2,N) */
} scan_view;

#define EACH(i, n)                                                                                 \
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                                    \
    i < (n);                                                                                       \
    i += (int64_t)gridDim.x * blockDim.x

LRA_DEV bool is_cut(const scan_view *v)
{
    return v->limit && v->limit[0] < v->s.T - 1;
}

/* Processes one channel of a chunk. i: index of (example, chunk, channel); channels are the
 * fastest. written: starts from the state in `ends` and writes x; otherwise starts from 0 and
 * stores the end state. */
LRA_DEV void walk_chunk(const scan_view *v, int64_t i, bool written)
{
    int64_t N = v->s.N, T = v->s.T, chunks = scan_chunks(T), n = i % N, chunk = i / N % chunks;
    int64_t b = i / N / chunks, tokens = v->length ? v->length[b] : T, first = chunk * SCAN_CHUNK;
    int64_t end = first + SCAN_CHUNK < T ? first + SCAN_CHUNK : T;
    int64_t base = b * T * 2 * N + n;
    real *x = v->x + b * T * 2 * N + n;
    real *own = v->ends + (b * chunks + chunk) * 2 * N + n;
    real lr = v->lambda[n], li = v->a.conjugate ? -v->lambda[N + n] : v->lambda[N + n];
    real re = written ? own[0] : R(0.0), im = written ? own[N] : R(0.0);
    for (int64_t k = first; k < end && k < tokens; k++) {
        int64_t at = scan_place(v->a.back, k, tokens) * 2 * N;
        real next = lr * re - li * im + t_load(v->u, v->type, base + at);
        im = lr * im + li * re + t_load(v->u, v->type, base + at + N);
        re = next;
        if (written) x[at] = re, x[at + N] = im;
    }
    if (!written) own[0] = re, own[N] = im;
    for (int64_t t = first > tokens ? first : tokens; written && t < end; t++)
        x[t * 2 * N] = x[t * 2 * N + N] = 0;
}

static __global__ void end_kernel(scan_view v)
{
    if (is_cut(&v)) return;
    for (EACH(i, v.s.B * scan_chunks(v.s.T) * v.s.N)) walk_chunk(&v, i, false);
}

static __global__ void carry_kernel(scan_view v)
{
    if (is_cut(&v)) return;
    int64_t N = v.s.N, chunks = scan_chunks(v.s.T);
    for (EACH(i, v.s.B * N)) {
        c_number jump = c_power(scan_rate(v.lambda, i % N, N, v.a.conjugate), SCAN_CHUNK);
        c_number s = c_of(0, 0);
        for (int64_t chunk = 0; chunk < chunks; chunk++) {
            real *re = v.ends + (i / N * chunks + chunk) * 2 * N + i % N, *im = re + N;
            c_number own = c_of((double)*re, (double)*im);
            *re = (real)s.re, *im = (real)s.im;
            s = c_add(c_mul(jump, s), own);
        }
    }
}

static __global__ void walk_kernel(scan_view v)
{
    if (is_cut(&v)) return;
    for (EACH(i, v.s.B * scan_chunks(v.s.T) * v.s.N)) walk_chunk(&v, i, true);
}

/* Window sums, one thread for each element of x. The inputs are added from the most distant one
 * on. */
static __global__ void window_kernel(scan_view v)
{
    if (!is_cut(&v)) return;
    int64_t N = v.s.N, T = v.s.T, limit = v.limit[0] < 0 ? 0 : v.limit[0];
    for (EACH(i, v.s.B * T * N)) {
        int64_t n = i % N, k = i / N % T, b = i / N / T, tokens = v.length ? v.length[b] : T;
        int64_t base = b * T * 2 * N + n;
        real lr = v.lambda[n], li = v.a.conjugate ? -v.lambda[N + n] : v.lambda[N + n];
        real re = 0, im = 0;
        for (int64_t j = k < limit ? 0 : k - limit; j <= k && k < tokens; j++) {
            int64_t from = scan_place(v.a.back, j, tokens) * 2 * N;
            real next = lr * re - li * im + t_load(v.u, v.type, base + from);
            im = lr * im + li * re + t_load(v.u, v.type, base + from + N);
            re = next;
        }
        int64_t at = (b * T + (k < tokens ? scan_place(v.a.back, k, tokens) : k)) * 2 * N + n;
        v.x[at] = re, v.x[at + N] = im;
    }
}

/* Sources: u, lambda, [length], [limit]. */
LRA_CUDA_BODY(scan)
{
    const scan_args *a = (const scan_args *)c->y->args;
    scan_sizes s = scan_sizes_of(c->y);
    scan_view v = {*a,   s,   c->y->src[0]->type, c->in[0], (const real *)c->in[1], NULL, NULL,
                   NULL, NULL};
    if (a->has_length) v.length = (const int32_t *)c->in[2];
    if (a->has_limit) v.limit = (const int32_t *)c->in[2 + a->has_length];
    v.x = (real *)c->out, v.ends = (real *)c->scratch;
    unsigned chunks = lra_grid(s.B * scan_chunks(s.T) * s.N, LRA_BLOCK);
    LRA_LAUNCH(end_kernel, chunks, LRA_BLOCK, 0, stream, v);
    LRA_LAUNCH(carry_kernel, lra_grid(s.B * s.N, LRA_BLOCK), LRA_BLOCK, 0, stream, v);
    LRA_LAUNCH(walk_kernel, chunks, LRA_BLOCK, 0, stream, v);
    if (a->has_limit)
        LRA_LAUNCH(window_kernel, lra_grid(s.B * s.T * s.N, LRA_BLOCK), LRA_BLOCK, 0, stream, v);
}
