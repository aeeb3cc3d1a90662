/* Statistics of attention computed without storing the map, compared in double with the formulas
 * applied to entire maps: by distance, by key, by pixel, entropy, effective number of keys, mass
 * without a key, weighted by values, for every field of the specification; products of weights with
 * a matrix; the allowed pairs; known answers for equal weights. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/features.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"

enum { B = 2, H = 2, K = 4, U = 3, LONG = 150, MOST = 7 * LONG + LRA_ATTENTION_NUMBERS };

typedef struct {
    int T, columns;
    bool equal;    /* keys are 0, so that every score is 0 */
    int32_t limit; /* distance limit in tokens; 0: none */
    int32_t hole;  /* index of a key that is excluded; 0: none */
    bool together; /* weights are multiplied by the norms of values */
    lra_attention_spec spec;
} test_case;

static const double decay[] = {0.02, 0.3}, slope[] = {0.5, 0.05};
static const test_case cases[] = {
    {13, 0, true, 0, 0, false, {.scale = 1}},
    {13, 0, true, 0, 0, false, {.causal = true}},
    {LONG, 15, false, 0, 0, false, {.scale = 0}},
    {LONG, 0, false, 0, 3, false, {.causal = true, .slope = slope}},
    {70, 23, false, 0, 66, false, {.window = 9}},
    {70, 1, false, 0, 0, false, {.chunk = 16, .decay = decay}},
    {90, 0, false, 0, 5, false, {.decay = decay, .smooth = 5}},
    {90, 8, false, 0, 0, false, {.causal = true, .smooth = 3, .chunk = 32}},
    {66, 0, false, 7, 0, false, {.causal = true}},
    {40, 0, false, 0, 0, false, {.rotary_base = 100, .causal = true}},
    {LONG, 10, false, 0, 0, true, {.scale = 0.5}},
    {77, 7, false, 0, 0, true, {.causal = true, .decay = decay, .smooth = 3}},
    {66, 0, false, 0, 9, false, {.laplace = true, .chunk = 20}},
    {66, 6, false, 0, 0, true, {.laplace = true, .causal = true}},
    {67, 0, false, 0, 11, false, {.stride = 3}},
    {70, 5, false, 0, 0, true, {.stride = 4}},
    {80, 0, false, 0, 8, false, {.block = 7}},
    {80, 8, false, 0, 0, true, {.block = 4}},
    {80, 0, false, 10, 0, false, {.block = 7}},
    {50, 0, false, 0, 0, true, {.causal = true, .centred = true, .renorm = true, .smooth = 3}},
};
enum { N = sizeof cases / sizeof *cases };

static double number(uint64_t i)
{
    lra_rng r = lra_rng_new(3, 7, i);
    return 2 * lra_rng_u01(&r) - 1;
}

/* ---- the formulas ---------------------------------------------------------------------------- */

enum { Q, KEYS, VALUES, OTHERS };
static double entry(const test_case *c, int which, int b, int t, int h, int k)
{
    if (c->equal && which != OTHERS) return 0;
    return number((uint64_t)((((which * B + b) * LONG + t) * H + h) * K + k));
}

/* Returns q or k of position t and head h of example b, rotated if the specification has rotary
 * positions. */
static void vector(const test_case *c, int which, int b, int t, int h, double out[K])
{
    for (int i = 0; i < K; i++) out[i] = entry(c, which, b, t, h, i);
    for (int i = 0; i < K && c->spec.rotary_base > 0; i += 2) {
        double angle = t * pow(c->spec.rotary_base, -(double)i / K), x = out[i], y = out[i + 1];
        out[i] = x * cos(angle) - y * sin(angle), out[i + 1] = x * sin(angle) + y * cos(angle);
    }
}

static int32_t
    /* key blocks of every query block, in the layout of the graph: `most` entries for each query
     * block */
    lists[B * H * LONG * LONG];
static int64_t list_blocks, list_most;

static bool listed(const test_case *c, int b, int h, int i, int j)
{
    int64_t block = c->spec.block;
    if (!block) return true;
    const int32_t *own = lists + ((b * H + h) * list_blocks + i / block) * list_most;
    for (int64_t k = 0; k < list_most && own[k] >= 0; k++)
        if (own[k] == j / block) return true;
    return own[0] == -2;
}

static bool seen(const test_case *c, int b, int h, int i, int j)
{
    const lra_attention_spec *s = &c->spec;
    int d = abs(i - j);
    if (s->causal && j > i) return false;
    if (s->chunk && i / s->chunk != j / s->chunk) return false;
    if (s->window && d > s->window) return false;
    if (s->stride && d % s->stride) return false;
    return listed(c, b, h, i, j) && (!c->limit || d <= c->limit);
}

/* Returns the weight that follows from a score alone, before normalization and smoothing. */
static double raw_weight(const test_case *c, double product, int h, int d, int keys)
{
    const lra_attention_spec *s = &c->spec;
    double scale = s->scale > 0 ? s->scale : s->laplace ? 1.0 / keys : 1 / sqrt(K);
    double score = product * scale * exp(-(s->decay ? s->decay[h] : 0) * d) -
                   (s->slope ? s->slope[h] : 0) * d;
    return s->laplace ? 0.5 * (1 + erf((score - 0.707107) / (0.282095 * sqrt(2)))) : exp(score);
}

/* Computes row i of the weights by which v is multiplied. */
static void row_of(const test_case *c, int b, int h, int i, int n, double *a)
{
    double raw[LONG], sum = 0, q[K], k[K];
    const lra_attention_spec *s = &c->spec;
    int keys = 0;
    vector(c, Q, b, i, h, q);
    for (int j = 0; j < n; j++) keys += seen(c, b, h, i, j);
    for (int j = 0; j < n; j++) {
        vector(c, KEYS, b, j, h, k);
        double product = 0;
        for (int x = 0; x < K; x++) product += q[x] * k[x];
        raw[j] = seen(c, b, h, i, j) ? raw_weight(c, product, h, abs(i - j), keys) : 0;
        sum += raw[j];
    }
    for (int j = 0; j < n; j++) a[j] = 0;
    int P = s->smooth > 1 ? s->smooth : 1;
    if (s->laplace) sum = 1;
    for (int j = 0; j < n; j++) {
        int first = s->causal && !s->centred ? j - P + 1 : j - (P - 1) / 2;
        for (int at = first; at < first + P; at++)
            if (at >= 0 && at < n && (!s->chunk || at / s->chunk == j / s->chunk))
                a[at] += raw[j] / sum / P;
    }
    sum = 0;
    for (int j = 0; j < n; j++) sum += a[j];
    for (int j = 0; j < n && s->renorm; j++) a[j] /= sum;
}

/* Computes the norms of the weighted vectors u, summed over heads. */
static void row_together(const test_case *c, int b, int i, int n, double *w)
{
    double a[H][LONG];
    for (int h = 0; h < H; h++) row_of(c, b, h, i, n, a[h]);
    for (int j = 0; j < n; j++) {
        double squares = 0;
        for (int k = 0; k < U; k++) {
            double sum = 0;
            for (int h = 0; h < H; h++) sum += a[h][j] * entry(c, OTHERS, b, j, h, k);
            squares += sum * sum;
        }
        w[j] = sqrt(squares);
    }
}

/* Computes the expected statistics of a row without its own key. */
static void expect_others(const test_case *c, int i, int n, const double *a, double all,
                          double *other)
{
    int T = c->T, wide = c->columns;
    double rest = all - a[i];
    other[T + i] = rest < 1e-6 * all ? 1 : a[i] / all;
    for (int j = 0; j < n && rest >= 1e-6 * all; j++) {
        if (j == i) continue;
        other[abs(i - j)] += a[j] / rest;
        if (!wide) continue;
        int dy = abs(i / wide - j / wide), dx = abs(i % wide - j % wide);
        other[2 * T + (dy > dx ? dy : dx)] += a[j] / rest;
    }
}

/* Computes the expected statistics of a head. */
static void expect(const test_case *c, int b, int h, int n, double *out)
{
    int T = c->T, several = 0, wide = c->columns;
    double *mass = out + T - 1, *column = out + 2 * T - 1, *left = out + 3 * T - 1, a[LONG];
    double *near = left + LRA_ATTENTION_NUMBERS;
    int lines = wide ? (T + wide - 1) / wide : 0;
    double *other = near + (lines > wide ? lines : wide);
    memset(out, 0, MOST * sizeof *out);
    for (int i = 0; i < T; i++) other[T + i] = -1;
    for (int i = 0; i < n; i++) {
        double entropy = 0, all = 0, squares = 0;
        int keys = 0;
        if (c->together)
            row_together(c, b, i, n, a);
        else
            row_of(c, b, h, i, n, a);
        if (c->hole) a[c->hole] = 0;
        for (int j = 0; j < n; j++) all += a[j], keys += a[j] > 0;
        if (keys == 0) {
            left[LRA_ATTENTION_UNDEFINED]++;
            continue;
        }
        for (int j = 0; j < n; j++) {
            double p = a[j] / all;
            mass[i - j] += p, column[j] += p, squares += p * p;
            if (p > 0) entropy -= p * log(p);
            if (!wide) continue;
            int dy = abs(i / wide - j / wide), dx = abs(i % wide - j % wide);
            near[dy > dx ? dy : dx] += p;
        }
        expect_others(c, i, n, a, all, other);
        left[LRA_ATTENTION_ENTROPY] += entropy;
        left[LRA_ATTENTION_SUPPORT] += 1 / squares;
        if (keys > 1) several++, left[LRA_ATTENTION_ENTROPY_REL] += entropy / log(keys);
    }
    double rows = n - left[LRA_ATTENTION_UNDEFINED];
    for (int k = 0; k < 3 * T - 1; k++) out[k] /= rows;
    for (int k = 0; k < other - near && wide; k++) near[k] /= rows;
    left[LRA_ATTENTION_ENTROPY] /= rows, left[LRA_ATTENTION_SUPPORT] /= rows;
    left[LRA_ATTENTION_ENTROPY_REL] /= several ? several : 1;
    left[LRA_ATTENTION_SEVERAL] = several;
}

/* ---- the node -------------------------------------------------------------------------------- */

typedef struct {
    const test_case *is;
    lra_device device;
    lra_graph *g;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
    lra_tensor *x[3], *length, *limit, *without, *gram, *unit, *weight, *attention, *out[2];
    int n_out;
    bool values; /* the requested statistics need v */
} machine;

static void set_real(machine *m, const lra_tensor *x, const double *v)
{
    lra_err e;
    int64_t n = lra_elements(x);
    float *f = lra_alloc_array((size_t)n, sizeof *f);
    for (int64_t i = 0; i < n; i++) f[i] = (float)v[i];
    /* convert to bf16 in place by truncation */
    for (int64_t i = 0; i < n && lra_graph_type(m->g) == LRA_BF16; i++) {
        uint32_t bits;
        memcpy(&bits, &f[i], sizeof bits);
        const uint16_t half = (uint16_t)(bits >> 16);
        memcpy((char *)f + i * (int64_t)sizeof half, &half, sizeof half);
    }
    const void *host = lra_graph_type(m->g) == LRA_F64 ? (const void *)v : (const void *)f;
    assert_int_equal(lra_set(m->plan, x, host, &e), 0);
    lra_free(f);
}

static void set_entries(machine *m, int which, const lra_tensor *x)
{
    double *v = lra_alloc_array((size_t)lra_elements(x), sizeof *v);
    const int T = m->is->T;
    for (int64_t i = 0; i < lra_elements(x); i++)
        v[i] = entry(m->is, which, (int)(i / K / H / T), (int)(i / K / H % T), (int)(i / K % H),
                     (int)(i % K));
    set_real(m, x, v);
    lra_free(v);
}

static void set_gram(machine *m)
{
    const int T = m->is->T;
    double *v = lra_alloc_array((size_t)lra_elements(m->gram), sizeof *v);
    for (int i = 0; i < B * T * H * H; i++)
        for (int k = 0; k < U; k++) {
            int h = i / H % H, g = i % H, t = i / H / H % T, b = i / H / H / T;
            v[i] += entry(m->is, OTHERS, b, t, h, k) * entry(m->is, OTHERS, b, t, g, k);
        }
    set_real(m, m->gram, v);
    lra_free(v);
}

static void set_unit(machine *m)
{
    const int T = m->is->T;
    double *v = lra_alloc_array((size_t)lra_elements(m->unit), sizeof *v);
    for (int i = 0; i < B * T * H; i++) v[i * T + i / H % T] = 1;
    set_real(m, m->unit, v);
    lra_free(v);
}

static void set_weight(machine *m)
{
    double v[64];
    for (int i = 0; i < (int)lra_elements(m->weight); i++) v[i] = number((uint64_t)i + 12345);
    set_real(m, m->weight, v);
}

/* Builds the attention of a case, without planning it. */
static void open_machine(machine *m, const test_case *c, lra_type type)
{
    lra_err e = {{0}};
    *m = (machine){.is = c};
    lra_attention_spec s = c->spec;
    assert_int_equal(lra_cpu_device(&m->device, 2, &e), 0);
    m->g = lra_graph_new(type, LRA_EVAL);
    m->params = lra_params_new(&m->device, 0), m->space = lra_space_new(&m->device);
    for (int i = 0; i < 3; i++)
        m->x[i] = lra_input(m->g,
                            i == 0   ? "q"
                            : i == 1 ? "k"
                                     : "v",
                            type, LRA_SHAPE(B, c->T, H, K));
    m->length = lra_input(m->g, "length", LRA_I32, LRA_SHAPE(B));
    m->limit = c->limit ? lra_input(m->g, "limit", LRA_I32, LRA_SHAPE(1)) : NULL;
    s.limit = m->limit;
    if (s.block) s.blocks = lra_bigbird_blocks(m->length, c->T, H, s.block, 1, 0);
    m->attention = lra_attention(m->x[0], m->x[1], m->x[2], m->length, &s);
}

/* Plans and runs the graph; the second example has n tokens. Returns the first result, which the
 * caller frees. */
static double *run_machine(machine *m, int32_t n)
{
    lra_err e = {{0}};
    const test_case *c = m->is;
    const int32_t lengths[B] = {c->T, n};
    lra_tensor *blocks = lra_attention_lists(m->attention);
    if (blocks) m->out[m->n_out++] = blocks;
    m->plan = lra_plan_new(m->g, m->params, m->space, m->n_out, m->out, &e);
    NOT_NULL(m->plan);
    for (int i = 0; i < (m->values ? 3 : 2); i++) set_entries(m, i, m->x[i]);
    assert_int_equal(lra_set(m->plan, m->length, lengths, &e), 0);
    if (m->limit) assert_int_equal(lra_set(m->plan, m->limit, &c->limit, &e), 0);
    if (m->without) {
        const int32_t hole[B * H] = {c->hole, c->hole, c->hole, c->hole};
        assert_int_equal(lra_set(m->plan, m->without, hole, &e), 0);
    }
    if (m->gram) set_gram(m);
    if (m->unit) set_unit(m);
    if (m->weight) set_weight(m);
    OK(lra_run(m->plan, &e));
    if (blocks) {
        list_blocks = lra_tensor_shape(blocks).d[2], list_most = lra_tensor_shape(blocks).d[3];
        assert_int_equal(lra_get(m->plan, blocks, lists, &e), 0);
    }
    int64_t elements = lra_elements(m->out[0]);
    double *y = lra_alloc_array((size_t)elements, sizeof *y);
    float *f = lra_alloc_array((size_t)elements, sizeof *f);
    bool whole = lra_graph_type(m->g) == LRA_F64;
    assert_int_equal(lra_get(m->plan, m->out[0], whole ? (void *)y : (void *)f, &e), 0);
    for (int64_t i = 0; i < elements && !whole; i++) y[i] = (double)f[i];
    lra_free(f);
    return y;
}

static void close_machine(machine *m)
{
    lra_plan_free(m->plan);
    lra_graph_free(m->g);
    lra_space_free(m->space);
    lra_params_free(m->params);
}

/* Returns the statistics (B, H, W) of both examples, the second with n tokens; the caller frees
 * them. */
static double *compute(const test_case *c, lra_type type, int32_t n)
{
    machine m;
    open_machine(&m, c, type);
    if (c->hole) m.without = lra_input(m.g, "without", LRA_I32, LRA_SHAPE(B, H));
    if (c->together) m.gram = lra_input(m.g, "gram", type, LRA_SHAPE(B, c->T, H, H));
    const lra_attention_statistics_spec ask = {m.without, m.gram, c->columns};
    m.out[m.n_out++] = lra_attention_statistics_of(m.attention, &ask);
    assert_int_equal(lra_attention_statistics_length(m.out[0]), c->T);
    double *y = run_machine(&m, n);
    close_machine(&m);
    return y;
}

static void check(int i, lra_type type, double tolerance)
{
    static double wanted[MOST];
    const test_case *c = &cases[i];
    int32_t lengths[B] = {c->T, c->T - 5};
    double *y = compute(c, type, lengths[1]);
    int wide = c->columns, lines = wide ? (c->T + wide - 1) / wide : 0;
    int near = lines > wide ? lines : wide;
    int W = 5 * c->T - 1 + LRA_ATTENTION_NUMBERS + 2 * near, heads = c->together ? 1 : H;
    for (int b = 0; b < B; b++)
        for (int h = 0; h < heads; h++) {
            expect(c, b, h, lengths[b], wanted);
            for (int k = 0; k < W; k++) {
                double is = y[(b * heads + h) * W + k];
                if (!(fabs(is - wanted[k]) <= tolerance * fmax(1, fabs(wanted[k]))))
                    fail_msg("case %d, type %d, example %d, head %d: number %d of %d is %.9g, "
                             "expected %.9g",
                             i, (int)type, b, h, k, W, is, wanted[k]);
            }
        }
    lra_free(y);
}

TEST(the_node_is_the_formula)
{
    for (int i = 0; i < N; i++) {
        check(i, LRA_F64, 1e-10);
        for (int level = 0; lra_cpu_usable(level); level++) {
            setenv("LRA_CPU", lra_cpu_usable(level), 1);
            check(i, LRA_F32, 2e-5);
        }
        unsetenv("LRA_CPU");
    }
}

TEST(equal_weights_are_known)
{
    double *y = compute(&cases[0], LRA_F32, 13), *left = y + 3 * 13 - 1;
    assert_true(fabs(left[LRA_ATTENTION_ENTROPY] - log(13)) < 1e-5);
    assert_true(fabs(left[LRA_ATTENTION_ENTROPY_REL] - 1) < 1e-5);
    assert_true(fabs(left[LRA_ATTENTION_SUPPORT] - 13) < 1e-4);
    assert_true(fabs(y[2 * 13 - 1] - 1 / 13.0) < 1e-6);
    lra_free(y);
}

/* ---- weights times something ----------------------------------------------------------------- */

/* Multiplication with the unit matrix gives the map. */
TEST(weights_are_applied)
{
    for (int k = 0; k < N; k++) {
        machine m;
        const test_case *c = &cases[k];
        const int T = c->T, n[B] = {T, T - 5};
        double a[LONG];
        open_machine(&m, c, LRA_F64);
        m.unit = lra_input(m.g, "unit", LRA_F64, LRA_SHAPE(B, T, H, T));
        m.out[m.n_out++] = lra_attention_apply(m.attention, m.unit);
        double *map = run_machine(&m, n[1]);
        for (int b = 0; b < B; b++)
            for (int i = 0; i < n[b]; i++)
                for (int h = 0; h < H; h++) {
                    row_of(c, b, h, i, n[b], a);
                    for (int j = 0; j < n[b]; j++)
                        assert_true(fabs(map[((b * T + i) * H + h) * T + j] - a[j]) < 1e-12);
                }
        lra_free(map);
        close_machine(&m);
    }
}

/* Checks the map of case k, whose second example has padding. */
static void check_map(int k, lra_type type, double tolerance)
{
    machine m;
    const test_case *c = &cases[k];
    const int T = c->T, n[B] = {T, T - 5};
    double a[LONG];
    open_machine(&m, c, type);
    m.out[m.n_out++] = lra_attention_map_of(m.attention);
    double *map = run_machine(&m, n[1]);
    for (int b = 0; b < B; b++)
        for (int i = 0; i < n[b]; i++)
            for (int h = 0; h < H; h++) {
                const double *own = map + ((b * H + h) * T + i) * T;
                row_of(c, b, h, i, n[b], a);
                for (int j = 0; j < T; j++)
                    assert_true(fabs(own[j] - (j < n[b] ? a[j] : 0)) < tolerance);
            }
    lra_free(map);
    close_machine(&m);
}

/* Maps are given only for plain softmax attention over all keys. */
TEST(maps_are_of_plain_attention)
{
    for (int k = 0; k < N; k++) {
        machine m;
        open_machine(&m, &cases[k], LRA_F64);
        bool plain = lra_attention_is_softmax(m.attention);
        close_machine(&m);
        assert_int_equal(plain, k == 0 || k == 2 || k == 10);
        if (!plain) continue;
        check_map(k, LRA_F64, 1e-12);
        check_map(k, LRA_F32, 1e-6);
        check_map(k, LRA_BF16, 1e-3); /* q and k are rounded to bf16 */
    }
}

/* Inner products of the vectors that heads add to the output of a position. */
TEST(gram_is_of_values_and_weights)
{
    enum { OUT = 5 };
    for (int k = 0; k < N; k++) {
        machine m;
        const test_case *c = &cases[k];
        const int T = c->T;
        double w[H * K * OUT], u[H][OUT];
        open_machine(&m, c, LRA_F64);
        assert_null(lra_attention_gram(m.attention));
        m.weight = lra_input(m.g, "weight", LRA_F64, LRA_SHAPE(H * K, OUT));
        lra_tensor *rows = lra_reshape(m.attention, LRA_SHAPE(B, T, H * K));
        lra_linear(rows, m.weight, NULL, LRA_ACT_NONE, NULL);
        m.values = true;
        m.out[m.n_out++] = lra_attention_gram(m.attention);
        assert_non_null(m.out[0]);
        double *gram = run_machine(&m, T);
        for (int i = 0; i < H * K * OUT; i++) w[i] = number((uint64_t)i + 12345);
        for (int at = 0; at < B * T; at++) {
            for (int i = 0; i < H * OUT; i++) {
                u[i / OUT][i % OUT] = 0;
                for (int d = 0; d < K; d++)
                    u[i / OUT][i % OUT] += entry(c, VALUES, at / T, at % T, i / OUT, d) *
                                           w[(i / OUT * K + d) * OUT + i % OUT];
            }
            for (int i = 0; i < H * H; i++) {
                double sum = 0;
                for (int d = 0; d < OUT; d++) sum += u[i / H][d] * u[i % H][d];
                assert_true(fabs(gram[at * H * H + i] - sum) < 1e-12);
            }
        }
        lra_free(gram);
        close_machine(&m);
    }
}

/* The pairs that are marked as allowed are those whose weight by the formulas is not 0. */
TEST(allowed_are_those_with_weights)
{
    for (int k = 0; k < N; k++) {
        const test_case *c = &cases[k];
        machine m;
        double a[LONG];
        uint8_t allowed[LONG];
        if (c->limit) continue;
        open_machine(&m, c, LRA_F64);
        m.values = true;
        m.out[m.n_out++] = m.attention;
        lra_free(run_machine(&m, c->T));
        for (int at = 0; at < H * c->T; at++) {
            int h = at / c->T, i = at % c->T;
            lra_attention_allowed(m.attention, c->T, h, i, m.n_out > 1 ? lists : NULL, allowed);
            row_of(c, 0, h, i, c->T, a);
            for (int j = 0; j < c->T; j++) assert_int_equal(a[j] > 0, allowed[j]);
        }
        close_machine(&m);
    }
}
