/* Attention and long convolution in sizes that fill tiles of CUDA kernels and leave rests: every
 * width that has kernels of its own, rows that end within a tile, every field of the spec.  The
 * profile by distance of the same.  Convolutions of several tiles of channels, and of every size
 * that CUDA kernels transform within shared memory. */
#include "tests/trial.h"

#include <stdio.h>

enum { N = 11 };

static const double decay[] = {0.05, 0, 0.5}, slope[] = {0.25, 0.01, 0};
static const struct {
    int64_t B, T, H, K;
    bool length;
    lra_attention_spec spec;
    int64_t keys, V, R; /* 0: as queries, as K, no bias */
    int limits;
} cases[N] = {
    {2, 150, 2, 16, true, .spec = {.scale = 0}},
    {2, 140, 3, 32, true,
     .spec = {.causal = true, .rotary_base = 100, .rotary_half = LRA_HALF_SLOW}},
    {1, 200, 2, 64, false, .spec = {.window = 40}},
    {2, 130, 1, 128, true, .spec = {.causal = true, .window = 70, .scale = 0.2}},
    {2, 140, 3, 32, true, .spec = {.slope = slope, .chunk = 48}},
    {1, 190, 3, 64, false, .spec = {.causal = true, .decay = decay, .smooth = 5}},
    {1, 150, 2, 24, true, .spec = {.decay = decay, .slope = slope, .smooth = 3, .chunk = 100}},
    {1, 70, 1, 150, false, .spec = {.causal = true}},
    {2, 70, 2, 32, true, .spec = {.cross = true}, .keys = 150},
    {1, 140, 2, 16, true, .spec = {.causal = true}, .V = 72, .R = 101, .limits = 2},
    {2, 130, 2, 32, true, .spec = {.window = 90}, .limits = 1},
};

static lra_tensor *build(lra_graph *g, int i, bool profile)
{
    char fill[32];
    int64_t B = cases[i].B, T = cases[i].T, H = cases[i].H, K = cases[i].K, R = cases[i].R;
    int64_t keys = cases[i].keys ? cases[i].keys : T, V = cases[i].V ? cases[i].V : K;
    lra_attention_spec s = cases[i].spec;
    lra_tensor *q = lra_sample_input(g, "q", "normal", LRA_SHAPE(B, T, H, K)), *length = NULL;
    lra_tensor *k = lra_sample_input(g, "k", "normal", LRA_SHAPE(B, keys, H, K));
    snprintf(fill, sizeof fill, "length:%d", (int)T);
    if (cases[i].length) length = lra_sample_input(g, "length", fill, LRA_SHAPE(B));
    if (cases[i].limits)
        s.limit = lra_sample_input(g, "limit", "index:80", LRA_SHAPE(cases[i].limits));
    if (R) s.bias = lra_cast(lra_sample_input(g, "bias", "normal", LRA_SHAPE(H, R)), lra_real(g));
    if (profile) return lra_attention_profile(q, k, length, &s);
    return lra_attention(q, k, lra_sample_input(g, "v", "normal", LRA_SHAPE(B, keys, H, V)), length,
                         &s);
}

static lra_tensor *attend(lra_graph *g, int i)
{
    return i < N ? build(g, i, false) : NULL;
}

static lra_tensor *look(lra_graph *g, int i)
{
    return i < N ? build(g, i, true) : NULL;
}

const lra_op trial_attention = {.name = "attention, large", .sample = attend};
const lra_op trial_profile = {
    .name = "attention_profile, large", .flags = LRA_NOGRAD, .sample = look};

static lra_tensor *convolve(lra_graph *g, int i)
{
    static const struct {
        int64_t B, T, D, L;
        bool two_sided, length;
    } s[] = {{3, 100, 40, 100, false, true},   {2, 70, 33, 90, true, true},
             {4, 200, 8, 30, true, false},     {3, 500, 5, 500, false, true},
             {4, 290, 3, 700, true, true},     {3, 700, 2, 900, true, true},
             {5, 1300, 2, 1000, false, false}, {3, 2100, 1, 2100, true, true}};
    char fill[32];
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    lra_shape k = s[i].two_sided ? LRA_SHAPE(2, s[i].D, s[i].L) : LRA_SHAPE(s[i].D, s[i].L);
    lra_tensor *x = lra_sample_input(g, "x", "normal", LRA_SHAPE(s[i].B, s[i].T, s[i].D));
    lra_tensor *kernel = lra_cast(lra_sample_input(g, "kernel", "normal", k), lra_real(g));
    snprintf(fill, sizeof fill, "length:%d", (int)s[i].T);
    return lra_long_conv(
        x, kernel, s[i].length ? lra_sample_input(g, "length", fill, LRA_SHAPE(s[i].B)) : NULL);
}

const lra_op trial_long_conv = {.name = "long_conv, large", .sample = convolve};

/* A layer with a way around it, whose way back has nodes that a GPU runs as one. */
static lra_tensor *block(lra_graph *g, int i)
{
    static const struct {
        int64_t B, T, D, H, K;
        lra_act act;
        bool length;
    } s[] = {{2, 140, 24, 40, 3, LRA_ACT_GELU, true},  {1, 600, 16, 32, 1, LRA_ACT_SILU, false},
             {1, 40, 200, 16, 3, LRA_ACT_GELU, false}, {2, 30, 300, 16, 1, LRA_ACT_NONE, true},
             {2, 20, 12, 7, 3, LRA_ACT_SILU, true},    {3, 50, 136, 144, 1, LRA_ACT_GELU, true}};
    char fill[32];
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    int64_t B = s[i].B, T = s[i].T, D = s[i].D, H = s[i].H;
    snprintf(fill, sizeof fill, "length:%d", (int)T);
    lra_tensor *length = s[i].length ? lra_sample_input(g, "length", fill, LRA_SHAPE(B)) : NULL;
    lra_tensor *x = lra_cast(lra_sample_input(g, "x", "normal", LRA_SHAPE(B, T, D)), lra_elem(g));
    lra_tensor *gain = lra_sample_input(g, "gain", "positive", LRA_SHAPE(D));
    lra_tensor *shift = lra_sample_input(g, "shift", "normal", LRA_SHAPE(D));
    lra_tensor *w = lra_sample_input(g, "w", "normal", LRA_SHAPE(s[i].K, D, H));
    lra_tensor *bias = lra_sample_input(g, "bias", "normal", LRA_SHAPE(H));
    lra_tensor *back = lra_sample_input(g, "back", "normal", LRA_SHAPE(H, D));
    lra_tensor *more = lra_sample_input(g, "more", "normal", LRA_SHAPE(D));
    lra_tensor *h = lra_conv(lra_layer_norm(x, gain, shift, 0), lra_affine(w, 0.1, 0), bias,
                             s[i].act, length, 1, 1);
    return lra_linear(h, back, more, LRA_ACT_NONE, x);
}

const lra_op trial_block = {.name = "block, large", .sample = block};

/* More modes than a block of the CUDA kernel keeps in shared memory at a time. */
static lra_tensor *many_modes(lra_graph *g, int i)
{
    if (i > 0) return NULL;
    lra_tensor *a = lra_cast(lra_sample_input(g, "a", "normal", LRA_SHAPE(2, 1, 520)), lra_real(g));
    lra_tensor *c = lra_cast(lra_sample_input(g, "c", "normal", LRA_SHAPE(2, 2, 520)), lra_real(g));
    return lra_ssm_kernel(lra_affine(a, 0.01, 0), c, NULL, 20);
}

const lra_op trial_modes = {.name = "ssm_kernel, large", .sample = many_modes};
