/* Blocks of S4 and related models around a long convolution; the models differ in their kernels.
 *
 *   h = GELU(k * u + D u);  (p, q) = W h + b;  o = p sigmoid(q), or W h + b with gate=0            per layer
 *   norm=pre   u = Norm(x);  x = x + o;  a norm at the end           norm=post  u = x;  x = Norm(x + o)
 *
 * Dropout on h and on o has one mask for all positions of a channel. early-dropout=1 (only some
 * models) adds dropout before GELU, with a mask for each element.  D ~ N(0,1).  Padding is set to
 * zero at the input of the convolution only; the residual branch is not masked.
 * Source: Gu et al. 2022, arXiv:2111.00396; the gate is that of its later code. */
#ifndef LRA_MODELS_CONV_BLOCKS_H
#define LRA_MODELS_CONV_BLOCKS_H

#include "models/model.h"

/* Builds the kernels of one layer in the layer's scope: real, (C D,T) by lag, or (2,C D,T) for both
 * directions. If C > 1, channel d is convolved with the C kernels c D + d, c < C. */
typedef lra_tensor *(*lra_kernels)(const lra_build *b);

/* Builds all blocks. The parameters of a block's kernels and of D ("skip") are in the scope `scope`
 * of its layer. */
lra_tensor *lra_conv_blocks(const lra_build *b, lra_tensor *x, const char *scope,
                            lra_kernels kernels);

/* The norm of the blocks, with parameters in the scope "norm". */
lra_tensor *lra_conv_blocks_norm(const lra_build *b, lra_tensor *x);

bool lra_conv_blocks_causal(const lra_config *c);
int64_t lra_conv_blocks_reach(const lra_config *c); /* returns -1: the reach is unbounded */

/* Returns the specification s with a log-uniform initialisation of ln dt (step sizes dt in [dt-min,
 * dt-max]). */
lra_param_spec lra_log_steps(const lra_build *b, lra_param_spec s);

/* Keys of models with these blocks; arguments: defaults of `causal` and `gate`. */
#define LRA_CONV_BLOCK_KEYS(causal, gate)                                                          \
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks"),                                    \
        LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),                       \
        LRA_CHOICE_KEY("norm", "pre", "pre|post",                                                  \
                       "position of the norm: before a block, or after the residual sum"),         \
        LRA_CHOICE_KEY("norm-kind", "layer", "layer|batch",                                        \
                       "norm over channels (layer), or per channel (batch)"),                      \
        LRA_FLAG_KEY("gate", gate, "apply a gate to the outputs of each block"),                   \
        LRA_FLAG_KEY("causal", causal, "use one kernel per channel, over past positions only"),    \
        LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate of channels")

/* Presets "quick" and "small", defined by this suite for all models with these blocks. */
#define LRA_CONV_BLOCK_PRESETS                                                                     \
    {NULL, "quick", NULL, "layers=2 width=32 rate=0.004 decay=0.01", NULL},                        \
    {                                                                                              \
        NULL, "small", NULL, "layers=4 width=64 rate=0.004 decay=0.05", NULL                       \
    }

#endif
