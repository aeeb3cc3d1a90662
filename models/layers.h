/* Layers shared by models. Each function creates the parameters in their own scope and builds the
 * op. */
#ifndef LRA_MODELS_LAYERS_H
#define LRA_MODELS_LAYERS_H

#include "kernels/graph/ops.h"

/* Dense layer: returns act(x w + bias) + residual. x: (..,D), result: (..,H). Weight and bias are
 * initialised uniform in +-1/sqrt(D). Parameters NAME/w (D,H), NAME/b (H). Nullable: residual. */
lra_tensor *lra_layer_linear(lra_tensor *x, const char *name, int64_t n_out, lra_act act,
                             lra_tensor *residual);
/* Returns x w + b with the given initialisers. Nullable: biases (the layer then has no bias). */
lra_tensor *lra_layer_linear_from(lra_tensor *x, const char *name, int64_t n_out,
                                  const lra_param_spec *weights, const lra_param_spec *biases);
/* Same as lra_layer_linear(), in float32 even in a bf16 graph: (B,D) -> (B,H). For layers with few
 * rows whose results must be exact: in bf16, values near 87 are 0.5 apart. */
lra_tensor *lra_layer_linear_real(lra_tensor *x, const char *name, int64_t n_out);
/* Returns x as the residual stream of a model: in float32 for every type of the graph, as with
 * PyTorch's autocast. In bf16, the sums would lose the contributions of the layers. Norms of the
 * stream are computed in float32, too; lra_layer_linear() accepts the stream as residual. */
lra_tensor *lra_layer_stream(lra_tensor *x);
/* Returns stream + y. If y is the result of a dense layer, both are fused into one op; no other
 * node may read y. */
lra_tensor *lra_layer_stream_add(lra_tensor *stream, lra_tensor *y);
/* Returns the stream in the graph's type; the cast is shared by all layers. */
lra_tensor *lra_layer_of_stream(lra_tensor *stream);
/* Splits channels into heads: (B,T,D) -> (B,T,n,D/n). */
lra_tensor *lra_layer_heads(lra_tensor *x, int64_t n);
/* x is a view of the output of a linear layer: returns the weights (D,n) of that layer. For any
 * other tensor, the graph fails. */
lra_tensor *lra_layer_weight(lra_tensor *x);
/* Layer norm over channels. Parameters NAME/gain, NAME/bias (D), initialised to 1 and 0, without
 * weight decay. eps: 1e-5, or the argument. */
lra_tensor *lra_layer_layer_norm(lra_tensor *x, const char *name);
lra_tensor *lra_layer_layer_norm_eps(lra_tensor *x, const char *name, double eps);
/* Batch norm over the tokens of all examples. Gain and bias as in layer norm; running statistics
 * NAME/mean, NAME/var (D) have momentum 0.1. x: (B,T,D). Nullable: length. */
lra_tensor *lra_layer_batch_norm(lra_tensor *x, const char *name, lra_tensor *length);
/* Same as lra_layer_batch_norm(), with an explicit momentum of the running statistics. */
lra_tensor *lra_layer_batch_norm_by(lra_tensor *x, const char *name, lra_tensor *length,
                                    double momentum);
/* Sets padding to zero: returns x at positions t < length, else 0. x: (B,T,..). Nullable: length
 * (then returns x). */
lra_tensor *lra_layer_mask(lra_tensor *x, lra_tensor *length);
/* Complex tensors (2,..), made of real and imaginary parts (1,..); products and ratios of complex
 * tensors, where b is broadcast to the shape of a. */
lra_tensor *lra_complex(lra_tensor *re, lra_tensor *im);
lra_tensor *lra_complex_mul(lra_tensor *a, lra_tensor *b);
lra_tensor *lra_complex_div(lra_tensor *a, lra_tensor *b);
lra_tensor *lra_complex_conjugate(lra_tensor *x);
/* Convolution over time with "same" zero padding: (B,T,D) -> (B,T,H). K taps are `dilation` tokens
 * apart; G groups. Weight and bias are initialised uniform in +-1/sqrt(K D/G). Parameters
 * NAME/kernel (K,D/G,H), NAME/b (H). Nullable: length. */
lra_tensor *lra_layer_conv(lra_tensor *x, const char *name, int64_t n_out, int64_t kernel,
                           int64_t groups, int64_t dilation, lra_act act, lra_tensor *length);
/* Same as lra_layer_conv(), causal: see lra_causal_conv(). */
lra_tensor *lra_layer_causal_conv(lra_tensor *x, const char *name, int64_t n_out, int64_t kernel,
                                  int64_t groups, int64_t dilation, lra_act act);

#endif
