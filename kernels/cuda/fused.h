/* Nodes that run as one kernel on a GPU: bytes that need not go over the bus.
 *   the way back through a dense layer and the activation in front of it:  matmul, act_dx, and the sum of its columns,
 *     bf16: slope and sums in the epilogue of the product;
 *   the way back through layer norm:  layer_norm_dx, the sum with the gradient that goes around the norm, and the sums
 *     for gain and bias: x and dy are read once. */
#ifndef LRA_CUDA_FUSED_H
#define LRA_CUDA_FUSED_H

#include "kernels/graph/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LRA_NORM_WIDEST = 512, /* columns whose sums stay in registers */
    LRA_DENSE_MOST = 1024, /* channels: see linear.cu */
    LRA_DENSE_ROWS = 128   /* of a part of the sums */
};

lra_fuse lra_cuda_fuses(const lra_tensor *const *group, int n, const lra_tensor *next);
int64_t lra_cuda_fused_scratch(const lra_tensor *const *group, int n);
/* What fused calls are, in one pass for float32 and one for bf16; NULL: not among them. */
const lra_call *lra_fused_of(const lra_call *calls, int n, const lra_op *op);
void lra_cuda_fused_f32(const lra_call *calls, int n, void *stream);
void lra_cuda_fused_bf16(const lra_call *calls, int n, void *stream);

#ifdef __cplusplus
}
#endif
#endif
