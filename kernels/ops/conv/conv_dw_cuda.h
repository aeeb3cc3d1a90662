/* Arguments of the CUDA kernels of a convolution's weight gradient. */
#ifndef LRA_OPS_CONV_CONV_DW_CUDA_H
#define LRA_OPS_CONV_CONV_DW_CUDA_H

#include "kernels/ops/conv/conv_dw_parts.h"
#include "kernels/ops/cuda_common.h"

typedef struct {
    conv_dw_sizes s;
    int64_t n_parts;
    const elem *x, *dy;
    const int32_t *length; /* (B) lengths; NULL: no padding */
    real *part;            /* partial gradients: (n_parts, K, n_in, H) */
} dw_job;

/* Distance in rows from the middle tap to tap k. */
LRA_DEV int64_t dw_shift(const dw_job *j, int64_t k)
{
    return (k - (j->s.K - 1) / 2) * j->s.dilation;
}

/* True if row number `row` of B T contributes to a tap: both t and t + shift lie within the
 * sample. */
LRA_DEV bool dw_row(const dw_job *j, int64_t row, int64_t shift)
{
    int64_t b = row / j->s.T, t = row % j->s.T, length = j->s.T;
    if (j->length && j->length[b] < length) length = j->length[b];
    return t < length && t + shift >= 0 && t + shift < length;
}

#endif
