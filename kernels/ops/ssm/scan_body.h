/* Code shared by the C and CUDA bodies of scans. Index k counts tokens in the direction of the
 * scan: from the first token of an example, or from the last one. A sequence is divided into chunks
 * of a fixed number of tokens, which run in parallel; states are carried from chunk to chunk. */
#ifndef LRA_OPS_SSM_SCAN_BODY_H
#define LRA_OPS_SSM_SCAN_BODY_H

#include "kernels/graph/op.h"
#include "kernels/ops/ssm/complex_body.h"

enum { SCAN_CHUNK = 64 };

typedef struct {
    bool back;      /* scans from the last token to the first */
    bool conjugate; /* uses conj(lambda), for gradients */
    bool has_length, has_limit;
} scan_args;

typedef struct {
    int64_t B, T, N;
} scan_sizes;

static inline scan_sizes scan_sizes_of(const lra_tensor *u)
{
    scan_sizes s = {u->shape.d[0], u->shape.d[1], u->shape.d[2] / 2};
    return s;
}

LRA_FN int64_t scan_chunks(int64_t T)
{
    return (T + SCAN_CHUNK - 1) / SCAN_CHUNK;
}

/* Bytes of one state for each chunk of each example. */
static inline int64_t scan_ends(const lra_tensor *u)
{
    scan_sizes s = scan_sizes_of(u);
    return s.B * scan_chunks(s.T) * 2 * s.N * (int64_t)lra_type_size(lra_real(u->graph));
}

/* Position of token number k in the direction of the scan. */
LRA_FN int64_t scan_place(bool back, int64_t k, int64_t tokens)
{
    return back ? tokens - 1 - k : k;
}

/* lambda, or its conjugate, of channel n. lambda: (2,N) */
LRA_FN c_number scan_rate(const real *lambda, int64_t n, int64_t N, bool conjugate)
{
    double im = (double)lambda[N + n];
    return c_of((double)lambda[n], conjugate ? -im : im);
}

/* (r + 1) lambda^r: derivative of lambda^(r+1), the factor of the input that leaves a window of r+1
 * tokens, with respect to lambda. */
LRA_FN c_number scan_leaving(const real *lambda, int64_t n, int64_t N, int64_t r)
{
    return c_scale(c_power(scan_rate(lambda, n, N, false), r), (double)(r + 1));
}

#endif
