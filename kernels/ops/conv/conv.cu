/* Convolution over time on a GPU; formulas: conv.c. */
#include "kernels/ops/conv/conv_cuda.h"

LRA_CUDA_BODY(conv)
{
    const conv_args *a = (const conv_args *)c->y->args;
    const lra_shape *w = &c->y->src[1]->shape;
    int64_t H = w->d[2], n_in = w->d[1], n_out = H / a->groups;
    conv_job j = {c->y->shape.d[0],
                  c->y->shape.d[1],
                  w->d[0],
                  conv_dilation(a->dilation, c->y->shape.d[1]),
                  a->groups,
                  n_in,
                  n_out,
                  0,
                  n_in * H,
                  H,
                  1,
                  n_out,
                  (const elem *)c->in[0],
                  (const elem *)c->in[1],
                  NULL,
                  NULL,
                  a->act,
                  (elem *)c->out};
    if (a->has_bias) j.bias = (const real *)c->in[2];
    if (a->has_length) j.length = (const int32_t *)c->in[2 + a->has_bias];
    conv_cuda_run(&j, stream);
}
