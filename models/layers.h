/* Layers shared by models: parameters and their op, each in its own scope. */
#ifndef LRA_MODELS_LAYERS_H
#define LRA_MODELS_LAYERS_H

#include "kernels/graph/ops.h"

/* y = act(x w + bias) + residual.  x: (..,D), y: (..,H).  Weight and bias are initialised uniform
 * in +-1/sqrt(D).  Parameters NAME/w (D,H), NAME/b (H).  Nullable: residual. */
lra_tensor *lra_layer_linear(lra_tensor *x, const char *name, int64_t n_out, lra_act act,
                             lra_tensor *residual);
/* y = x w + b with given initialisers.  Nullable: biases (then there are none). */
lra_tensor *lra_layer_linear_from(lra_tensor *x, const char *name, int64_t n_out,
                                  const lra_param_spec *weights, const lra_param_spec *biases);
/* Same in float32 for every type of the graph, for a few rows: (B,D) -> (B,H).  In bf16, values
 * near 87 have a spacing of 0.5. */
lra_tensor *lra_layer_linear_real(lra_tensor *x, const char *name, int64_t n_out);
/* The residual stream of a model: x in float32 for every type of the graph, as with PyTorch's
 * autocast.  In bf16, sums would lose the contributions of the layers.  Norms of the stream are
 * float32 too; lra_layer_linear() accepts it as residual. */
lra_tensor *lra_layer_stream(lra_tensor *x);
/* stream + y, fused into one op if y is a dense layer's result; no other node may read y. */
lra_tensor *lra_layer_stream_add(lra_tensor *stream, lra_tensor *y);
/* The stream in the graph's type, cast once for all layers that compute in it. */
lra_tensor *lra_layer_of_stream(lra_tensor *stream);
/* Channels in heads: (B,T,D) -> (B,T,n,D/n). */
lra_tensor *lra_layer_heads(lra_tensor *x, int64_t n);
/* The weights (D,n) of the linear layer whose output x views; an error of the graph if x is another
 * tensor. */
lra_tensor *lra_layer_weight(lra_tensor *x);
/* Layer norm with gain initialised to 1 and bias to 0, both without decay.  NAME/gain, NAME/bias
 * (D).  eps: 1e-5 */
lra_tensor *lra_layer_layer_norm(lra_tensor *x, const char *name);
lra_tensor *lra_layer_layer_norm_eps(lra_tensor *x, const char *name, double eps);
/* Batch norm over the tokens of all examples, likewise; NAME/mean, NAME/var (D) are states with
 * momentum 0.1.  x: (B,T,D).  Nullable: length. */
lra_tensor *lra_layer_batch_norm(lra_tensor *x, const char *name, lra_tensor *length);
/* Same, with an explicit momentum of the running statistics. */
lra_tensor *lra_layer_batch_norm_by(lra_tensor *x, const char *name, lra_tensor *length,
                                    double momentum);
/* Sets padding to zero: x for t < length, else 0.  x: (B,T,..).  Nullable: length, then x. */
lra_tensor *lra_layer_mask(lra_tensor *x, lra_tensor *length);
/* Complex tensors (2,..) of real and imaginary parts (1,..); their products and ratios: b
 * broadcasts to a. */
lra_tensor *lra_complex(lra_tensor *re, lra_tensor *im);
lra_tensor *lra_complex_mul(lra_tensor *a, lra_tensor *b);
lra_tensor *lra_complex_div(lra_tensor *a, lra_tensor *b);
lra_tensor *lra_complex_conjugate(lra_tensor *x);
/* "Same" convolution over time, taps `dilation` apart, (B,T,D) -> (B,T,H).  Weight and bias are
 * initialised uniform in +-1/sqrt(K D/G).  NAME/kernel (K,D/G,H), NAME/b (H).  Nullable: length. */
lra_tensor *lra_layer_conv(lra_tensor *x, const char *name, int64_t n_out, int64_t kernel,
                           int64_t groups, int64_t dilation, lra_act act, lra_tensor *length);
/* Same, causal: lra_causal_conv(). */
lra_tensor *lra_layer_causal_conv(lra_tensor *x, const char *name, int64_t n_out, int64_t kernel,
                                  int64_t groups, int64_t dilation, lra_act act);

#endif
