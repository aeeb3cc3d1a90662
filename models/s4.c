/* s4: long convolutions with kernels of a state space whose matrix is diagonal plus rank one.
 *
 *   h = GELU(k * u + D u);  (p, q) = W h + b;  x = x + p sigmoid(q);  u = Norm(x)      the blocks of conv_blocks.h
 *   k_l = C Ab^l Bb,  A = diag(a) - P Q^*                                              bilinear, see s4_kernel.h
 *
 * version=v4, v3, v1: parameters as in these versions of the public code; papers that use v1 set
 * causal=1 and gate=0.
 * Source: Gu et al. 2022, Efficiently Modeling Long Sequences with Structured State Spaces, and its
 * later code.  Differences: inputs longer than the longest length of the task are not supported;
 * the third dropout of v4, before GELU, is a key with default 0. */
#include <math.h>

#include "kernels/graph/op.h"
#include "models/conv_blocks.h"
#include "models/s4_kernel.h"

static lra_tensor *kernel(const lra_build *b)
{
    const lra_config *c = b->config;
    bool v1 = lra_config_is(c, "version", "v1"), v3 = lra_config_is(c, "version", "v3");
    return lra_s4_kernel(b, &(lra_s4_spec){.version = v1   ? LRA_S4_V1
                                                      : v3 ? LRA_S4_V3
                                                           : LRA_S4_V4,
                                           .width = lra_config_int(c, "width"),
                                           .state = lra_config_int(c, "state"),
                                           .copies = lra_config_int(c, "ssm-copies"),
                                           .dt_min = lra_config_real(c, "dt-min"),
                                           .dt_max = lra_config_real(c, "dt-max"),
                                           .rate = lra_config_real(c, "ssm-rate"),
                                           .all = lra_config_is(c, "slow", "all")});
}

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    if (lra_config_real(b->config, "dt-min") > lra_config_real(b->config, "dt-max"))
        lra_graph_fail(b->graph, "dt-min is above dt-max");
    return lra_conv_blocks(b, x, "ssm", kernel);
}

static const lra_key keys[] = {
    LRA_CONV_BLOCK_KEYS("0", "1"),
    LRA_FLAG_KEY("early-dropout", "0", "drop values before GELU, too, each independently"),
    LRA_CHOICE_KEY("version", "v4", "v4|v3|v1", "version of the public code"),
    LRA_INT_KEY("state", "64", 2, 3072, "state size (conjugate pairs count twice)"),
    LRA_INT_KEY("ssm-copies", "1", 1, 1 << 20,
                "number of sets of a, B and P, shared among the channels"),
    LRA_REAL_KEY("dt-min", "0.001", 1e-9, 1e3, "smallest initial step dt"),
    LRA_REAL_KEY("dt-max", "0.1", 1e-9, 1e3, "largest initial step dt"),
    LRA_REAL_KEY("ssm-rate", "0.001", 0, 10, "learning rate of a, B and P (0 = the global rate)"),
    LRA_CHOICE_KEY(
        "slow", "all", "all|matrix",
        "parameters with learning rate ssm-rate: all, or only a, B and P (not dt, and C of v4)"),
    LRA_KEYS_END};

#define COS   "schedule=cosine "
#define BN    "norm-kind=batch decay=0.05 "
#define SMALL BN "width=256 state=4 slow=matrix rate=0.01 "
#define WIDE  BN "width=256 ssm-copies=256 "
#define IMAGE "width=512 norm=post dropout=0.1 rate=0.01 batch=50 decay=0.05 "
#define V1    "version=v1 causal=1 gate=0 norm-kind=batch slow=matrix "
#define PATHS "pathfinder pathfinder-intermediate pathfinder-easy"
/* clang-format off */
#define LOCALITY(tasks, settings) {tasks, "paper", "locality", settings, NULL}
#define SPT(tasks, settings) {tasks, "paper", "spt", settings, NULL}
/* clang-format on */
/* Sources of the settings. own: the latest public code. locality: the same sizes, with that paper's
 * epochs and schedule. spt: the presets of arXiv:2310.02980 for training after pretraining. las:
 * version v1, the baseline of that paper. */
static const lra_model_preset presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 state=16 rate=0.004 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 rate=0.004 decay=0.05", NULL},
    LOCALITY("listops", SMALL "norm=post batch=32"),
    LOCALITY("text", SMALL "batch=16"),
    LOCALITY("retrieval", SMALL "batch=64"),
    LOCALITY("image", "norm-kind=batch " IMAGE),
    LOCALITY(PATHS, WIDE "rate=0.004 batch=64"),
    SPT("listops", BN "layers=8 norm=post ssm-copies=128 slow=matrix rate=0.01 batch=50 epochs=40 "
                      "schedule=constant warmup=2000"),
    SPT("text", WIDE COS "slow=matrix rate=0.01 batch=16 epochs=32 total-steps=50000 warmup=5000"),
    SPT("retrieval", WIDE "slow=matrix rate=0.01 batch=64 epochs=20 schedule=constant warmup=2500"),
    SPT("image", IMAGE COS "ssm-copies=2 epochs=200 total-steps=200000 warmup=1000"),
    SPT(PATHS, WIDE "rate=0.004 decay=0.03 batch=64 epochs=200 schedule=constant warmup=2500 "
                    "pool=last"),
    SPT("path-x", WIDE COS "dt-min=0.0001 rate=0.0005 batch=16 epochs=50 total-steps=500000 "
                           "warmup=10000"),
    LRA_OWN_PRESET("listops",
                   SMALL COS "norm=post batch=32 epochs=40 total-steps=120000 warmup=12000"),
    LRA_OWN_PRESET("text", SMALL COS "batch=16 epochs=32 total-steps=50000 warmup=5000"),
    LRA_OWN_PRESET("retrieval", SMALL COS "batch=64 epochs=20 total-steps=50000 warmup=5000"),
    LRA_OWN_PRESET("image",
                   "norm-kind=batch " IMAGE COS "epochs=200 total-steps=180000 warmup=18000"),
    LRA_OWN_PRESET(PATHS, WIDE COS "rate=0.004 batch=64 epochs=200 total-steps=500000 "
                                   "warmup=50000"),
    LRA_OWN_PRESET("path-x", WIDE COS "dt-min=0.0001 rate=0.001 batch=16 epochs=50 "
                                      "total-steps=500000 warmup=50000"),
    LRA_OWN_PRESET("scifar", IMAGE COS "ssm-copies=2 epochs=200 total-steps=180000 warmup=900"),
    LRA_OWN_PRESET("speech-commands", BN COS "ssm-copies=2 rate=0.01 batch=16 epochs=40 "
                                             "total-steps=200000 warmup=1000"),
    LRA_OWN_PRESET("bidmc-hr bidmc-rr bidmc-spo2", BN "state=256 rate=0.01 batch=32 "
                                                      "epochs=500 schedule=multistep every=100"),
    {"listops", "paper", "las", V1 "norm=post rate=0.01 decay=0.01 batch=50 epochs=50", NULL},
    {"text", "paper", "las",
     V1 "length=2048 layers=4 rate=0.01 decay=0 batch=50 epochs=40 pool=last", NULL},
    {"retrieval", "paper", "las", V1 "width=256 rate=0.002 decay=0 batch=64 epochs=25", NULL},
    {"image", "paper", "las",
     V1 "width=512 norm=post dropout=0.2 rate=0.004 decay=0.01 batch=50 epochs=100", NULL},
    {PATHS, "paper", "las",
     V1 "width=256 dropout=0.1 rate=0.004 decay=0 batch=100 epochs=200 pool=last", NULL},
    {"path-x", "paper", "las", V1 "width=256 rate=0.0005 decay=0 batch=32 epochs=100", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const char *const variants[] = {
    "ssm-copies=2 causal=1 slow=matrix", "version=v3 norm=post norm-kind=batch gate=0",
    "version=v1 causal=1 gate=0", "dropout=0.1 early-dropout=1", NULL};

const lra_model lra_model_s4 = {
    .name = "s4",
    .paper = "arXiv:2111.00396",
    .summary = "long convolutions with kernels of a diagonal plus a low-rank matrix",
    .deviations = "padding is excluded from the convolution; early-dropout, which v4 has, is 0",
    .keys = keys,
    .presets = presets,
    .tiny = "layers=2 width=6 state=4",
    .variants = variants,
    .match = "width",
    .pools = LRA_POOLS_ROWS,
    .encode = encode,
    .reach = lra_conv_blocks_reach,
    .causal = lra_conv_blocks_causal,
};
