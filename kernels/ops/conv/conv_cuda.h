/* Arguments of the CUDA kernels of a convolution. conv.cu uses them for the forward pass.
 * conv_dx.cu uses them with reversed taps and with input and output channels exchanged. */
#ifndef LRA_OPS_CONV_CONV_CUDA_H
#define LRA_OPS_CONV_CONV_CUDA_H

#include "kernels/ops/elementwise/activation.h"
#include "kernels/ops/cuda_common.h"

/* n_in, n_out: channels of one group. The weight w[k][i][o] of a group is at w[start + k tap + i in
 * + o out]; `start` advances by `group` from one group to the next. */
typedef struct {
    int64_t B, T, K, dilation, groups, n_in, n_out;
    int64_t start, tap, in, out, group;
    const elem *x, *w;
    const real *bias;      /* NULL: no bias */
    const int32_t *length; /* (B) lengths; NULL: no padding */
    lra_act act;
    elem *y;
    /* Used by the mma.sync kernel only. residual: added after the activation. gate: if set, y is
     * multiplied by the derivative of the activation `slope` at gate. columns: receives the column
     * sums of y, (tiles of rows, H), for one group. Nullable: all */
    const elem *residual, *gate;
    lra_act slope;
    real *columns;
} conv_job;

/* Effective dilation: a dilation of more than T is equivalent to T. */
static inline int64_t conv_dilation(int64_t dilation, int64_t T)
{
    return dilation < T || T < 1 ? dilation : T;
}
/* Distance in rows from the first tap to the middle one, and from the middle one to the last. */
LRA_FN int64_t conv_half(const conv_job *j)
{
    return (j->K - 1) / 2 * j->dilation;
}
/* Range [first, end) of the taps that read at least one row: 0 <= t + k dilation - half < length
 * for some t in [t0, t0 + rows). */
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

/* Launches the convolution. Defined in conv_run.cu, which is compiled once per LRA_TYPE. */
#define conv_cuda_run LRA_CAT3(lra_cuda_, conv_run, LRA_TYPE)
extern "C" void conv_cuda_run(const conv_job *j, void *stream);
/* Computes a dense layer, which is a convolution with one tap, in bf16 on tensor cores, with bias,
 * activation, residual and gate in the epilogue. Returns false, without a launch, for unsupported
 * sizes or compute capabilities. */
#define conv_cuda_dense LRA_CAT3(lra_cuda_, conv_dense, LRA_TYPE)
extern "C" bool conv_cuda_dense(const conv_job *j, void *stream);

LRA_DEV int64_t conv_length(const conv_job *j, int64_t b)
{
    int64_t n = j->length ? j->length[b] : j->T;
    return n < j->T ? n : j->T;
}

/* Input (b, t, i) of group g; zero outside of the sample. */
LRA_DEV real conv_x(const conv_job *j, int64_t b, int64_t t, int64_t length, int64_t g, int64_t i)
{
    if (t < 0 || t >= length) return 0;
    return e_load(j->x[((b * j->T + t) * j->groups + g) * j->n_in + i]);
}

/* Stores y = act(sum + bias), or zero beyond the length. */
LRA_DEV void conv_finish(const conv_job *j, int64_t b, int64_t t, int64_t length, int64_t g,
                         int64_t o, real sum)
{
    int64_t column = g * j->n_out + o;
    real v = act_value(j->act, sum + (j->bias ? j->bias[column] : R(0.0)));
    j->y[(b * j->T + t) * j->groups * j->n_out + column] = e_store(t < length ? v : R(0.0));
}

#endif
