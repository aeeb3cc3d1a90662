/* Dense matrix products on a GPU, by cuBLASLt. Algorithms are selected by its heuristic, never by
 * timing, so that results are bit-reproducible on the same type of GPU. float32 products are true
 * float32 (no TF32); bf16 products have float32 sums. */
#ifndef LRA_CUDA_GEMM_H
#define LRA_CUDA_GEMM_H

#include "kernels/graph/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* c = op(a) op(b) + residual, row-major: op(a): (M,K), op(b): (K,N), c: (M,N). op transposes if a_t
 * or b_t is set. */
typedef struct {
    bool a_t, b_t;
    int64_t M, N, K;
    /* elements between consecutive operands (0: shared by all); results are M N apart */
    int64_t n_products, a_step, b_step;
    lra_type type, c_type; /* type of a and b; type of c, LRA_F32 or LRA_BF16 */
    const void *residual;  /* tensor that is added to the product; type and shape of c. Nullable */
} lra_cuda_product;

/* Queues a product. Errors are reported by the device later. */
void lra_cuda_gemm(const lra_cuda_product *p, const void *a, const void *b, void *c, void *stream);
/* Optional epilogue of a float32 product: c = relu(op(a) op(b) + residual + bias). */
typedef struct {
    const float *bias; /* NULL: no bias */
    bool relu;
} lra_cuda_epilogue;
/* Queues a product with an epilogue. Returns false, with nothing queued, if the library has no such
 * kernel. */
bool lra_cuda_gemm_to(const lra_cuda_product *p, const void *a, const void *b,
                      const lra_cuda_epilogue *x, void *c, void *stream);

#ifdef __cplusplus
}
#endif
#endif
