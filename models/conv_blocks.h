/* Blocks of S4 and related models around a long convolution; the models differ in their kernels.
 *
 *   h = GELU(k * u + D u);  (p, q) = W h + b;  o = p sigmoid(q), or W h + b with gate=0            per layer
 *   norm=pre   u = Norm(x);  x = x + o;  a norm at the end           norm=post  u = x;  x = Norm(x + o)
 *
 * Dropout on h and on o, one mask for all positions of a channel; with early-dropout=1 (only some
 * models) also before GELU, with a mask for each element.  D ~ N(0,1).  Padding is set to zero at
 * the input of the convolution only; the residual branch is not masked.
 * Source: Gu et al. 2022, arXiv:2111.00396; the gate is that of its later code. */
#ifndef LRA_MODELS_CONV_BLOCKS_H
#define LRA_MODELS_CONV_BLOCKS_H

#include "models/model.h"

/* The kernels of one layer in its scope: (C D,T), or (2,C D,T) in both directions, by lag, real;
 * for C > 1 channel d is convolved with the C kernels c D + d, c < C. */
typedef lra_tensor *(*lra_kernels)(const lra_build *b);

/* All layers; `scope` holds the parameters of a layer's kernels and D ("skip"). */
lra_tensor *lra_conv_blocks(const lra_build *b, lra_tensor *x, const char *scope,
                            lra_kernels kernels);

/* The norm of the blocks, "norm" of the current scope. */
lra_tensor *lra_conv_blocks_norm(const lra_build *b, lra_tensor *x);

bool lra_conv_blocks_causal(const lra_config *c);
int64_t lra_conv_blocks_reach(const lra_config *c); /* unbounded */

/* A parameter with the logarithms of the step sizes, initialised log-uniform in [dt-min, dt-max],
 * otherwise as in s. */
lra_param_spec lra_log_steps(const lra_build *b, lra_param_spec s);

/* The keys that they read; the defaults of some are the model's. */
#define LRA_CONV_BLOCK_KEYS(causal, gate)                                                          \
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "blocks"),                                              \
        LRA_INT_KEY("width", "128", 1, 1 << 20, "channels"),                                       \
        LRA_CHOICE_KEY("norm", "pre", "pre|post",                                                  \
                       "position of the norm: before a block, or after the residual sum"),         \
        LRA_CHOICE_KEY("norm-kind", "layer", "layer|batch",                                        \
                       "norm over channels (layer), or per channel (batch)"),                      \
        LRA_FLAG_KEY("gate", gate, "apply a gate to the outputs of each block"),                   \
        LRA_FLAG_KEY("causal", causal, "use one kernel per channel, over past positions only"),    \
        LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate of channels")

/* Sizes of ours that suit all of them. */
#define LRA_CONV_BLOCK_PRESETS                                                                     \
    {NULL, "quick", NULL, "layers=2 width=32 rate=0.004 decay=0.01", NULL},                        \
    {                                                                                              \
        NULL, "small", NULL, "layers=4 width=64 rate=0.004 decay=0.05", NULL                       \
    }

#endif
