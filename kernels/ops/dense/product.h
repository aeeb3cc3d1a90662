/* Builders that the matrix ops share: the gradients of lra_linear(), lra_matmul_t() and lra_conv().
 *
 * Types in a BF16 graph: weights are read as elem (a parameter through its shadow), biases as real,
 * weight gradients are written as real; tensors of other types are cast here, never in an op. */
#ifndef LRA_OPS_DENSE_PRODUCT_H
#define LRA_OPS_DENSE_PRODUCT_H

#include "kernels/graph/op.h"

/* lra_as_weight(): x for an op that reads weights: a parameter unchanged, because the op reads its
 * bf16 copy (shadow); any other tensor as elem. */
lra_tensor *lra_as_weight(lra_tensor *x);
lra_tensor *lra_as_elem(lra_tensor *x);
lra_tensor *lra_as_real(lra_tensor *x);

/* dx = dy act'(v), zero for t >= length. v: the value before the activation, or for relu the value
 * after it. dy, v: (..,D), with length (B,T,D). Nullable: length; v with LRA_ACT_NONE */
lra_tensor *lra_activation_backward(lra_tensor *dy, lra_tensor *v, lra_act act, lra_tensor *length);
/* Sum over all rows, real: (..,H) -> (H). */
lra_tensor *lra_column_sum(lra_tensor *dy);
/* dw = x^T dy, summed over all rows, real. x: (..,D), dy: (..,H), dw: (D,H). */
lra_tensor *lra_linear_dw(lra_tensor *x, lra_tensor *dy);

/* Gradients of a convolution without bias and activation; see lra_conv() for shapes.
 *   dx[t] = sum_k dy[t - (k - (K-1)/2) dilation] w[k]^T       (B,T,H), (K,D/G,H) -> (B,T,D), elem
 *   dw[k] = sum_{b,t} x[t + (k - (K-1)/2) dilation]^T dy[t]   (B,T,D), (B,T,H) -> (K,D/G,H), real
 * x and dy are zero outside [0,length).  Nullable: length. */
lra_tensor *lra_conv_dx(lra_tensor *dy, lra_tensor *w, lra_tensor *length, int64_t groups,
                        int64_t dilation);
lra_tensor *lra_conv_dw(lra_tensor *x, lra_tensor *dy, lra_tensor *length, int64_t groups,
                        int64_t K, int64_t dilation);

#endif
