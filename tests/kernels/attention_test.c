/* Fused attention and its profile, compared in double with the formulas applied to entire maps:
 * decay, slopes, learned biases, chunks, windows, limits, keys of another sequence, padding, rotary
 * positions, and smoothing as in the papers. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/features.h"
#include "kernels/graph/ops.h"
#include "tests/fixtures/op_sample.h"

enum { B = 2, T = 70, H = 3, K = 4, N = B * T * H * K, OTHERS = 90, V = 6, R = 41 };

/* keys: number of keys; values: channels of values; biased: there is a bias; limit: distance limit,
 * -1: none, OWN: every head has its own. */
typedef struct {
    lra_attention_spec spec;
    int keys, values;
    bool biased;
    int limit;
} attention_case;

static const double decay[H] = {0, 0.3, 0.02}, slope[H] = {0.5, 0.25, 0.125};
static const int32_t lengths[B] = {T, 41}, others[B] = {23, OTHERS};
enum { OWN = -2 };
static const int32_t own_limit[H] = {9, 0, 31};
static const attention_case cases[] = {
    {{.scale = 0}, T, K, false, -1},
    {{.causal = true, .scale = 0.9}, T, K, false, -1},
    {{.causal = true, .decay = decay, .smooth = 3, .chunk = 16}, T, K, false, -1},
    {{.decay = decay, .smooth = 5}, T, K, false, -1},
    {{.slope = slope, .window = 7, .chunk = 32}, T, K, false, -1},
    {{.causal = true, .rotary_base = 50, .rotary_half = LRA_HALF_SLOW, .slope = slope},
     T,
     K,
     false,
     -1},
    {{.rotary_base = 50, .rotary_half = LRA_HALF_FAST}, T, V, true, -1},
    {{.causal = true, .decay = decay}, T, V, true, 9},
    {{.smooth = 3}, T, K, false, 0},
    {{.window = 5, .slope = slope}, T, K, false, 30},
    {{.chunk = 16, .neighbours = 1}, T, K, false, -1},
    {{.chunk = 9, .neighbours = 2, .causal = true, .decay = decay}, T, V, false, 11},
    {{.window = 8, .ahead = 7}, T, K, false, -1},
    {{.window = 3, .ahead = 20, .slope = slope}, T, K, true, 15},
    {{.stride = 6}, T, K, false, -1},
    {{.stride = 9, .causal = true, .rotary_base = 50}, T, V, false, 31},
    {{.stride = 4, .slope = slope, .decay = decay}, T, K, false, 22},
    {{.causal = true, .centred = true, .smooth = 5, .decay = decay}, T, K, false, -1},
    {{.causal = true, .centred = true, .renorm = true, .smooth = 3, .chunk = 16}, T, V, false, -1},
    {{.causal = true, .renorm = true, .smooth = 5, .slope = slope}, T, K, false, -1},
    {{.block = 16}, T, K, false, -1},
    {{.block = 9, .causal = true, .decay = decay}, T, V, true, 30},
    {{.cross = true}, OTHERS, V, false, -1},
    {{.cross = true, .causal = true, .decay = decay, .smooth = 5, .rotary_base = 20},
     OTHERS,
     K,
     true,
     12},
    {{.laplace = true}, T, V, true, -1},
    {{.laplace = true, .chunk = 32, .scale = 3, .decay = decay}, T, K, false, 9},
    {{.dropout = 0.3}, T, V, true, -1},
    {{.dropout = 0.9, .causal = true, .slope = slope, .window = 20}, T, K, false, -1},
    {{.dropout = 0.1, .cross = true}, OTHERS, V, false, -1},
    {{.dropout = 0.5, .block = 16}, T, K, false, 30},
    {{.dropout = 0.2, .laplace = true, .chunk = 32}, T, K, true, -1},
    {{.scale = 0}, T, K, false, OWN},
    {{.causal = true, .decay = decay, .window = 25}, T, V, true, OWN},
    {{.stride = 4, .slope = slope, .decay = decay}, T, K, false, OWN},
    {{.block = 9, .dropout = 0}, T, K, true, OWN},
    {{.laplace = true, .chunk = 32, .scale = 3}, T, K, false, OWN},
    {{.smooth = 3}, T, K, false, OWN},
};
enum { CASES = sizeof cases / sizeof *cases };

enum { MOST = B * OTHERS * H * V };
static double value[4][MOST]; /* inputs q, k, v and the bias (H, R) */

static void fill(void)
{
    for (int x = 0; x < 4; x++) {
        lra_rng r = lra_rng_new(5, (uint32_t)x, 0);
        for (int i = 0; i < MOST; i++) value[x][i] = (double)(float)(4 * lra_rng_u01(&r) - 2);
    }
}

/* Returns the index of channel c of position t, head h and example b in an array with `rows` rows
 * of `width` channels. */
static int at(int rows, int width, int b, int t, int h, int d)
{
    return ((b * rows + t) * H + h) * width + d;
}

/* ---- the formulas ---------------------------------------------------------------------------- */

static double turned(const lra_attention_spec *s, const double *x, int rows, int b, int t, int h,
                     int d)
{
    if (s->rotary_base <= 0) return x[at(rows, K, b, t, h, d)];
    int i = d / 2;
    bool still = s->rotary_half == (i >= K / 4 ? LRA_HALF_SLOW : LRA_HALF_FAST);
    double w = still ? 0 : pow(s->rotary_base, -2.0 * i / K);
    double p = x[at(rows, K, b, t, h, 2 * i)], q = x[at(rows, K, b, t, h, 2 * i + 1)];
    return d % 2 ? q * cos(t * w) + p * sin(t * w) : p * cos(t * w) - q * sin(t * w);
}

static int keys_in(const attention_case *c, int b)
{
    return c->spec.cross ? others[b] : lengths[b];
}

enum { LISTED = 3 };

/* Returns true if query block i of head h may attend to key block j: to blocks 0, i and i + h + 1;
 * query block 2 attends to all. */
static bool lists(int64_t i, int64_t j, int h, int64_t n)
{
    return i == 2 || j == 0 || j == i || (j == i + h + 1 && j < n);
}

static int limit_of(const attention_case *c, int h)
{
    return c->limit == OWN ? own_limit[h] : c->limit;
}

static bool allowed(const attention_case *c, int n, int h, int i, int j)
{
    const lra_attention_spec *s = &c->spec;
    bool same = s->chunk == 0 || llabs(i / s->chunk - j / s->chunk) <= s->neighbours;
    int64_t ahead = s->ahead ? s->ahead : s->window;
    bool near = s->window == 0 || (i - j <= s->window && j - i <= ahead);
    if (limit_of(c, h) >= 0 && abs(i - j) > limit_of(c, h)) return false;
    if (s->stride && (i - j) % s->stride) return false;
    if (s->block && !lists(i / s->block, j / s->block, h, T)) return false;
    return j < n && same && near && (!s->causal || j <= i);
}

/* Returns the number of keys of a row without the limit, at least 1. */
static double seen(const attention_case *c, int b, int h, int i)
{
    attention_case all = *c;
    int n = 0;
    all.limit = -1;
    for (int j = 0; j < c->keys; j++) n += allowed(&all, keys_in(c, b), h, i, j);
    return n ? n : 1;
}

/* Computes row i of the map before smoothing; zeros if the row has no keys. */
static void softmax_row(const attention_case *c, int b, int h, int i, double *a)
{
    const lra_attention_spec *s = &c->spec;
    double sum = 0, scale = s->scale > 0 ? s->scale : 1 / sqrt(K);
    for (int j = 0; j < c->keys; j++) {
        double dot = 0, d = fabs((double)(i - j));
        if (s->laplace) scale = (s->scale > 0 ? s->scale : 1) / seen(c, b, h, i);
        for (int k = 0; k < K; k++)
            dot += turned(s, value[0], T, b, i, h, k) * turned(s, value[1], c->keys, b, j, h, k);
        dot = scale * dot * (s->decay ? exp(-s->decay[h] * d) : 1) -
              (s->slope ? s->slope[h] * d : 0);
        int entry = j - i < -(R / 2) ? 0 : j - i > R / 2 ? R - 1 : j - i + R / 2;
        if (c->biased) dot += value[3][h * R + entry];
        double weight = s->laplace ? (1 + erf((dot - 0.707107) / 0.282095 / sqrt(2))) / 2
                                   : exp(dot);
        a[j] = allowed(c, keys_in(c, b), h, i, j) ? weight : 0;
        sum += a[j];
    }
    for (int j = 0; j < c->keys && !s->laplace; j++) a[j] /= sum > 0 ? sum : 1;
}

/* Replaces column j by the mean of the columns j .. j+P-1 (causal) or j-(P-1)/2 .. j+(P-1)/2 of its
 * chunk; with renorm, rows are normalized to the sum 1 again. */
static void moving_average_row(const attention_case *c, int n, double *a)
{
    const lra_attention_spec *s = &c->spec;
    double from[OTHERS];
    memcpy(from, a, sizeof from);
    double sum = 0;
    for (int j = 0; j < c->keys && s->smooth > 1; j++) {
        int first = s->causal && !s->centred ? j : j - (s->smooth - 1) / 2;
        a[j] = 0;
        for (int k = first; k < first + s->smooth; k++) {
            bool inside = k >= 0 && k < n && j < n &&
                          (s->chunk == 0 || k / s->chunk == j / s->chunk);
            a[j] += inside ? from[k] / s->smooth : 0;
        }
        sum += a[j];
    }
    for (int j = 0; j < c->keys && s->renorm && sum > 0; j++) a[j] /= sum;
}

static const lra_step drawn_at = {.seed = 0x123456789, .step = 1ull << 33 | 5};

/* Returns the factor of a weight by dropout: it follows from word i % 4 of draw ((b H + h) keys +
 * j) ceil(T/4) + i/4 of the node "attention". */
static double kept(const attention_case *c, int b, int h, int i, int j)
{
    double rate = c->spec.dropout;
    uint64_t draw = (uint64_t)(((b * H + h) * c->keys + j) * ((T + 3) / 4) + i / 4);
    lra_rng key = lra_rng_new(drawn_at.seed, lra_hash32("attention"), 0);
    lra_philox w = lra_philox_at(key.key[0], key.key[1], (uint32_t)drawn_at.step,
                                 (uint32_t)(drawn_at.step >> 32), (uint32_t)draw,
                                 (uint32_t)(draw >> 32));
    if (rate == 0) return 1;
    return (double)lra_u01f(w.v[i % 4]) < rate ? 0 : 1 / (1 - rate);
}

static int distances(const attention_case *c)
{
    return c->keys > T ? c->keys : T;
}

static void expect(const attention_case *c, double *y, double *profile)
{
    double a[OTHERS];
    int D = distances(c);
    memset(y, 0, MOST * sizeof *y);
    memset(profile, 0, (size_t)(B * H * D) * sizeof *profile);
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < lengths[b]; i++) {
                softmax_row(c, b, h, i, a);
                moving_average_row(c, keys_in(c, b), a);
                double all = 0;
                for (int j = 0; j < c->keys; j++) all += a[j];
                if (!c->spec.laplace || all == 0) all = 1;
                for (int j = 0; j < c->keys; j++) {
                    profile[(b * H + h) * D + abs(i - j)] += a[j] / lengths[b] / all;
                    for (int d = 0; d < c->values; d++)
                        y[at(T, c->values, b, i, h, d)] +=
                            a[j] * kept(c, b, h, i, j) *
                            value[2][at(c->keys, c->values, b, j, h, d)];
                }
            }
}

/* ---- the ops --------------------------------------------------------------------------------- */

typedef struct {
    lra_graph *g;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
    lra_tensor *x[4], *length, *key_length, *limit, *blocks, *out[2];
} attention_machine;

static void set_reals(attention_machine *m, lra_type type, lra_tensor *x, const double *v)
{
    lra_err e = {{0}};
    int n = (int)lra_shape_elements(lra_tensor_shape(x));
    float *single = lra_alloc_array((size_t)n, sizeof *single);
    for (int k = 0; k < n; k++) single[k] = (float)v[k];
    assert_int_equal(lra_set(m->plan, x, type == LRA_F64 ? (const void *)v : single, &e), 0);
    lra_free(single);
}

static void set_blocks(attention_machine *m)
{
    lra_err e = {{0}};
    int32_t list[B * H * T * LISTED];
    int64_t n = lra_tensor_shape(m->blocks).d[2], at_row = 0;
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int64_t i = 0; i < n; i++, at_row++) {
                int32_t *row = list + at_row * LISTED;
                int filled = 0;
                for (int64_t j = 0; j < n && i != 2; j++)
                    if (lists(i, j, h, n)) row[filled++] = (int32_t)j;
                if (i == 2) row[filled++] = -2;
                while (filled < LISTED) row[filled++] = -1;
            }
    assert_int_equal(lra_set(m->plan, m->blocks, list, &e), 0);
}

static attention_machine open_machine(const attention_case *c, lra_type type, lra_device *device)
{
    lra_err e = {{0}};
    lra_attention_spec s = c->spec;
    attention_machine m = {.g = lra_graph_new(type, s.dropout > 0 ? LRA_TRAIN : LRA_EVAL)};
    m.length = lra_input(m.g, "length", LRA_I32, LRA_SHAPE(B));
    m.x[0] = lra_input(m.g, "q", type, LRA_SHAPE(B, T, H, K));
    m.x[1] = lra_input(m.g, "k", type, LRA_SHAPE(B, c->keys, H, K));
    m.x[2] = lra_input(m.g, "v", type, LRA_SHAPE(B, c->keys, H, c->values));
    if (c->biased) s.bias = m.x[3] = lra_input(m.g, "bias", type, LRA_SHAPE(H, R));
    if (s.cross) s.key_length = m.key_length = lra_input(m.g, "keys", LRA_I32, LRA_SHAPE(B));
    if (c->limit != -1)
        s.limit = m.limit = lra_input(m.g, "limit", LRA_I32, LRA_SHAPE(c->limit == OWN ? H : 1));
    if (s.block)
        s.blocks = m.blocks = lra_input(m.g, "blocks", LRA_I32,
                                        LRA_SHAPE(B, H, (T + s.block - 1) / s.block, LISTED));
    m.out[0] = lra_attention(m.x[0], m.x[1], m.x[2], m.length, &s);
    m.out[1] = s.smooth > 1 || s.stride > 1 ? lra_attention_profile(m.x[0], m.x[1], m.length, &s)
                                            : lra_attention_profile_of(m.out[0]);
    assert_int_equal(lra_cpu_device(device, 2, &e), 0);
    m.params = lra_params_new(device, 1);
    m.space = lra_space_new(device);
    m.plan = lra_plan_new(m.g, m.params, m.space, 2, m.out, &e);
    NOT_NULL(m.plan);
    for (int i = 0; i < 4; i++)
        if (m.x[i]) set_reals(&m, type, m.x[i], value[i]);
    assert_int_equal(lra_set(m.plan, m.length, lengths, &e), 0);
    if (m.blocks) set_blocks(&m);
    if (m.key_length) assert_int_equal(lra_set(m.plan, m.key_length, others, &e), 0);
    if (s.dropout > 0) assert_int_equal(lra_set(m.plan, lra_step_input(m.g), &drawn_at, &e), 0);
    return m;
}

static void close_machine(attention_machine *m)
{
    lra_plan_free(m->plan);
    lra_space_free(m->space);
    lra_params_free(m->params);
    lra_graph_free(m->g);
}

/* limit: one value for all heads, or OWN */
static void run(attention_machine *m, lra_type type, int32_t limit, double *y, double *profile)
{
    lra_err e = {{0}};
    double *to[] = {y, profile};
    float *single = lra_alloc_array(MOST, sizeof *single);
    const int32_t *set = limit == OWN ? own_limit : &limit;
    if (m->limit) assert_int_equal(lra_set(m->plan, m->limit, set, &e), 0);
    assert_int_equal(lra_run(m->plan, &e), 0);
    for (int i = 0; i < 2; i++) {
        int n = (int)lra_shape_elements(lra_tensor_shape(m->out[i]));
        assert_int_equal(lra_get(m->plan, m->out[i], type == LRA_F64 ? (void *)to[i] : single, &e),
                         0);
        for (int k = 0; k < n && type != LRA_F64; k++) to[i][k] = (double)single[k];
    }
    lra_free(single);
}

static void compute(const attention_case *c, lra_type type, double *y, double *profile)
{
    lra_device device;
    attention_machine m = open_machine(c, type, &device);
    run(&m, type, c->limit, y, profile);
    close_machine(&m);
}

static void compare(const char *what, int at_case, int n, const double *found, const double *wanted,
                    double tolerance)
{
    for (int i = 0; i < n; i++)
        if (fabs(found[i] - wanted[i]) > tolerance)
            fail_msg("case %d, %s, element %d: %.12g, expected %.12g", at_case, what, i, found[i],
                     wanted[i]);
}

TEST(the_fused_op_is_the_formula)
{
    static double y[2][MOST], profile[2][B * H * OTHERS];
    fill();
    for (int i = 0; i < CASES; i++) {
        const attention_case *c = &cases[i];
        expect(c, y[0], profile[0]);
        for (int single = 0; single < 2; single++) {
            compute(c, single ? LRA_F32 : LRA_F64, y[1], profile[1]);
            compare("y", i, B * T * H * c->values, y[1], y[0], single ? 1e-5 : 1e-13);
            compare("profile", i, B * H * distances(c), profile[1], profile[0],
                    single ? 1e-6 : 1e-13);
        }
    }
}

/* One plan works for every limit: limits from T - 1 on give bitwise the result without a limit;
 * with 0 a query sees only its own position; below 0 nothing. */
TEST(one_plan_serves_every_limit)
{
    static double y[2][MOST], profile[B * H * OTHERS];
    static const int32_t far[] = {T - 1, T, INT32_MAX};
    attention_case c = {{.slope = slope}, T, K, false, -1};
    lra_device device;
    fill();
    compute(&c, LRA_F32, y[0], profile);
    c.limit = 0;
    attention_machine m = open_machine(&c, LRA_F32, &device);
    for (int i = 0; i < 3; i++) {
        run(&m, LRA_F32, far[i], y[1], profile);
        assert_memory_equal(y[0], y[1], B * T * H * K * sizeof **y);
    }
    run(&m, LRA_F32, 0, y[1], profile);
    for (int b = 0; b < B; b++)
        for (int k = 0; k < lengths[b] * H * K; k++) {
            double v = (float)value[2][b * T * H * K + k];
            if (fabs(y[1][b * T * H * K + k] - v) > 1e-6 * fabs(v)) fail_msg("a limit of 0");
        }
    run(&m, LRA_F32, -1, y[1], profile);
    for (int k = 0; k < B * T * H * K; k++) assert_true(y[1][k] == 0);
    for (int k = 0; k < B * H * T; k++) assert_true(profile[k] == 0);
    close_machine(&m);
}

/* A graph of attention with a limit for each head; y: its result as float. */
typedef struct {
    lra_graph *g;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
    lra_tensor *x[3], *length, *y;
} limited_machine;

static limited_machine open_limited(const lra_attention_spec *s, lra_device *device)
{
    lra_err e = {{0}};
    limited_machine m = {.g = lra_graph_new(LRA_F32, LRA_EVAL)};
    static const char *const name[] = {"q", "k", "v"};
    lra_graph_limit(m.g);
    m.length = lra_input(m.g, "length", LRA_I32, LRA_SHAPE(B));
    for (int i = 0; i < 3; i++) m.x[i] = lra_input(m.g, name[i], LRA_F32, LRA_SHAPE(B, T, H, K));
    m.y = lra_attention(m.x[0], m.x[1], m.x[2], m.length, s);
    assert_int_equal(lra_cpu_device(device, 2, &e), 0);
    m.params = lra_params_new(device, 1);
    m.space = lra_space_new(device);
    m.plan = lra_plan_new(m.g, m.params, m.space, 1, &m.y, &e);
    NOT_NULL(m.plan);
    for (int i = 0; i < 3; i++) {
        float x[N];
        for (int k = 0; k < N; k++) x[k] = (float)value[i][k];
        assert_int_equal(lra_set(m.plan, m.x[i], x, &e), 0);
    }
    assert_int_equal(lra_set(m.plan, m.length, lengths, &e), 0);
    return m;
}

static void run_limited(limited_machine *m, const int32_t limit[H], float *y)
{
    lra_err e = {{0}};
    const lra_tensor *input = lra_limit_input(m->g);
    assert_int_equal(lra_shape_elements(lra_tensor_shape(input)), H);
    assert_int_equal(lra_set(m->plan, input, limit, &e), 0);
    assert_int_equal(lra_run(m->plan, &e), 0);
    assert_int_equal(lra_get(m->plan, m->y, y, &e), 0);
}

static void expect_head(const char *what, int h, const float *is, const float *wanted)
{
    for (int row = h; row < B * T * H; row += H)
        if (memcmp(is + row * K, wanted + row * K, K * sizeof *is) != 0)
            fail_msg("%s: head %d, row %d is another one", what, h, row / H);
}

/* The result of a head depends only on its own limit: it is bitwise the same as if all heads had
 * that limit, and with T - 1 the same as without a limit. */
TEST(heads_obey_their_own_limit)
{
    static const struct {
        const char *name;
        lra_attention_spec spec;
    } kinds[] = {{"plain", {.scale = 0}},
                 {"causal", {.causal = true, .slope = slope, .rotary_base = 50}},
                 {"window", {.window = 40, .ahead = 20}},
                 {"strided", {.stride = 3}},
                 {"averages", {.causal = true, .smooth = 3, .decay = decay}},
                 {"renormalised", {.causal = true, .centred = true, .renorm = true, .smooth = 3}},
                 {"remasked", {.causal = true, .centred = true, .remask = true, .smooth = 3}}};
    static const int32_t mixed[][H] = {{2, T - 1, 17}, {T, 0, 3}, {0, 40, LRA_NO_LIMIT}};
    static float whole[N], y[N], same[N];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int level = 0; lra_cpu_usable(level); level++) {
            lra_device device;
            attention_case c = {kinds[i].spec, T, K, false, -1};
            static double exactly[MOST], profile[B * H * OTHERS];
            setenv("LRA_CPU", lra_cpu_usable(level), 1);
            fill();
            if (!kinds[i].spec.remask) compute(&c, LRA_F32, exactly, profile);
            limited_machine m = open_limited(&kinds[i].spec, &device);
            run_limited(&m, (int32_t[H]){LRA_NO_LIMIT, T, T - 1}, whole);
            for (int k = 0; k < N && !kinds[i].spec.remask; k++)
                assert_true((double)whole[k] == exactly[k]);
            for (size_t set = 0; set < sizeof mixed / sizeof *mixed; set++) {
                const int32_t *limit = mixed[set];
                run_limited(&m, limit, y);
                for (int h = 0; h < H; h++) {
                    run_limited(&m, (int32_t[H]){limit[h], limit[h], limit[h]}, same);
                    expect_head(kinds[i].name, h, y, limit[h] >= T - 1 ? whole : same);
                }
                assert_memory_not_equal(y, whole, sizeof y);
            }
            lra_plan_free(m.plan);
            lra_space_free(m.space);
            lra_params_free(m.params);
            lra_graph_free(m.g);
        }
    unsetenv("LRA_CPU");
}

/* Sizes that are not multiples of tiles, in float32 and bf16 at every instruction level, compared
 * with float64; two threads give bitwise the same result. */
TEST(large_sizes_at_every_level)
{
    const setting one = {.n_threads = 1}, two = {.n_threads = 2};
    for (int i = 0; i < count_samples(&op_sample_attention); i++) {
        result exactly = run_sample(&op_sample_attention, i, LRA_F64, one);
        for (int level = 0; lra_cpu_usable(level); level++) {
            setenv("LRA_CPU", lra_cpu_usable(level), 1);
            for (int type = LRA_F32; type <= LRA_BF16; type++) {
                if (type == LRA_F64) continue;
                result a = run_sample(&op_sample_attention, i, (lra_type)type, one);
                result b = run_sample(&op_sample_attention, i, (lra_type)type, two);
                expect_close(&op_sample_attention, i, type == LRA_F32 ? "float32" : "bf16", &a,
                             &exactly, type == LRA_F32 ? 2e-5 : 0.02);
                expect_same(&op_sample_attention, i, "a second thread", &a, &b);
                lra_free(a.v);
                lra_free(b.v);
            }
        }
        unsetenv("LRA_CPU");
        lra_free(exactly.v);
    }
}

/* A NaN affects only its row; a key whose scores are all -infinity has no effect; with scores of
 * 1e6 a single key gets all of the weight. */
TEST(numbers_that_are_none)
{
    static double y[2][MOST], profile[B * H * OTHERS];
    const attention_case c = {{.scale = 0}, T, K, false, -1};
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        fill();
        compute(&c, LRA_F32, y[0], profile);
        value[0][at(T, K, 0, 5, 1, 2)] = NAN;
        compute(&c, LRA_F32, y[1], profile);
        for (int i = 0; i < N; i++) {
            bool row = i / K == at(T, K, 0, 5, 1, 0) / K;
            assert_true(row ? isnan(y[1][i]) : y[1][i] == y[0][i]);
        }
        fill();
        for (int i = 0; i < N; i++) value[0][i] = 0.1 + fabs(value[0][i]);
        for (int h = 0; h < H * K; h++) value[1][at(T, K, 0, 7, 0, h)] = -INFINITY;
        compute(&c, LRA_F32, y[1], profile);
        for (int h = 0; h < H * K; h++) value[1][at(T, K, 0, 7, 0, h)] = -1e5;
        compute(&c, LRA_F32, y[0], profile);
        for (int i = 0; i < N; i++) assert_true(fabs(y[1][i] - y[0][i]) < 1e-6);
        fill();
        for (int i = 0; i < N; i++) value[0][i] *= 1e6;
        compute(&c, LRA_F32, y[0], profile);
        for (int i = 0; i < N; i++) assert_true(fabs(y[0][i]) <= 2);
    }
    unsetenv("LRA_CPU");
}

static void expect_failure(lra_graph *g, const char *expected)
{
    lra_err e = {{0}};
    assert_int_equal(lra_graph_check(g, &e), -1);
    if (!strstr(e.msg, expected)) fail_msg("'%s', expected '%s'", e.msg, expected);
    lra_graph_free(g);
}

static void refuse(const lra_shape s, const lra_attention_spec *spec, const char *expected)
{
    lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_tensor *x = lra_input(g, "x", LRA_F32, s);
    lra_attention(x, x, x, NULL, spec);
    expect_failure(g, expected);
}

/* A limit or a bias of a wrong shape or type is rejected. */
static void refuse_option(lra_shape s, lra_type type, bool limit, const char *expected)
{
    lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(1, 2, 1, 2));
    lra_tensor *option = lra_input(g, "option", type, s);
    lra_attention(x, x, x, NULL,
                  limit ? &(lra_attention_spec){.limit = option}
                        : &(lra_attention_spec){.bias = option});
    expect_failure(g, expected);
}

static void refuse_dropout(const lra_attention_spec *spec, const char *expected)
{
    lra_graph *g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(1, 8, 1, 2));
    lra_attention(x, x, x, NULL, spec);
    expect_failure(g, expected);
}

/* Another number of keys is rejected unless the specification announces it. */
static void refuse_keys(void)
{
    for (int lengths_too = 0; lengths_too < 2; lengths_too++) {
        lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
        lra_tensor *q = lra_input(g, "q", LRA_F32, LRA_SHAPE(1, 2, 1, 2));
        lra_tensor *k = lra_input(g, "k", LRA_F32, LRA_SHAPE(1, lengths_too ? 2 : 5, 1, 2));
        lra_tensor *n = lra_input(g, "n", LRA_I32, LRA_SHAPE(1));
        lra_attention(q, k, k, NULL, &(lra_attention_spec){.key_length = lengths_too ? n : NULL});
        expect_failure(g, lengths_too ? "key_length without cross"
                                      : "k has shape (1,5,1,2), expected (1,2,1,2)");
    }
}

TEST(wrong_use_is_named)
{
    refuse(LRA_SHAPE(2, 3, 4), &cases[0].spec, "q has rank 3, expected (B,T,H,K)");
    refuse(LRA_SHAPE(1, 2, 65, 2), &cases[0].spec, "65 heads, at most 64");
    refuse(LRA_SHAPE(1, 2, 1, 3), &cases[5].spec, "heads of 3 channels, expected an even number");
    refuse(LRA_SHAPE(1, 2, 1, 2), &(lra_attention_spec){.smooth = 4},
           "width is 4, expected a positive odd number");
    refuse(LRA_SHAPE(1, 2, 1, 2), &(lra_attention_spec){.chunk = -1}, "must not be negative");
    refuse(LRA_SHAPE(1, 2, 1, 2),
           &(lra_attention_spec){.rotary_base = 10, .rotary_half = (lra_rotary_half)3},
           "rotary_half is 3, expected none, slow or fast");
    refuse_option(LRA_SHAPE(3), LRA_I32, true,
                  "limit must be one int32, or one for each of 1 heads");
    refuse_option(LRA_SHAPE(1), LRA_F32, true, "limit must be one int32");
    refuse_option(LRA_SHAPE(1, 4), LRA_F32, false, "bias must be (1,2R-1)");
    refuse_option(LRA_SHAPE(1, 3), LRA_I32, false, "bias must be real");
    refuse_keys();
    refuse_dropout(&(lra_attention_spec){.dropout = 1}, "dropout 1 is not in [0,1)");
    refuse_dropout(&(lra_attention_spec){.dropout = -0.1}, "dropout -0.1 is not in [0,1)");
    refuse_dropout(&(lra_attention_spec){.dropout = 0.1, .smooth = 3},
                   "dropout of weights cannot be combined with smoothing");
    refuse(LRA_SHAPE(1, 6, 1, 2), &(lra_attention_spec){.stride = 2, .window = 3},
           "a stride excludes chunk");
    lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(1, 8, 1, 2));
    lra_tensor *blocks = lra_input(g, "blocks", LRA_I32, LRA_SHAPE(1, 1, 3, 2));
    lra_attention(x, x, x, NULL, &(lra_attention_spec){.blocks = blocks, .block = 4});
    expect_failure(g, "blocks has shape (1,1,3,2), expected (1,1,2,2)");
}

/* Checks the list of query block i of an example of `all` blocks. The first and the last block
 * attend to all blocks. Others have ascending lists that include the ends, the own block and its
 * neighbours; the length is the number of blocks, at most five plus `random`. Blocks after the end
 * of the example have empty lists. */
static void check_row(const int32_t *row, int most, int i, int all)
{
    int n = 0;
    if (i >= all) {
        assert_int_equal(row[0], -1);
        return;
    }
    if (i == 0 || i == all - 1) {
        assert_int_equal(row[0], -2);
        return;
    }
    bool has[64] = {false};
    for (; n < most && row[n] >= 0; n++) {
        assert_true(row[n] < all && (n == 0 || row[n] > row[n - 1]));
        has[row[n]] = true;
    }
    assert_true(has[0] && has[all - 1] && has[i - 1] && has[i] && has[i + 1]);
    int fixed = (i > 1 ? 4 : 3) + (i + 1 < all - 1), wanted = fixed + most - 5;
    assert_int_equal(n, wanted < all ? wanted : all);
}

/* Lists of BigBird: rows, differences between layers and heads; random blocks are uniform. */
TEST(random_blocks)
{
    enum {
        LAYERS = 40,
        HEADS = 8,
        BLOCK = 4,
        STEPS = 80,
        NB = STEPS / BLOCK,
        RANDOM = 3,
        MANY = 8
    };
    static const int32_t steps[3] = {STEPS, 38, 3};
    static int32_t list[2][3 * HEADS * NB * MANY];
    lra_err e = {{0}};
    lra_device device;
    assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
    int count[NB] = {0};
    for (int layer = 0; layer < LAYERS; layer++) {
        lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
        lra_tensor *length = lra_input(g, "length", LRA_I32, LRA_SHAPE(3));
        lra_tensor *y = lra_bigbird_blocks(length, STEPS, HEADS, BLOCK, RANDOM, layer);
        lra_params *params = lra_params_new(&device, 1);
        lra_space *space = lra_space_new(&device);
        lra_plan *plan = lra_plan_new(g, params, space, 1, &y, &e);
        int32_t *now = list[layer % 2];
        assert_int_equal(lra_set(plan, length, steps, &e), 0);
        assert_int_equal(lra_run(plan, &e), 0);
        assert_int_equal(lra_get(plan, y, now, &e), 0);
        for (int r = 0; r < 3 * HEADS * NB; r++)
            check_row(now + r * MANY, MANY, r % NB, (steps[r / (HEADS * NB)] + BLOCK - 1) / BLOCK);
        for (int h = 0; h < HEADS; h++)
            for (int k = 0; k < MANY; k++) count[now[(h * NB + 9) * MANY + k]]++;
        if (layer) assert_memory_not_equal(list[0], list[1], HEADS * NB * MANY * sizeof **list);
        assert_memory_not_equal(now, now + NB * MANY, NB * MANY * sizeof *now);
        lra_plan_free(plan);
        lra_space_free(space);
        lra_params_free(params);
        lra_graph_free(g);
    }
    /* expected: 3 of 15 blocks in 320 lists = 64, standard deviation 7 */
    for (int k = 1; k < NB - 1; k++) {
        bool fixed = k >= 8 && k <= 10;
        assert_true(fixed ? count[k] == LAYERS * HEADS : count[k] > 35 && count[k] < 93);
    }
}
