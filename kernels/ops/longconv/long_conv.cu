/* Long convolution and its gradients on a GPU. */
#include "kernels/ops/longconv/long_conv_fft_cuda.h"
#include "kernels/ops/longconv/long_conv_rows_cuda.h"

/* Sources: x (dy in the backward pass), kernel, [length]. */
LRA_CUDA_BODY(long_conv)
{
    const long_conv_args *a = (const long_conv_args *)c->y->args;
    long_conv_job j = long_conv_job_of(a, &c->y->shape, lra_width(c->y->src[1]),
                                       a->has_length ? c->in[2] : NULL);
    auto run = long_conv_points(j.T, j.L) ? long_conv_fft : long_conv_rows;
    run(&j, (const elem *)c->in[0], (const real *)c->in[1], (elem *)c->out, (real *)c->scratch,
        stream);
}

/* Sources: x, dy, [length]. */
LRA_CUDA_BODY(long_conv_dk)
{
    const long_conv_args *a = (const long_conv_args *)c->y->args;
    long_conv_job j = long_conv_job_of(a, &c->y->src[0]->shape, a->L,
                                       a->has_length ? c->in[2] : NULL);
    auto run = long_conv_points(j.T, j.L) ? long_conv_dk_fft : long_conv_dk_rows;
    run(&j, (const elem *)c->in[0], (const elem *)c->in[1], (real *)c->out, (real *)c->scratch,
        stream);
}
