/* las, l, s, alibi, smooth-alibi: causal attention whose weights are made local and smooth.
 *   S = q k^T / sqrt(K),  D_ij = i - j for j <= i
 *   las           AP(softmax(exp(-alpha_c D) S)) v         l: without AP         s: without the decay
 *   alibi         softmax(S - m_c D) v                     smooth-alibi: AP(softmax(S - m_c D)) v,  m_c = 2^(-8c/h), c = 1..h
 * Head c = 0 has alpha = 0. For the other heads c = 1..h-1 the paper is ambiguous; setting `alpha`:
 *   literal  exp(-alpha) = bound c/(h-1)     "exponential-uniformly in [0, B]", exp(-alpha) uniform in [0, B]
 *   scale    exp(-alpha) = 1 - (1 - exp(-bound)) c/(h-1): alpha in [0, B], evenly spaced in exp
 *   geo      alpha = 2^(-8c/h), as the slopes of ALiBi; not in the paper, for comparison
 * AP averages the weights of a row over `average` columns:
 *   causal   to the past; weight before the first token is lost, rows then sum to less than 1
 *   centred  to both sides: a token attends to (average-1)/2 future tokens; centred-renorm: rows
 *            sum to 1 again; centred-remask: no future tokens, rows sum to 1 (complete maps)
 * With a distance limit r, a token has the weights that it would have if the example began r tokens
 * before it: averaged weight at larger distances is lost (causal, centred) or renormalised
 * (centred-renorm, centred-remask).  alibi=paper: slopes divided by sqrt(K), as in its equation 2;
 * alibi=original: slopes of Press et al. chunk: attention and AP within chunks of this many tokens.
 * Residual blocks: transformer_blocks.h.
 * Source: "Viewing Transformers Through the Lens of Long Convolution Layers", equations 2 to 4 and
 * table 9; Press et al. 2022, arXiv:2108.12409. */
#include <math.h>

#include "models/transformer_blocks.h"

/* Computes alpha of all heads. */
static void decays(const lra_config *c, int64_t heads, double *alpha)
{
    double bound = lra_config_real(c, "bound");
    alpha[0] = 0;
    for (int64_t i = 1; i < heads; i++) {
        double share = (double)i / (double)(heads - 1);
        if (lra_config_is(c, "alpha", "literal"))
            alpha[i] = -log(bound * share);
        else if (lra_config_is(c, "alpha", "scale"))
            alpha[i] = -log(1 - (1 - exp(-bound)) * share);
        else
            alpha[i] = pow(2, -8.0 * (double)i / (double)heads);
    }
}

static void slopes(const lra_config *c, int64_t heads, int64_t K, double *slope)
{
    double over = lra_config_is(c, "alibi", "paper") ? sqrt((double)K) : 1;
    for (int64_t i = 0; i < heads; i++)
        slope[i] = pow(2, -8.0 * (double)(i + 1) / (double)heads) / over;
}

/* Attention with the features for which the model has keys: decay (alpha), slopes (alibi),
 * averaging (smoothing). */
static lra_tensor *attend(const lra_build *b, lra_tensor *q, lra_tensor *k, lra_tensor *v)
{
    const lra_config *c = b->config;
    double alpha[LRA_MAX_HEADS], slope[LRA_MAX_HEADS];
    lra_shape shape = lra_tensor_shape(q);
    lra_attention_spec s = {.causal = true, .chunk = lra_config_int(c, "chunk")};
    if (lra_config_has(c, "alpha")) decays(c, shape.d[2], alpha), s.decay = alpha;
    if (lra_config_has(c, "alibi")) slopes(c, shape.d[2], shape.d[3], slope), s.slope = slope;
    if (lra_config_has(c, "smoothing")) {
        s.smooth = (int)lra_config_int(c, "average");
        s.centred = !lra_config_is(c, "smoothing", "causal");
        s.renorm = lra_config_is(c, "smoothing", "centred-renorm");
        s.remask = lra_config_is(c, "smoothing", "centred-remask");
    }
    return lra_attention(q, k, v, b->length, &s);
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    return lra_transformer_blocks(b, x, attend);
}

static int64_t reach(const lra_config *c)
{
    return lra_config_int(c, "chunk") - 1; /* -1, unbounded, if there are no chunks (chunk = 0) */
}

static bool causal(const lra_config *c)
{
    return !lra_config_has(c, "smoothing") || lra_config_is(c, "smoothing", "causal") ||
           lra_config_is(c, "smoothing", "centred-remask") || lra_config_int(c, "average") == 1;
}

#define BLOCKS                                                                                     \
    LRA_TRANSFORMER_KEYS("512", "8", "pre"),                                                       \
        LRA_CHOICE_KEY("norm-kind", "layer", "layer|batch",                                        \
                       "norm over channels (layer), or per channel (batch)"),                      \
        LRA_CHOICE_KEY("positions", "none", "none|sinusoidal|learned",                             \
                       "position encoding that is added to the inputs"),                           \
        LRA_INT_KEY("chunk", "0", 0, 1 << 20,                                                      \
                    "chunk length: only tokens of one chunk attend to each other (0 = no chunks)")
#define DECAY                                                                                      \
    LRA_CHOICE_KEY("alpha", "literal", "literal|scale|geo",                                        \
                   "interpretation of the formula of the paper for the decay of the heads"),       \
        LRA_REAL_KEY("bound", "0.001", 1e-12, 1, "constant B of the decay")
#define SMOOTH                                                                                     \
    LRA_CHOICE_KEY("smoothing", "causal", "causal|centred-remask|centred|centred-renorm",          \
                   "positions over which weights are averaged, and their renormalisation"),        \
        LRA_INT_KEY("average", "3", 1, 1 << 10, "width of the average, in columns")
#define ALIBI                                                                                      \
    LRA_CHOICE_KEY("alibi", "paper", "paper|original",                                             \
                   "slopes divided by sqrt(K) (paper) or as published by ALiBi (original)")

static const lra_key keys_las[] = {BLOCKS, DECAY, SMOOTH, LRA_KEYS_END};
static const lra_key keys_l[] = {BLOCKS, DECAY, LRA_KEYS_END};
static const lra_key keys_s[] = {BLOCKS, SMOOTH, LRA_KEYS_END};
static const lra_key keys_alibi[] = {BLOCKS, ALIBI, LRA_KEYS_END};
static const lra_key keys_smooth_alibi[] = {BLOCKS, ALIBI, SMOOTH, LRA_KEYS_END};

/* Presets of table 9 of the paper. B: the setting `bound` for all tasks and for Text; P: the
 * setting `average` for tokens and for images; "" if the model lacks the key. Schedule and patience
 * are those of the S4 repository at the time of the paper. Presets that use pool=last there use
 * pool=mean here. */
#define PLATEAU "factor=0.2 final-share=0 "
#define LARGE   PLATEAU "layers=6 width=256 hidden=1024 "
/* clang-format off */
#define LAS(tasks, chosen) {tasks, "paper", "las", chosen, NULL}
#define TABLE(B, B_TEXT, P, P_IMAGE) {                                                              \
    {NULL, "quick", NULL, "layers=2 width=32 hidden=64 rate=0.002 decay=0.01", NULL},              \
    {NULL, "small", NULL, "layers=4 width=64 hidden=256 rate=0.001 decay=0.05", NULL},             \
    LAS("listops", LARGE "norm=post norm-kind=batch rate=0.001 batch=50 epochs=50 patience=5 decay=0.01 " B P), \
    LAS("text", PLATEAU "length=2048 layers=4 width=64 hidden=256 norm-kind=batch rate=0.0001 batch=50 epochs=20 patience=10 " \
                "decay=0 " B_TEXT P),                                                              \
    LAS("retrieval", LARGE "norm-kind=batch rate=0.002 batch=64 epochs=20 patience=20 decay=0 " B P), \
    LAS("image", LARGE "norm=post rate=0.001 batch=50 epochs=100 decay=0.01 " B P_IMAGE),          \
    LAS("pathfinder pathfinder-intermediate pathfinder-easy",                                      \
        LARGE "norm-kind=batch rate=0.004 batch=64 epochs=100 decay=0 " B P_IMAGE),                \
    {NULL, NULL, NULL, NULL, NULL}}
/* clang-format on */
static const lra_model_preset presets_las[] = TABLE("bound=0.001 ", "bound=0.0001 ", "average=5",
                                                    "average=3");
static const lra_model_preset presets_l[] = TABLE("bound=0.001 ", "bound=0.0001 ", "", "");
static const lra_model_preset presets_s[] = TABLE("", "", "average=5", "average=3");
static const lra_model_preset presets_smooth_alibi[] = TABLE("", "", "average=5", "average=3");
static const lra_model_preset presets_alibi[] = TABLE("", "", "", "");

static const char *const variants_las[] = {"alpha=geo norm=post norm-kind=batch chunk=5",
                                           "alpha=scale bound=0.5 average=5",
                                           "alpha=geo smoothing=centred average=5 chunk=3",
                                           "alpha=geo smoothing=centred-renorm average=5 chunk=3",
                                           "smoothing=centred-remask",
                                           NULL};
static const char *const variants_l[] = {"alpha=geo norm=post", "chunk=4 positions=learned", NULL};
static const char *const variants_s[] = {"chunk=4 average=5 positions=sinusoidal", NULL};
static const char *const variants_alibi[] = {"alibi=original chunk=6", NULL};
static const char *const variants_smooth_alibi[] = {"alibi=original average=5", NULL};

#define RECORD(title, id, what)                                                                    \
    .name = title, .paper = "ICML 2024: Zimerman & Wolf", .summary = what,                         \
    .deviations = "mean pooling for all tasks", .keys = keys_##id, .presets = presets_##id,        \
    .tiny = "layers=2 width=8 hidden=8 heads=2", .variants = variants_##id, .axis = "chunk",       \
    .match = "hidden", .encode = encode, .reach = reach,                                           \
    .position_dependent = lra_chunks_position_dependent, .period = lra_chunk_period,               \
    .causal = causal, .positions = lra_transformer_positions
/* clang-format off */
const lra_model lra_model_las = {
    RECORD("las", las, "causal attention with decaying scores and averaged weights")};
const lra_model lra_model_l = {RECORD("l", l, "causal attention with decaying scores")};
const lra_model lra_model_s = {RECORD("s", s, "causal attention with averaged weights")};
const lra_model lra_model_alibi = {
    RECORD("alibi", alibi, "causal attention with linear distance biases")};
const lra_model lra_model_smooth_alibi = {RECORD(
    "smooth-alibi", smooth_alibi, "linear distance biases and averaged weights")};
/* clang-format on */
