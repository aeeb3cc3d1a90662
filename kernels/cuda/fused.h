/* Fused kernels, which save memory traffic:
 *   backward pass of a dense layer and of the activation before it (matmul, activation_backward and
 *     the column sums, i.e. the bias gradient), in bf16: activation gradient and sums are computed
 *     in the epilogue of the product;
 *   backward pass of layer norm (layer_norm_dx, the sum with the residual gradient, and the sums
 *     for gain and bias): x and dy are read once. */
#ifndef LRA_CUDA_FUSED_H
#define LRA_CUDA_FUSED_H

#include "kernels/graph/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LRA_NORM_WIDEST = 512, /* maximum number of columns whose sums fit in registers */
    LRA_DENSE_MOST = 1024, /* maximum number of channels: see linear.cu */
    LRA_DENSE_ROWS = 128   /* rows per partial sum */
};

lra_fuse lra_cuda_fuses(const lra_tensor *const *group, int n, const lra_tensor *next);
int64_t lra_cuda_fused_scratch(const lra_tensor *const *group, int n);
/* Finds the call of the fused group that has this op. NULL: the group has none. */
const lra_call *lra_fused_of(const lra_call *calls, int n, const lra_op *op);
void lra_cuda_fused_f32(const lra_call *calls, int n, void *stream);
void lra_cuda_fused_bf16(const lra_call *calls, int n, void *stream);

#ifdef __cplusplus
}
#endif
#endif
