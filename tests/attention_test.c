/* Fused attention and its profile against the formulas with whole maps, in double: decay, slopes, chunks, windows,
 * padding, rotary positions and smoothing as the papers write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/ops.h"

enum { B = 2, T = 70, H = 3, K = 4, N = B * T * H * K };

static const double decay[H] = {0, 0.3, 0.02}, slope[H] = {0.5, 0.25, 0.125};
static const int32_t lengths[B] = {T, 41};
static const lra_attention_spec specs[] = {
    {.scale = 0},
    {.causal = true, .scale = 0.9},
    {.causal = true, .decay = decay, .smooth = 3, .chunk = 16},
    {.decay = decay, .smooth = 5},
    {.slope = slope, .window = 7, .chunk = 32},
    {.causal = true, .rotary_base = 50, .rotary_half = true, .slope = slope},
};
enum { SPECS = sizeof specs / sizeof *specs };

static double value[3][N]; /* q, k, v */

static void fill(void)
{
    for (int x = 0; x < 3; x++) {
        lra_rng r = lra_rng_new(5, (uint32_t)x, 0);
        for (int i = 0; i < N; i++) value[x][i] = (double)(float)(4 * lra_rng_u01(&r) - 2);
    }
}

static int at(int b, int t, int h, int d)
{
    return ((b * T + t) * H + h) * K + d;
}

/* ---- the formulas -------------------------------------------------------------------------------------------- */

static double turned(const lra_attention_spec *s, const double *x, int b, int t, int h, int d)
{
    if (s->rotary_base <= 0) return x[at(b, t, h, d)];
    int i = d / 2;
    double w = s->rotary_half && i >= K / 4 ? 0 : pow(s->rotary_base, -2.0 * i / K);
    double a = x[at(b, t, h, 2 * i)], c = x[at(b, t, h, 2 * i + 1)];
    return d % 2 ? c * cos(t * w) + a * sin(t * w) : a * cos(t * w) - c * sin(t * w);
}

static bool allowed(const lra_attention_spec *s, int n, int i, int j)
{
    bool same = s->chunk == 0 || i / s->chunk == j / s->chunk;
    bool near = s->window == 0 || llabs(i - j) <= s->window;
    return j < n && same && near && (!s->causal || j <= i);
}

/* Row i of the map before smoothing. */
static void softmax_row(const lra_attention_spec *s, int b, int h, int i, double *a)
{
    double sum = 0, scale = s->scale > 0 ? s->scale : 1 / sqrt(K);
    for (int j = 0; j < T; j++) {
        double dot = 0, d = fabs((double)(i - j));
        for (int c = 0; c < K; c++)
            dot += turned(s, value[0], b, i, h, c) * turned(s, value[1], b, j, h, c);
        dot = scale * dot * (s->decay ? exp(-s->decay[h] * d) : 1) -
              (s->slope ? s->slope[h] * d : 0);
        a[j] = allowed(s, lengths[b], i, j) ? exp(dot) : 0;
        sum += a[j];
    }
    for (int j = 0; j < T; j++) a[j] /= sum;
}

/* Column j becomes the mean of columns j .. j+P-1 (causal) or j-(P-1)/2 .. j+(P-1)/2 of its chunk. */
static void smooth_row(const lra_attention_spec *s, int n, double *a)
{
    double from[T];
    memcpy(from, a, sizeof from);
    for (int j = 0; j < T && s->smooth > 1; j++) {
        int first = s->causal ? j : j - (s->smooth - 1) / 2;
        a[j] = 0;
        for (int c = first; c < first + s->smooth; c++) {
            bool inside = c >= 0 && c < n && j < n &&
                          (s->chunk == 0 || c / s->chunk == j / s->chunk);
            a[j] += inside ? from[c] / s->smooth : 0;
        }
    }
}

static void expect(const lra_attention_spec *s, double *y, double *profile)
{
    double a[T];
    memset(y, 0, N * sizeof *y);
    memset(profile, 0, B * H * T * sizeof *profile);
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < lengths[b]; i++) {
                softmax_row(s, b, h, i, a);
                smooth_row(s, lengths[b], a);
                for (int j = 0; j < T; j++) {
                    profile[(b * H + h) * T + abs(i - j)] += a[j] / lengths[b];
                    for (int d = 0; d < K; d++)
                        y[at(b, i, h, d)] += a[j] * value[2][at(b, j, h, d)];
                }
            }
}

/* ---- the ops ---------------------------------------------------------------------------------------------------- */

static void compute(const lra_attention_spec *s, lra_type type, double *y, double *profile)
{
    lra_err e = {{0}};
    lra_device device;
    const char *name[] = {"q", "k", "v"};
    lra_graph *g = lra_graph_new(type, LRA_EVAL);
    lra_tensor *x[3], *length = lra_input(g, "length", LRA_I32, LRA_SHAPE(B));
    for (int i = 0; i < 3; i++) x[i] = lra_input(g, name[i], type, LRA_SHAPE(B, T, H, K));
    lra_tensor *out[] = {lra_attention(x[0], x[1], x[2], length, s),
                         lra_attention_profile(x[0], x[1], length, s)};
    assert_int_equal(lra_cpu_device(&device, 2, &e), 0);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(g, params, space, 2, out, &e);
    if (!plan) fail_msg("%s", e.msg);
    float *single = lra_alloc_array(N, sizeof *single);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < N; k++) single[k] = (float)value[i][k];
        const void *host = type == LRA_F64 ? (const void *)value[i] : single;
        assert_int_equal(lra_set(plan, x[i], host, &e), 0);
    }
    assert_int_equal(lra_set(plan, length, lengths, &e), 0);
    assert_int_equal(lra_run(plan, &e), 0);
    double *to[] = {y, profile};
    const int n[] = {N, B * H * T};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lra_get(plan, out[i], type == LRA_F64 ? (void *)to[i] : single, &e), 0);
        for (int k = 0; k < n[i] && type != LRA_F64; k++) to[i][k] = (double)single[k];
    }
    lra_free(single);
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(g);
}

static void compare(const char *what, int spec, int n, const double *found, const double *wanted,
                    double tolerance)
{
    for (int i = 0; i < n; i++)
        if (fabs(found[i] - wanted[i]) > tolerance)
            fail_msg("spec %d, %s, element %d: %.12g, expected %.12g", spec, what, i, found[i],
                     wanted[i]);
}

static void the_fused_op_is_the_formula(void **state)
{
    (void)state;
    static double y[2][N], profile[2][B * H * T];
    fill();
    for (int i = 0; i < SPECS; i++) {
        expect(&specs[i], y[0], profile[0]);
        for (int single = 0; single < 2; single++) {
            compute(&specs[i], single ? LRA_F32 : LRA_F64, y[1], profile[1]);
            compare("y", i, N, y[1], y[0], single ? 1e-5 : 1e-13);
            compare("profile", i, B * H * T, profile[1], profile[0], single ? 1e-6 : 1e-13);
        }
    }
}

static void refuse(const lra_shape s, const lra_attention_spec *spec, const char *expected)
{
    lra_err e = {{0}};
    lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_tensor *x = lra_input(g, "x", LRA_F32, s);
    lra_attention(x, x, x, NULL, spec);
    assert_int_equal(lra_graph_check(g, &e), -1);
    if (!strstr(e.msg, expected)) fail_msg("'%s', expected '%s'", e.msg, expected);
    lra_graph_free(g);
}

static void wrong_use_is_named(void **state)
{
    (void)state;
    refuse(LRA_SHAPE(2, 3, 4), &specs[0], "q has rank 3, expected (B,T,H,K)");
    refuse(LRA_SHAPE(1, 2, 65, 2), &specs[0], "65 heads, at most 64");
    refuse(LRA_SHAPE(1, 2, 1, 3), &specs[5], "heads of 3 channels, expected an even number");
    refuse(LRA_SHAPE(1, 2, 1, 2), &(lra_attention_spec){.smooth = 4},
           "width is 4, expected a positive odd number");
    refuse(LRA_SHAPE(1, 2, 1, 2), &(lra_attention_spec){.chunk = -1}, "must not be negative");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fused_op_is_the_formula),
        cmocka_unit_test(wrong_use_is_named),
    };
    return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
