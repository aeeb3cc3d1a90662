/* Dense matrix products on a GPU, by cuBLASLt: algorithms by its heuristic, never by timing, so
 * that results are bit-reproducible on the same type of GPU.  float32 is true float32 (no TF32),
 * bf16 is summed in float32. */
#ifndef LRA_CUDA_GEMM_H
#define LRA_CUDA_GEMM_H

#include "kernels/graph/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* c = op(a) op(b) + residual, row-major: op(a): (M,K), op(b): (K,N), c: (M,N); op transposes where
 * a_t, b_t are set. */
typedef struct {
    bool a_t, b_t;
    int64_t M, N, K;
    int64_t n_products, a_step, b_step; /* elements between products, 0: shared by all; c: M N */
    lra_type type, c_type;              /* of a and b; of c: LRA_F32 or LRA_BF16 */
    const void *residual;               /* as c is, added to it; Nullable */
} lra_cuda_product;

/* The device reports errors after the call has returned. */
void lra_cuda_gemm(const lra_cuda_product *p, const void *a, const void *b, void *c, void *stream);
/* Optional epilogue of a float32 product: c = relu(op(a) op(b) + residual + bias). */
typedef struct {
    const float *bias; /* Nullable */
    bool relu;
} lra_cuda_epilogue;
/* false: the library has no such kernel, nothing was queued. */
bool lra_cuda_gemm_to(const lra_cuda_product *p, const void *a, const void *b,
                      const lra_cuda_epilogue *x, void *c, void *stream);

#ifdef __cplusplus
}
#endif
#endif
