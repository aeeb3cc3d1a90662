/* Code shared by mega and mega-chunk, which differ only in the size of a chunk. */
#ifndef LRA_MODELS_MEGA_H
#define LRA_MODELS_MEGA_H

#include "models/conv_blocks.h"

lra_tensor *lra_mega_encode(const lra_build *b, lra_tensor *x);
lra_embed_start lra_mega_embedding(const lra_config *c, int64_t channels);
lra_classifier lra_mega_classifier(const lra_config *c);

#define LRA_MEGA_KEYS(of_chunk)                                                                    \
    LRA_INT_KEY("layers", "6", 1, 1 << 20,                                                         \
                "number of blocks (gated attention and feed-forward layer)"),                      \
        LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),                       \
        LRA_INT_KEY("hidden", "256", 1, 1 << 20,                                                   \
                    "width of the values and of the feed-forward layers"),                         \
        LRA_INT_KEY("queries", "64", 1, 1 << 20, "width of queries and keys"),                     \
        LRA_INT_KEY("state", "16", 1, 4096, "number of terms of the moving average per channel"),  \
        LRA_INT_KEY("ema-length", "1024", 1, 1 << 24,                                              \
                    "kernel length of the moving average: its longest lag plus 1"),                \
        LRA_INT_KEY(                                                                               \
            "chunk", of_chunk, 0, 1 << 24,                                                         \
            "chunk length: only tokens of one chunk attend to each other (0 = no chunks)"),        \
        LRA_CHOICE_KEY("attention", "softmax", "softmax|laplace",                                  \
                       "function from scores to attention weights"),                               \
        LRA_CHOICE_KEY("norm", "post", "pre|post",                                                 \
                       "position of the norm: before a sublayer, or after the residual sum"),      \
        LRA_CHOICE_KEY("norm-kind", "layer", "layer|batch|scale",                                  \
                       "layer: norm over channels; batch: norm per channel; scale: divide by the " \
                       "root mean square over channels, with one gain"),                           \
        LRA_FLAG_KEY("causal", "0", "mask later tokens"), LRA_ATTENTION_DROPOUT,                   \
        LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate")

/* Sizes and optimiser settings of the table of Ma et al. for each task. The locality paper uses
 * these settings with its own number of epochs and schedule, and with softmax attention. */
#define LRA_MEGA_LISTOPS "layers=6 width=80 hidden=160 dropout=0.1 rate=0.001 batch=64 decay=0.01 "
#define LRA_MEGA_TEXT    "layers=4 norm-kind=scale dropout=0.1 rate=0.004 batch=50 decay=0.01 "
#define LRA_MEGA_PAIRS   "norm-kind=scale dropout=0.1 rate=0.003 batch=64 decay=0.04 "
#define LRA_MEGA_PIXELS  "norm=pre norm-kind=batch rate=0.01 "
#define LRA_MEGA_IMAGE                                                                             \
    LRA_MEGA_PIXELS "layers=8 width=160 hidden=320 queries=96 batch=50 decay=0.02 "
#define LRA_MEGA_PATH        LRA_MEGA_PIXELS "batch=128 decay=0.01 "
#define LRA_MEGA_FAR         LRA_MEGA_PATH "layers=4 width=64 hidden=128 queries=32 ema-length=4096 "
#define LRA_MEGA_PATHFINDERS "pathfinder pathfinder-intermediate pathfinder-easy"
#define LRA_MEGA_STEPS       "beta2=0.98 schedule=linear "
#define LRA_MEGA_LAPLACE     "attention=laplace " LRA_MEGA_STEPS

/* Presets of mega and mega-chunk; far: additional settings for Path-X. */
#define LRA_MEGA_PRESETS(far)                                                                      \
    {NULL, "quick", NULL,                                                                          \
     "layers=2 width=32 hidden=64 queries=16 state=8 norm=pre rate=0.004 decay=0.01", NULL},       \
        {NULL, "small", NULL,                                                                      \
         "layers=4 width=64 hidden=128 queries=32 norm=pre rate=0.002 decay=0.05", NULL},          \
        LRA_OWN_PRESET("listops",                                                                  \
                       LRA_MEGA_LISTOPS LRA_MEGA_STEPS "epochs=60 total-steps=90000 warmup=3000"), \
        LRA_OWN_PRESET("text",                                                                     \
                       LRA_MEGA_TEXT LRA_MEGA_STEPS "epochs=50 total-steps=25000 warmup=10000"),   \
        LRA_OWN_PRESET("retrieval",                                                                \
                       LRA_MEGA_PAIRS LRA_MEGA_STEPS "epochs=40 total-steps=91960 warmup=10000"),  \
        LRA_OWN_PRESET("image", LRA_MEGA_IMAGE LRA_MEGA_LAPLACE                                    \
                       "epochs=200 total-steps=180000 warmup=9000"),                               \
        LRA_OWN_PRESET(LRA_MEGA_PATHFINDERS, LRA_MEGA_PATH LRA_MEGA_LAPLACE                        \
                       "epochs=200 total-steps=250000 warmup=50000"),                              \
        LRA_OWN_PRESET("path-x", LRA_MEGA_FAR LRA_MEGA_LAPLACE                                     \
                       "epochs=100 total-steps=125000 warmup=25000 warmup-power=2 " far)

#define LRA_MEGA_RECORD                                                                            \
    .deviations =                                                                                  \
        "image values are scaled as the task defines; the moving average is truncated at the "     \
        "setting ema-length",                                                                      \
    .tiny = "layers=2 width=6 hidden=8 queries=4 state=3", .match = "hidden",                      \
    .pools = LRA_POOLS_ROWS, .encode = lra_mega_encode, .reach = lra_conv_blocks_reach,            \
    .position_dependent = lra_chunks_position_dependent, .period = lra_chunk_period,               \
    .causal = lra_conv_blocks_causal, .embedding = lra_mega_embedding,                             \
    .classifier = lra_mega_classifier, .mega_head = true

#endif
