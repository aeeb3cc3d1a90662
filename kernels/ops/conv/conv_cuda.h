/* The CUDA job of a convolution; conv.cu runs it forward and, with taps reversed and channels
 * exchanged, backward. */
#ifndef LRA_OPS_CONV_CONV_CUDA_H
#define LRA_OPS_CONV_CONV_CUDA_H

#include "kernels/ops/elementwise/activation.h"
#include "kernels/ops/cuda_common.h"

/* n_in, n_out: channels of one group.  Tap k of w[i][o] is at w[start + k tap + i in + o out], and
 * start advances by `group` from group to group. */
typedef struct {
    int64_t B, T, K, dilation, groups, n_in, n_out;
    int64_t start, tap, in, out, group;
    const elem *x, *w;
    const real *bias;      /* Nullable */
    const int32_t *length; /* Nullable */
    lra_act act;
    elem *y;
    /* Of mma.sync alone: residual, added after the activation; gate, y is multiplied by the slope
     * of an activation there; columns, sums of the columns of y (tiles of rows, H), of one group.
     * Nullable: all. */
    const elem *residual, *gate;
    lra_act slope;
    real *columns;
} conv_job;

/* A dilation of more than T is equivalent to T. */
static inline int64_t conv_dilation(int64_t dilation, int64_t T)
{
    return dilation < T || T < 1 ? dilation : T;
}
/* Distance in rows between the first tap and the middle one, and between that and the last. */
LRA_FN int64_t conv_half(const conv_job *j)
{
    return (j->K - 1) / 2 * j->dilation;
}
/* Taps [first, end) that read at least one row: 0 <= t + k dilation - half < length for some t in
 * [t0, t0 + rows). */
LRA_DEV int64_t conv_first_tap(const conv_job *j, int64_t t0, int64_t rows)
{
    int64_t before = conv_half(j) - t0 - (rows - 1);
    return before > 0 ? (before + j->dilation - 1) / j->dilation : 0;
}
LRA_DEV int64_t conv_end_tap(const conv_job *j, int64_t t0, int64_t length)
{
    int64_t after = length - t0 + conv_half(j);
    int64_t end = after > 0 ? (after + j->dilation - 1) / j->dilation : 0;
    return end < j->K ? end : j->K;
}

/* conv_run.cu, compiled once for each LRA_TYPE. */
#define conv_cuda_run LRA_CAT3(lra_cuda_, conv_run, LRA_TYPE)
extern "C" void conv_cuda_run(const conv_job *j, void *stream);
/* A dense layer is a convolution with one tap: of bf16, on tensor cores, everything in the
 * epilogue.  False: unsupported sizes or compute capability; nothing was launched. */
#define conv_cuda_dense LRA_CAT3(lra_cuda_, conv_dense, LRA_TYPE)
extern "C" bool conv_cuda_dense(const conv_job *j, void *stream);

LRA_DEV int64_t conv_length(const conv_job *j, int64_t b)
{
    int64_t n = j->length ? j->length[b] : j->T;
    return n < j->T ? n : j->T;
}

/* Element (b, t, i) of group g, zero outside the sample. */
LRA_DEV real conv_x(const conv_job *j, int64_t b, int64_t t, int64_t length, int64_t g, int64_t i)
{
    if (t < 0 || t >= length) return 0;
    return e_load(j->x[((b * j->T + t) * j->groups + g) * j->n_in + i]);
}

/* y = act(sum + bias), zero beyond the length. */
LRA_DEV void conv_finish(const conv_job *j, int64_t b, int64_t t, int64_t length, int64_t g,
                         int64_t o, real sum)
{
    int64_t column = g * j->n_out + o;
    real v = act_value(j->act, sum + (j->bias ? j->bias[column] : R(0.0)));
    j->y[(b * j->T + t) * j->groups * j->n_out + column] = e_store(t < length ? v : R(0.0));
}

#endif
