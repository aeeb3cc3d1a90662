/* Mixers: layers of a block through which tokens exchange information. A model of mixers
 * (mixer_blocks.c) is a stack of blocks; the setting `mixers` lists the mixer of each block. To add
 * a mixer: a record in the file of its architecture, a line in mixers.def, its settings below. */
#ifndef LRA_MODELS_MIXER_H
#define LRA_MODELS_MIXER_H

#include "models/model.h"

typedef struct {
    /* name in the setting `mixers`, and prefix of the mixer's settings: "delta", "delta.heads" */
    const char *name;
    const char *paper, *summary;
    /* Builds the layer in its own scope: u (B,T,D), normalised, -> (B,T,D). */
    lra_tensor *(*build)(const lra_build *b, lra_tensor *u);
    /* Maximum distance to one side, in tokens; -1: unbounded. NULL: unbounded. */
    int64_t (*reach)(const lra_config *c);
} lra_mixer;

#define LRA_MIXER(name) extern const lra_mixer lra_mixer_##name;
#include "models/mixers.def"
#undef LRA_MIXER

/* Blocks around mixers, and functions for the records of models that consist of them:
 *   x = x + mixer(RMSNorm(x));  x = x + W3 (SiLU(W1 u) * W2 u),  u = RMSNorm(x)   per layer
 * RMSNorm at the end; hidden=0: no feed-forward layer. */
lra_tensor *lra_mixer_blocks(const lra_build *b, lra_tensor *x);
int64_t lra_mixer_blocks_reach(const lra_config *c);
bool lra_mixer_blocks_causal(const lra_config *c);
extern const lra_model_preset lra_mixer_presets[];

/* Settings of the blocks. mixers: the default of the setting `mixers`. */
#define LRA_MIXER_BLOCK_KEYS(mixers)                                                               \
    LRA_INT_KEY("layers", "6", 1, 1 << 20, "number of blocks"),                                    \
        LRA_INT_KEY("width", "128", 1, 1 << 20, "model width, in channels"),                       \
        LRA_INT_KEY("hidden", "256", 0, 1 << 20,                                                   \
                    "width of the gated feed-forward layers (0 = none)"),                          \
        LRA_TEXT_KEY("mixers", mixers, "LIST",                                                     \
                     "mixer of each block, NAME or NAME*N, repeated until all blocks have one"),   \
        LRA_FLAG_KEY("causal", "0", "use only present and past positions"),                        \
        LRA_REAL_KEY("dropout", "0", 0, 0.999, "dropout rate")

/* ---- settings of mixers ---------------------------------------------------------------------- */

#define LRA_STATE_KEYS(name)                                                                       \
    LRA_INT_KEY(name ".heads", "4", 1, LRA_MAX_HEADS, "number of heads"),                          \
        LRA_REAL_KEY(name ".expand", "1", 0.0625, 16, "width of the values / width of the model")
#define LRA_SHORT_CONV_KEY(name)                                                                   \
    LRA_INT_KEY(name ".conv", "4", 0, 256, "taps of the short convolution (0 = none)")

#define LRA_RETENTION_KEYS LRA_STATE_KEYS("retention")
#define LRA_GLA_KEYS                                                                               \
    LRA_STATE_KEYS("gla"),                                                                         \
        LRA_INT_KEY("gla.rank", "16", 1, 65536, "rank of the linear map that computes the decays")
#define LRA_DELTA_KEYS       LRA_STATE_KEYS("delta"), LRA_SHORT_CONV_KEY("delta")
#define LRA_GATED_DELTA_KEYS LRA_STATE_KEYS("gated-delta"), LRA_SHORT_CONV_KEY("gated-delta")
#define LRA_SSD_KEYS                                                                               \
    LRA_INT_KEY("ssd.heads", "4", 1, LRA_MAX_HEADS, "number of heads"),                            \
        LRA_REAL_KEY("ssd.expand", "2", 0.0625, 16, "inner width / width of the model"),           \
        LRA_INT_KEY("ssd.state", "64", 1, 65536, "state size N"), LRA_SHORT_CONV_KEY("ssd")
#define LRA_ATTENTION_MIXER_KEYS                                                                   \
    LRA_INT_KEY("attention.heads", "4", 1, LRA_MAX_HEADS, "number of heads"),                      \
        LRA_CHOICE_KEY("attention.positions", "rotary", "none|rotary", "position encoding"),       \
        LRA_INT_KEY("attention.window", "0", 0, 1 << 24,                                           \
                    "maximum distance of a visible token (0 = no limit)")

#endif
