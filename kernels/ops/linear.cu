/* y = act(x w + bias) + residual on a GPU: the product and what its library can add to it; the rest is one
 * pass over the sums, which are float32 until then. */
#include "kernels/cuda/gemm.h"
#include "kernels/ops/activation.h"
#include "kernels/ops/cuda_fn.h"

static __global__ void finish_kernel(int64_t rows, int64_t H, bool wide, lra_act act,
                                     const real *sum, const real *bias, const elem *residual,
                                     elem *y)
{
    for (EACH_ROW(row, rows)) {
        for (EACH_LANE8(d, H)) {
            real v[LRA_LANES], b[LRA_LANES] = {0}, r[LRA_LANES] = {0};
            int64_t i = row * H + d;
            load8(sum, LRA_F32, i, H - d, wide, v);
            if (bias) load8(bias, LRA_F32, d, H - d, wide, b);
            if (residual) load8(residual, ELEM_TYPE, i, H - d, wide, r);
            for (int k = 0; k < LRA_LANES; k++) v[k] = act_value(act, v[k] + b[k]) + r[k];
            store8(y, ELEM_TYPE, i, H - d, wide, v);
        }
    }
}

/* scratch, of bf16: the sums */
LRA_CUDA_BODY(linear)
{
    const linear_args *a = (const linear_args *)c->y->args;
    int64_t M = lra_rows(c->y), H = lra_width(c->y), D = lra_width(c->y->src[0]);
    const real *bias = a->has_bias ? (const real *)c->in[2] : NULL;
    const elem *residual = a->has_residual ? (const elem *)c->in[2 + a->has_bias] : NULL;
    lra_cuda_product p = {false, false, M, H, D, 1, 0, 0, ELEM_TYPE, ELEM_TYPE};
    bool simple = !residual && (a->act == LRA_ACT_NONE || a->act == LRA_ACT_RELU);
    if (simple && bias &&
        lra_cuda_gemm_bias(&p, c->in[0], c->in[1], bias, a->act == LRA_ACT_RELU, c->out, stream))
        return;
    bool plain = simple && !bias && a->act == LRA_ACT_NONE;
    real *sum = LRA_PASS == 16 ? (real *)c->scratch : (real *)c->out;
    if (!plain) p.c_type = LRA_F32;
    lra_cuda_gemm(&p, c->in[0], c->in[1], plain ? c->out : (void *)sum, stream);
    if (plain) return;
    bool wide = H % LRA_LANES == 0 && is_aligned(bias, residual, c->out);
    LRA_LAUNCH(finish_kernel, lra_grid(M, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, M, H, wide,
               a->act, sum, bias, residual, (elem *)c->out);
}
