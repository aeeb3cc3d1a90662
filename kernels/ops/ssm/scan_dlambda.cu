/* Gradient of a scan's lambda on a GPU: one thread for each channel of a chunk. The chunks are then
 * added by blocks of 256 threads, in order and in double. */
#include "kernels/ops/columns_cuda.h"
#include "kernels/ops/ssm/scan_body.h"

#define EACH(i, n)                                                                                 \
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                                    \
    i < (n);                                                                                       \
    i += (int64_t)gridDim.x * blockDim.x

typedef struct {
    scan_args a;
    scan_sizes s;
    const real *g, *x;
    lra_type type;
    const void *u; /* inputs of the scan; NULL without a limit */
    const real *lambda;
    const int32_t *length, *limit;
    real *part; /* partial gradients: (B,chunks,2,N) */
    real *out;
} dlambda_view;

LRA_DEV c_number number_at(const void *x, lra_type t, int64_t at, int64_t N)
{
    return c_of((double)t_load(x, t, at), (double)t_load(x, t, at + N));
}

static __global__ void part_kernel(dlambda_view v)
{
    int64_t N = v.s.N, T = v.s.T, chunks = scan_chunks(T), limit = v.limit ? v.limit[0] : T;
    if (limit < 0) limit = 0;
    for (EACH(i, v.s.B * chunks * N)) {
        int64_t n = i % N, chunk = i / N % chunks, b = i / N / chunks, base = b * T * 2 * N + n;
        int64_t tokens = v.length ? v.length[b] : T, first = chunk * SCAN_CHUNK;
        c_number sum = c_of(0, 0), leaving = c_of(0, 0);
        if (v.u) leaving = scan_leaving(v.lambda, n, N, limit);
        for (int64_t k = first > 1 ? first : 1; k < first + SCAN_CHUNK && k < tokens; k++) {
            int64_t before = k - limit - 1;
            c_number g = number_at(v.g, LRA_F32, base + scan_place(v.a.back, k, tokens) * 2 * N, N);
            c_number p = number_at(v.x, LRA_F32, base + scan_place(v.a.back, k - 1, tokens) * 2 * N,
                                   N);
            if (v.u && before >= 0) {
                int64_t from = base + scan_place(v.a.back, before, tokens) * 2 * N;
                p = c_add(p, c_scale(c_mul(leaving, number_at(v.u, v.type, from, N)), -1));
            }
            sum = c_add(sum, c_mul(g, c_conj(p)));
        }
        real *own = v.part + (b * chunks + chunk) * 2 * N + n;
        own[0] = (real)sum.re, own[N] = (real)sum.im;
    }
}

/* Sources: g, x, [length], [u, lambda, limit]. */
LRA_CUDA_BODY(scan_dlambda)
{
    const scan_args *a = (const scan_args *)c->y->args;
    scan_sizes s = scan_sizes_of(c->y->src[0]);
    dlambda_view v = {
        *a,   s,    (const real *)c->in[0], (const real *)c->in[1], LRA_F32, NULL, NULL,
        NULL, NULL, (real *)c->scratch,     (real *)c->out};
    const void *const *rest = c->in + 2 + a->has_length;
    if (a->has_length) v.length = (const int32_t *)c->in[2];
    if (a->has_limit) {
        v.type = c->y->src[2 + a->has_length]->type, v.u = rest[0],
        v.lambda = (const real *)rest[1];
        v.limit = (const int32_t *)rest[2];
    }
    LRA_LAUNCH(part_kernel, lra_grid(s.B * scan_chunks(s.T) * s.N, LRA_BLOCK), LRA_BLOCK, 0, stream,
               v);
    add_blocks_any(v.part, 1, s.B * scan_chunks(s.T), 2 * s.N, v.out, stream);
}
