/* The Transformer of the Long Range Arena, whose attention the models of the benchmark replace:
 *   x = dropout(x)                                                             after embedding and positions
 *   x = x + dropout(mix(LayerNorm(x)))                                         per layer
 *   x = x + dropout(W2 dropout(GELU(W1 LayerNorm(x) + b1)) + b2)               per layer; LayerNorm at the end
 *   mix(u) = Wo attend(q, k, v),  q, k, v = Wq u, Wk u, Wv u in heads          without biases, as wide as `qkv`
 * x is a residual stream in float32 (lra_layer_stream). LayerNorm has eps 1e-6, GELU is the tanh
 * approximation. Weights are initialised Xavier uniform, b1 and b2 ~ N(0, 1e-12).
 * Source: Tay et al. 2021, arXiv:2011.04006, and its code. */
#ifndef LRA_MODELS_LRA_BLOCKS_H
#define LRA_MODELS_LRA_BLOCKS_H

#include "models/model.h"

/* Builds the mixing of one layer from its normalised inputs, in the scope "layer%d": (B,T,D) ->
 * (B,T,D). layer: index from 0. */
typedef lra_tensor *(*lra_benchmark_mix)(const lra_build *b, lra_tensor *u, int layer);
lra_tensor *lra_benchmark_blocks(const lra_build *b, lra_tensor *x, lra_benchmark_mix mix);

/* Returns W u, split into heads; parameters in the scope NAME: (B,T,D) -> (B,T,H,qkv/H). */
lra_tensor *lra_benchmark_heads(const lra_build *b, lra_tensor *u, const char *name);
/* Returns Wo y; parameters in the scope "out": (B,T,H,qkv/H) -> (B,T,D). */
lra_tensor *lra_benchmark_out(const lra_build *b, lra_tensor *y);
/* Returns mix(u) with softmax attention, including the projections. The dropout of attention
 * weights follows the model's settings. */
lra_tensor *lra_benchmark_attention(const lra_build *b, lra_tensor *u, const lra_attention_spec *s);

/* Functions for the records of models with these blocks. */
lra_positions lra_benchmark_positions(const lra_config *c);
/* classifier of two layers: Linear, ReLU, Linear */
lra_classifier lra_benchmark_classifier(const lra_config *c);
/* returns -1: the reach is unbounded */
int64_t lra_benchmark_reach(const lra_config *c);
/* lra_model.unmasked of models with the key LRA_BENCHMARK_MASKED */
bool lra_benchmark_unmasked(const lra_config *c);

/* Keys of models with these blocks. */
#define LRA_BENCHMARK_KEYS                                                                         \
    LRA_INT_KEY("layers", "4", 1, 1 << 20, "number of blocks (attention and feed-forward layer)"), \
        LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),                       \
        LRA_INT_KEY("hidden", "512", 1, 1 << 20, "width of the feed-forward layers"),              \
        LRA_INT_KEY("heads", "4", 1, LRA_MAX_HEADS, "number of attention heads"),                  \
        LRA_INT_KEY("qkv", "0", 0, 1 << 20,                                                        \
                    "width of queries, keys and values over all heads (0 = width)"),               \
        LRA_CHOICE_KEY("positions", "sinusoidal", "none|sinusoidal|learned", "position encoding"), \
        LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate")

/* Key of models whose attention sums over all keys; the Long Range Arena's code includes
 * padding. */
#define LRA_BENCHMARK_MASKED                                                                       \
    LRA_FLAG_KEY("masked", "1", "mask padding as keys (0 = padding is attended to like tokens)")

/* Presets. "quick" and "small" are defined by this suite. "paper" has the settings that the Long
 * Range Arena publishes for all its Transformers and tasks. Sizes on images and pathfinder are
 * arguments: image, pathfinder = "layers=1 heads=8 .. pool=cls". */
#define LRA_BENCHMARK_ADAM "beta2=0.98 eps=1e-9 clip=0 "
#define LRA_BENCHMARK_TEXT(W)                                                                      \
    LRA_BENCHMARK_ADAM                                                                             \
    "schedule=rsqrt rate=0.05 batch=32 decay=0.1 dropout=0.1 pool=cls warmup=" W " "
#define LRA_BENCHMARK_COSINE LRA_BENCHMARK_ADAM "schedule=cosine epochs=200 warmup=0.005 decay=0 "
#define LRA_BENCHMARK_PRESET(tasks, settings)                                                      \
    {                                                                                              \
        tasks, "paper", "lra", settings, NULL                                                      \
    }
/* Argument `drops` of LRA_BENCHMARK_PAPER: DROPS sets the dropout rate of the attention weights;
 * KEEPS is for models without attention weights. */
#define LRA_BENCHMARK_DROPS(share) "attention-dropout=" share " "
#define LRA_BENCHMARK_KEEPS(share) ""
/* The presets "paper" of all tasks. first: settings of the model that precede the others;
 * positions: position encoding of the text tasks and of pathfinder. */
#define LRA_BENCHMARK_PAPER(drops, first, positions, image, pathfinder)                            \
    LRA_BENCHMARK_PRESET("listops", first positions LRA_BENCHMARK_TEXT("1000") drops(              \
                                        "0.1") "layers=4 width=512 heads=8 hidden=1024 epochs=2"), \
        LRA_BENCHMARK_PRESET("text",                                                               \
                             first positions LRA_BENCHMARK_TEXT("8000")                            \
                                 drops("0.1") "layers=4 width=256 heads=4 hidden=1024 epochs=26"), \
        LRA_BENCHMARK_PRESET("retrieval",                                                          \
                             first positions LRA_BENCHMARK_TEXT("8000")                            \
                                 drops("0.1") "layers=4 width=128 heads=4 hidden=512 epochs=1"),   \
        LRA_BENCHMARK_PRESET("image", first "positions=learned " LRA_BENCHMARK_COSINE drops(       \
                                          "0.2") "rate=0.0005 batch=256 dropout=0.3 " image),      \
        LRA_BENCHMARK_PRESET("pathfinder pathfinder-intermediate pathfinder-easy",                 \
                             first positions LRA_BENCHMARK_COSINE drops(                           \
                                 "0.1") "rate=0.001 batch=512 dropout=0.2 pool=mean " pathfinder), \
        LRA_BENCHMARK_PRESET(                                                                      \
            "path-x",                                                                              \
            first "positions=learned " LRA_BENCHMARK_ADAM drops(                                   \
                "0.1") "schedule=cosine epochs=200 warmup=0.005 decay=0 clip=1 rate=0.001 "        \
                       "batch=64 dropout=0.1 pool=mean layers=1 width=32 "                         \
                       "heads=2 qkv=16 hidden=32")
#define LRA_BENCHMARK_PRESETS(drops, image, pathfinder)                                            \
    {NULL, "quick", NULL, "layers=2 width=32 hidden=64 rate=0.002 decay=0.01", NULL},              \
        {NULL, "small", NULL, "layers=4 width=64 hidden=128 rate=0.001 decay=0.05", NULL},         \
        LRA_BENCHMARK_PAPER(drops, "", "", image, pathfinder)

#endif
