/* y = a b (+ residual), batched, on a GPU. */
#include "kernels/cuda/gemm.h"
#include "kernels/ops/cuda_common.h"

LRA_CUDA_BODY(matmul)
{
    const lra_tensor *y = c->y, *a = y->src[0], *b = y->src[1];
    const matmul_args *args = (const matmul_args *)y->args;
    int last = y->shape.n - 1;
    lra_cuda_product p = {args->a_t, args->b_t, y->shape.d[last - 1], y->shape.d[last], 0, 0, 0, 0,
                          ELEM_TYPE, ELEM_TYPE};
    if (args->has_residual) p.residual = c->in[2];
    p.K = a->shape.d[args->a_t ? a->shape.n - 2 : a->shape.n - 1];
    p.n_products = lra_elements(y) / (p.M * p.N);
    p.a_step = a->shape.n > 2 ? p.M * p.K : 0;
    p.b_step = b->shape.n > 2 ? p.K * p.N : 0;
    if (p.b_step == 0 && !args->a_t && p.a_step > 0) { /* all rows form one product */
        p.M *= p.n_products;
        p.n_products = 1;
    }
    lra_cuda_gemm(&p, c->in[0], c->in[1], c->out, stream);
}
