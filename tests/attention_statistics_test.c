/* What attention leaves of itself without a map, against the formulas with whole maps, in double: offsets, columns,
 * entropy, effective keys, for every field of the spec; and known answers of equal weights. */
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
#include "kernels/cpu/features.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention_statistics.h"

enum { B = 2, H = 2, K = 4, LONG = 150 };

typedef struct {
    int T;
    bool equal;    /* no keys: every score is 0 */
    int32_t limit; /* 0: none */
    lra_attention_spec spec;
} test_case;

static const double decay[] = {0.02, 0.3}, slope[] = {0.5, 0.05};
static const test_case cases[] = {
    {13, true, 0, {.scale = 1}},
    {13, true, 0, {.causal = true}},
    {LONG, false, 0, {.scale = 0}},
    {LONG, false, 0, {.causal = true, .slope = slope}},
    {70, false, 0, {.window = 9}},
    {70, false, 0, {.chunk = 16, .decay = decay}},
    {90, false, 0, {.decay = decay, .smooth = 5}},
    {90, false, 0, {.causal = true, .smooth = 3, .chunk = 32}},
    {66, false, 7, {.causal = true}},
    {40, false, 0, {.rotary_base = 100, .causal = true}},
};
enum { N = sizeof cases / sizeof *cases };

static double number(uint64_t i)
{
    lra_rng r = lra_rng_new(3, 7, i);
    return 2 * lra_rng_u01(&r) - 1;
}

/* ---- the formulas ------------------------------------------------------------------------------------ */

/* q or k of position t, head h of example b, turned where the spec says so. */
static void vector(const test_case *c, int which, int b, int t, int h, double out[K])
{
    for (int i = 0; i < K; i++)
        out[i] = c->equal ? 0 : number((uint64_t)((((which * B + b) * LONG + t) * H + h) * K + i));
    for (int i = 0; i < K && c->spec.rotary_base > 0; i += 2) {
        double angle = t * pow(c->spec.rotary_base, -(double)i / K), x = out[i], y = out[i + 1];
        out[i] = x * cos(angle) - y * sin(angle), out[i + 1] = x * sin(angle) + y * cos(angle);
    }
}

static bool seen(const test_case *c, int i, int j)
{
    const lra_attention_spec *s = &c->spec;
    int d = abs(i - j);
    if (s->causal && j > i) return false;
    if (s->chunk && i / s->chunk != j / s->chunk) return false;
    if (s->window && d > s->window) return false;
    return !c->limit || d <= c->limit;
}

/* Row i of the weights that multiply v. */
static void row_of(const test_case *c, int b, int h, int i, int n, double *a)
{
    double raw[LONG], sum = 0, q[K], k[K];
    const lra_attention_spec *s = &c->spec;
    vector(c, 0, b, i, h, q);
    for (int j = 0; j < n; j++) {
        vector(c, 1, b, j, h, k);
        double product = 0, d = abs(i - j);
        for (int x = 0; x < K; x++) product += q[x] * k[x];
        product *= (s->scale > 0 ? s->scale : 1 / sqrt(K)) * exp(-(s->decay ? s->decay[h] : 0) * d);
        raw[j] = seen(c, i, j) ? exp(product - (s->slope ? s->slope[h] : 0) * d) : 0;
        sum += raw[j];
    }
    for (int j = 0; j < n; j++) a[j] = 0;
    int P = s->smooth > 1 ? s->smooth : 1;
    for (int j = 0; j < n; j++) {
        int first = s->causal ? j - P + 1 : j - (P - 1) / 2;
        for (int at = first; at < first + P; at++)
            if (at >= 0 && at < n && (!s->chunk || at / s->chunk == j / s->chunk))
                a[at] += raw[j] / sum / P;
    }
}

/* What the node leaves of a head. */
static void expect(const test_case *c, int b, int h, int n, double *out)
{
    int T = c->T, several = 0;
    double *mass = out + T - 1, *column = out + 2 * T - 1, *left = out + 3 * T - 1, a[LONG];
    memset(out, 0, (size_t)(3 * T - 1 + LRA_ATTENTION_NUMBERS) * sizeof *out);
    for (int i = 0; i < n; i++) {
        double entropy = 0, all = 0, squares = 0;
        int keys = 0;
        row_of(c, b, h, i, n, a);
        for (int j = 0; j < n; j++) {
            mass[i - j] += a[j] / n, column[j] += a[j] / n;
            all += a[j], squares += a[j] * a[j];
            keys += a[j] > 0;
        }
        for (int j = 0; j < n; j++)
            if (a[j] > 0) entropy -= a[j] / all * log(a[j] / all);
        left[LRA_ATTENTION_ENTROPY] += entropy / n;
        left[LRA_ATTENTION_SUPPORT] += all * all / squares / n;
        if (keys > 1) several++, left[LRA_ATTENTION_ENTROPY_REL] += entropy / log(keys);
    }
    left[LRA_ATTENTION_ENTROPY_REL] /= several;
}

/* ---- the node ---------------------------------------------------------------------------------------- */

typedef struct {
    lra_device device;
    lra_graph *g;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
    lra_tensor *x[3], *length, *limit, *out;
} machine;

static void set_real(machine *m, const test_case *c, int which, const lra_tensor *x)
{
    lra_err e;
    int64_t n = lra_elements(x);
    bool single = lra_graph_type(m->g) != LRA_F64;
    double *v = lra_alloc_array((size_t)n, sizeof *v);
    float *f = lra_alloc_array((size_t)n, sizeof *f);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = i % K, h = i / K % H, t = i / K / H % c->T, b = i / K / H / c->T;
        v[i] = c->equal ? 0 : number((uint64_t)((((which * B + b) * LONG + t) * H + h) * K + k));
        f[i] = (float)v[i];
    }
    assert_int_equal(lra_set(m->plan, x, single ? (void *)f : (void *)v, &e), 0);
    lra_free(v);
    lra_free(f);
}

/* Statistics of both examples, the second of n tokens; (B,H,W), the caller frees it. */
static double *compute(const test_case *c, lra_type type, int32_t n)
{
    lra_err e = {{0}};
    machine m;
    lra_attention_spec s = c->spec;
    const int32_t lengths[B] = {c->T, n};
    assert_int_equal(lra_cpu_device(&m.device, 2, &e), 0);
    m.g = lra_graph_new(type, LRA_EVAL);
    m.params = lra_params_new(&m.device, 0), m.space = lra_space_new(&m.device);
    for (int i = 0; i < 3; i++)
        m.x[i] = lra_input(m.g, i == 0 ? "q" : i == 1 ? "k" : "v", type, LRA_SHAPE(B, c->T, H, K));
    m.length = lra_input(m.g, "length", LRA_I32, LRA_SHAPE(B));
    m.limit = c->limit ? lra_input(m.g, "limit", LRA_I32, LRA_SHAPE(1)) : NULL;
    s.limit = m.limit;
    m.out = lra_attention_statistics_of(lra_attention(m.x[0], m.x[1], m.x[2], m.length, &s));
    assert_int_equal(lra_attention_statistics_length(m.out), c->T);
    m.plan = lra_plan_new(m.g, m.params, m.space, 1, &m.out, &e);
    if (!m.plan) fail_msg("%s", e.msg);
    for (int i = 0; i < 2; i++) set_real(&m, c, i, m.x[i]);
    assert_int_equal(lra_set(m.plan, m.length, lengths, &e), 0);
    if (m.limit) assert_int_equal(lra_set(m.plan, m.limit, &c->limit, &e), 0);
    if (lra_run(m.plan, &e) != 0) fail_msg("%s", e.msg);
    int64_t elements = lra_elements(m.out);
    double *y = lra_alloc_array((size_t)elements, sizeof *y);
    float *f = lra_alloc_array((size_t)elements, sizeof *f);
    assert_int_equal(lra_get(m.plan, m.out, type == LRA_F64 ? (void *)y : (void *)f, &e), 0);
    for (int64_t i = 0; i < elements && type != LRA_F64; i++) y[i] = (double)f[i];
    lra_free(f);
    lra_plan_free(m.plan);
    lra_graph_free(m.g);
    lra_space_free(m.space);
    lra_params_free(m.params);
    return y;
}

static void check(int i, lra_type type, double tolerance)
{
    static double wanted[3 * LONG + LRA_ATTENTION_NUMBERS];
    const test_case *c = &cases[i];
    int32_t lengths[B] = {c->T, c->T - 5};
    double *y = compute(c, type, lengths[1]);
    int W = 3 * c->T - 1 + LRA_ATTENTION_NUMBERS;
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++) {
            expect(c, b, h, lengths[b], wanted);
            for (int k = 0; k < W; k++) {
                double is = y[(b * H + h) * W + k];
                if (!(fabs(is - wanted[k]) <= tolerance * fmax(1, fabs(wanted[k]))))
                    fail_msg("case %d, type %d, example %d, head %d: number %d of %d is %.9g, "
                             "expected %.9g",
                             i, (int)type, b, h, k, W, is, wanted[k]);
            }
        }
    lra_free(y);
}

static void the_node_is_the_formula(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++) {
        check(i, LRA_F64, 1e-10);
        for (int level = 0; lra_cpu_usable(level); level++) {
            setenv("LRA_CPU", lra_cpu_usable(level), 1);
            check(i, LRA_F32, 2e-5);
        }
        unsetenv("LRA_CPU");
    }
}

static void equal_weights_are_known(void **state)
{
    (void)state;
    double *y = compute(&cases[0], LRA_F32, 13), *left = y + 3 * 13 - 1;
    assert_true(fabs(left[LRA_ATTENTION_ENTROPY] - log(13)) < 1e-5);
    assert_true(fabs(left[LRA_ATTENTION_ENTROPY_REL] - 1) < 1e-5);
    assert_true(fabs(left[LRA_ATTENTION_SUPPORT] - 13) < 1e-4);
    assert_true(fabs(y[2 * 13 - 1] - 1 / 13.0) < 1e-6);
    lra_free(y);
}

/* Columns that a row may have weights at: what the formulas leave there is not 0, and 0 elsewhere. */
static void columns_are_those_with_weights(void **state)
{
    (void)state;
    for (int k = 0; k < N; k++) {
        const test_case *c = &cases[k];
        lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
        lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(1, c->T, H, K));
        lra_tensor *y = lra_attention(x, x, x, NULL, &c->spec);
        assert_false(lra_attention_crosses(y));
        double a[LONG];
        for (int i = 0; i < c->T && !c->limit; i++) {
            int64_t from, to;
            lra_attention_columns(y, c->T, i, &from, &to);
            row_of(c, 0, 0, i, c->T, a);
            for (int j = 0; j < c->T; j++) assert_int_equal(a[j] > 0, j >= from && j < to);
        }
        lra_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_node_is_the_formula),
        cmocka_unit_test(equal_weights_are_known),
        cmocka_unit_test(columns_are_those_with_weights),
    };
    return cmocka_run_group_tests_name("attention_statistics", tests, NULL, NULL);
}
