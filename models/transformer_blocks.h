/* Transformer blocks with biases in all layers; the models differ in their attention:
 *   norm=pre   x = x + out(attend(q, k, v)) of Norm(x);  x = x + W2 act(W1 Norm(x))      per layer; Norm at the end
 *   norm=post  x = Norm(x + out(attend(q, k, v)) of x);  x = Norm(x + W2 act(W1 x))      per layer
 * x is a residual stream in float32 (lra_layer_stream), and so are its norms; layers compute in the
 * graph's type.
 *   norm-kind=layer: over channels; batch: per channel, over the tokens of all examples
 * Source: Vaswani et al. 2017, arXiv:1706.03762. */
#ifndef LRA_MODELS_TRANSFORMER_BLOCKS_H
#define LRA_MODELS_TRANSFORMER_BLOCKS_H

#include "models/model.h"

/* Attention of a layer, in the layer's scope: queries, keys and values (B,T,H,D/H) to
 * (B,T,H,D/H). */
typedef lra_tensor *(*lra_attend)(const lra_build *b, lra_tensor *q, lra_tensor *k, lra_tensor *v);
lra_tensor *lra_transformer_blocks(const lra_build *b, lra_tensor *x, lra_attend attend);

/* Position embeddings of positions=none|sinusoidal|learned; otherwise rotary positions. */
lra_positions lra_transformer_positions(const lra_config *c);

/* Keys that these functions read. Without the key `act` a model has GELU, without `norm-kind` layer
 * norm; with the key `qkv` all heads together have this width. */
#define LRA_TRANSFORMER_KEYS(hidden, n_heads, placement)                                           \
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks (attention and feed-forward layer)"), \
        LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),                       \
        LRA_INT_KEY("hidden", hidden, 1, 1 << 20, "width of the feed-forward layers"),             \
        LRA_INT_KEY("heads", n_heads, 1, LRA_MAX_HEADS,                                            \
                    "number of attention heads, which share the width"),                           \
        LRA_CHOICE_KEY("norm", placement, "pre|post",                                              \
                       "position of the norm: before a sublayer, or after the residual sum"),      \
        LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate")

#endif
