/* Attention and long convolution in sizes that fill tiles of CUDA kernels and leave rests: every width that has kernels of its own, rows
 * that end within a tile, every field of the spec.  The profile by distance of the same.  Convolutions of several tiles of channels, and of
 * every size that CUDA kernels transform within shared memory. */
#include "tests/trial.h"

#include <stdio.h>

enum { N = 8 };

static const double decay[] = {0.05, 0, 0.5}, slope[] = {0.25, 0.01, 0};
static const struct {
    int64_t B, T, H, K;
    bool length;
    lra_attention_spec spec;
} cases[N] = {
    {2, 150, 2, 16, true, {.scale = 0}},
    {2, 140, 3, 32, true, {.causal = true, .rotary_base = 100, .rotary_half = true}},
    {1, 200, 2, 64, false, {.window = 40}},
    {2, 130, 1, 128, true, {.causal = true, .window = 70, .scale = 0.2}},
    {2, 140, 3, 32, true, {.slope = slope, .chunk = 48}},
    {1, 190, 3, 64, false, {.causal = true, .decay = decay, .smooth = 5}},
    {1, 150, 2, 24, true, {.decay = decay, .slope = slope, .smooth = 3, .chunk = 100}},
    {1, 70, 1, 150, false, {.causal = true}},
};

static lra_tensor *build(lra_graph *g, int i, bool profile)
{
    char fill[32];
    lra_tensor *x[3], *length = NULL;
    static const char *const name[] = {"q", "k", "v"};
    for (int n = 0; n < 3 - profile; n++)
        x[n] = lra_sample_input(g, name[n], "normal",
                                LRA_SHAPE(cases[i].B, cases[i].T, cases[i].H, cases[i].K));
    snprintf(fill, sizeof fill, "length:%d", (int)cases[i].T);
    if (cases[i].length) length = lra_sample_input(g, "length", fill, LRA_SHAPE(cases[i].B));
    return profile ? lra_attention_profile(x[0], x[1], length, &cases[i].spec)
                   : lra_attention(x[0], x[1], x[2], length, &cases[i].spec);
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
