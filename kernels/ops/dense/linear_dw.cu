/* Weight gradient of a dense layer on a GPU: dw = x^T dy, summed over all rows. */
#include "kernels/cuda/gemm.h"
#include "kernels/ops/cuda_common.h"

LRA_CUDA_BODY(linear_dw)
{
    const lra_tensor *x = c->y->src[0], *dy = c->y->src[1];
    lra_cuda_product p = {true, false, lra_width(x), lra_width(dy), lra_rows(x), 1,
                          0,    0,     ELEM_TYPE,    LRA_F32};
    lra_cuda_gemm(&p, c->in[0], c->in[1], c->out, stream);
}
