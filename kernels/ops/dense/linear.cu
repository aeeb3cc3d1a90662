/* y = act(x w + bias) + residual on a GPU. In float32 cuBLAS computes those parts of the epilogue
 * that it supports. In bf16 the cuBLAS manual lists no float32 bias: layers of moderate width use
 * the convolution kernel, whose epilogue has all parts. For other layers the epilogue is one pass
 * over the sums, which are float32 until then. */
#include "kernels/cuda/gemm.h"
#include "kernels/ops/conv/conv_cuda.h"

/* Maximum number of input channels D for which the convolution kernel is used. It avoids the
 * epilogue pass, which takes 8 bytes per sum at 4.3 TB/s, 1.9 ps. Its mma.sync products take about
 * 1.5 times as long as the library's: 0.5 x 2 D / 770 TFLOP/s more per sum. */
enum { DENSE_MOST = 1024 };

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

static bool run_dense(const lra_call *c, const linear_args *a, const real *bias,
                      const elem *residual, void *stream)
{
    int64_t M = lra_rows(c->y), H = lra_width(c->y), D = lra_width(c->y->src[0]);
    conv_job j = {1,
                  M,
                  1,
                  1,
                  1,
                  D,
                  H,
                  0,
                  D * H,
                  H,
                  1,
                  H,
                  (const elem *)c->in[0],
                  (const elem *)c->in[1],
                  bias,
                  NULL,
                  a->act,
                  (elem *)c->out,
                  residual};
    return LRA_TYPE_bf16 && D <= DENSE_MOST && M <= INT32_MAX / 2 && conv_cuda_dense(&j, stream);
}

/* Scratch: the float32 sums of a bf16 result. */
LRA_CUDA_BODY(linear)
{
    const linear_args *a = (const linear_args *)c->y->args;
    int64_t M = lra_rows(c->y), H = lra_width(c->y), D = lra_width(c->y->src[0]);
    const real *bias = a->has_bias ? (const real *)c->in[2] : NULL;
    const elem *residual = a->has_residual ? (const elem *)c->in[2 + a->has_bias] : NULL;
    lra_cuda_product p = {false, false, M, H, D, 1, 0, 0, ELEM_TYPE, ELEM_TYPE, residual};
    lra_cuda_epilogue more = {(const float *)bias, a->act == LRA_ACT_RELU};
    bool linear = a->act == LRA_ACT_NONE, plain = linear && !bias && !residual;
    if (!plain && (linear || (more.relu && !residual)) &&
        lra_cuda_gemm_to(&p, c->in[0], c->in[1], &more, c->out, stream))
        return;
    if (!plain && run_dense(c, a, bias, residual, stream)) return;
    real *sum = LRA_TYPE_bf16 ? (real *)c->scratch : (real *)c->out;
    if (!plain) p.c_type = LRA_F32, p.residual = NULL;
    lra_cuda_gemm(&p, c->in[0], c->in[1], plain ? c->out : (void *)sum, stream);
    if (plain) return;
    bool wide = H % LRA_LANES == 0 && is_aligned(bias, residual, c->out);
    LRA_LAUNCH(finish_kernel, lra_grid(M, LRA_BLOCK_WARPS), ROW_BLOCK, 0, stream, M, H, wide,
               a->act, sum, bias, residual, (elem *)c->out);
}
