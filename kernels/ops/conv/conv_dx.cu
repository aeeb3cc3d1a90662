/* Gradient of a convolution with respect to x on a GPU: the convolution kernels with reversed taps
 * and with input and output channels exchanged. Formulas: conv_dx.c. */
#include "kernels/ops/conv/conv_cuda.h"

LRA_CUDA_BODY(conv_dx)
{
    const conv_dx_args *a = (const conv_dx_args *)c->y->args;
    const lra_shape *w = &c->y->src[1]->shape;
    int64_t K = w->d[0], H = w->d[2], n_out = w->d[1], n_in = H / a->groups, tap = n_out * H;
    conv_job j = {c->y->shape.d[0],
                  c->y->shape.d[1],
                  K,
                  conv_dilation(a->dilation, c->y->shape.d[1]),
                  a->groups,
                  n_in,
                  n_out,
                  (K - 1) * tap,
                  -tap,
                  1,
                  H,
                  n_in,
                  (const elem *)c->in[0],
                  (const elem *)c->in[1],
                  NULL,
                  NULL,
                  LRA_ACT_NONE,
                  (elem *)c->out};
    if (a->has_length) j.length = (const int32_t *)c->in[2];
    conv_cuda_run(&j, stream);
}
