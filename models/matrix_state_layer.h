/* Parts of layers around a matrix state (kernels/ops/ssm/matrix_state.c), shared by linear
 * attention with decay, the delta rule and Mamba-2. Dense layers have no bias and are initialised
 * uniform in +-1/sqrt(D). */
#ifndef LRA_MODELS_MATRIX_STATE_LAYER_H
#define LRA_MODELS_MATRIX_STATE_LAYER_H

#include "models/mixer.h"

/* Dense layer NAME without bias: (..,D) -> (..,n). */
lra_tensor *lra_state_dense(lra_tensor *x, const char *name, int64_t n);
/* Depthwise convolution NAME over `taps` tokens, then SiLU; taps 0: SiLU alone. Causal models see
 * the present and the past; others see taps - 1 tokens on both sides. With `bias`, the convolution
 * has one. */
lra_tensor *lra_state_conv(const lra_build *b, lra_tensor *x, const char *name, int64_t taps,
                           bool bias);
/* x / sqrt(sum x^2 + 1e-6) over the last dimension. */
lra_tensor *lra_state_unit(lra_tensor *x);
/* RMSNorm NAME over the last dimension, with a gain; eps 1e-5. */
lra_tensor *lra_state_norm(lra_tensor *x, const char *name);
/* Values y of a matrix state (lra_matrix_state), declared as a mixing matrix. Models that are not
 * causal add the recurrence from the last token to the first, with the same vectors. m: query, key,
 * value, decay, correct, read. */
lra_tensor *lra_state_mix(const lra_build *b, const lra_matrix_state_spec *m);
/* Decay exp(-exp(a) softplus(x + shift)) of Mamba-2 and Gated DeltaNet: x (B,T,H) -> (B,T,H,1),
 * real; step (Nullable): set to softplus(x + shift), (B,T,H,1). exp(a) is initialised uniform in
 * [least, 16], softplus(shift) log-uniform in [0.001, 0.1]; both (H), without weight decay. */
lra_tensor *lra_state_decay(lra_tensor *x, double least, lra_tensor **step);
/* Heads of a mixer: `name`.heads, and the width of all values, `name`.expand times the width. */
int64_t lra_state_heads(const lra_build *b, const char *name);
int64_t lra_state_values(const lra_build *b, const char *name);

#endif
