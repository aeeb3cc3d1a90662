/* Operations compared with values computed by hand or by their formula. */
#include <math.h>
#include "tests/fixtures/test.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"

/* ---- a graph in double, with everything it needs to run -------------------------------------- */

typedef struct {
    lra_device device;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
    lra_graph *g;
} bench;

static bench bench_new(lra_type type, lra_mode mode)
{
    bench b = {.g = lra_graph_new(type, mode)};
    lra_err e = {{0}};
    OK(lra_cpu_device(&b.device, 0, &e));
    return b;
}

/* After this call the device must not move in memory, because plans store its address. */
static void bench_plan(bench *b, int n, lra_tensor *const *out)
{
    lra_err e = {{0}};
    b->params = lra_params_new(&b->device, 1);
    b->space = lra_space_new(&b->device);
    b->plan = lra_plan_new(b->g, b->params, b->space, n, out, &e);
    NOT_NULL(b->plan);
}

static void bench_free(bench *b)
{
    lra_plan_free(b->plan);
    lra_space_free(b->space);
    lra_params_free(b->params);
    lra_graph_free(b->g);
}

static void set(bench *b, const lra_tensor *x, const void *host)
{
    lra_err e = {{0}};
    OK(lra_set(b->plan, x, host, &e));
}

static void run(bench *b)
{
    lra_err e = {{0}};
    OK(lra_run(b->plan, &e));
}

static void get(bench *b, const lra_tensor *x, void *host)
{
    lra_err e = {{0}};
    OK(lra_get(b->plan, x, host, &e));
}

static void expect(const double *got, const double *want, int n, double tolerance)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= tolerance))
            fail_msg("element %d is %.12g, expected %.12g", i, got[i], want[i]);
}

static lra_tensor *input(bench *b, const char *name, lra_shape s)
{
    return lra_input(b->g, name, LRA_F64, s);
}

/* ---- functions ------------------------------------------------------------------------------- */

TEST(elementwise)
{
    bench b = bench_new(LRA_F64, LRA_TRAIN);
    lra_tensor *x = input(&b, "x", LRA_SHAPE(3));
    lra_tensor *y[] = {lra_gelu(x), lra_gelu_tanh(x), lra_silu(x), lra_relu(x)};
    bench_plan(&b, 4, y);
    double out[3];
    set(&b, x, (double[]){1, 0, -1});
    run(&b);
    get(&b, y[0], out);
    expect(out, (double[]){0.841344746069, 0, -0.158655253931}, 3, 1e-11);
    get(&b, y[1], out);
    expect(out, (double[]){0.841191990608, 0, -0.158808009392}, 3, 1e-10);
    get(&b, y[2], out);
    expect(out, (double[]){0.731058578630, 0, -0.268941421370}, 3, 1e-11);
    get(&b, y[3], out);
    expect(out, (double[]){1, 0, 0}, 3, 0);
    bench_free(&b);
}

TEST(rows)
{
    bench b = bench_new(LRA_F64, LRA_TRAIN);
    lra_tensor *x = input(&b, "x", LRA_SHAPE(2, 3)), *z = input(&b, "z", LRA_SHAPE(1, 4));
    lra_tensor *gain = input(&b, "gain", LRA_SHAPE(4)), *bias = input(&b, "bias", LRA_SHAPE(4));
    lra_tensor *y[] = {lra_softmax(x), lra_layer_norm(z, gain, bias, 0.75)};
    bench_plan(&b, 2, y);
    double out[6];
    set(&b, x, (double[]){0, log(2), log(5), 1000, 1000, -1000});
    /* mean 2.5, variance 1.25, eps 0.75: the divisor is sqrt 2 */
    set(&b, z, (double[]){1, 2, 3, 4});
    set(&b, gain, (double[]){1, 1, 2, 1});
    set(&b, bias, (double[]){0, 0, 0, 1});
    run(&b);
    get(&b, y[0], out);
    expect(out, (double[]){0.125, 0.25, 0.625, 0.5, 0.5, 0}, 6, 1e-14);
    get(&b, y[1], out);
    double r = sqrt(0.5);
    expect(out, (double[]){-1.5 * r, -0.5 * r, r, 1 + 1.5 * r}, 4, 1e-14);
    bench_free(&b);
}

/* Rows with the label -1 are not counted and have no gradient; without any label the loss is 0. */
TEST(cross_entropy)
{
    bench b = bench_new(LRA_F64, LRA_TRAIN);
    lra_tensor *x = input(&b, "x", LRA_SHAPE(3, 2)), *dx;
    lra_tensor *label = lra_input(b.g, "label", LRA_I32, LRA_SHAPE(3));
    lra_tensor *y = lra_cross_entropy(x, label);
    lra_grad(y, NULL, 1, &x, &dx);
    bench_plan(&b, 2, (lra_tensor *[]){y, dx});
    double out[6];
    set(&b, x, (double[]){0, log(3), 7, 7, 0, 0});
    set(&b, label, (int32_t[]){1, -1, 0});
    run(&b);
    get(&b, y, out);
    expect(out, (double[]){(log(4.0 / 3) + log(2)) / 2}, 1, 1e-14);
    get(&b, dx, out);
    expect(out, (double[]){0.125, -0.125, 0, 0, -0.25, 0.25}, 6, 1e-14);
    set(&b, label, (int32_t[]){-1, -1, -1});
    run(&b);
    get(&b, y, out);
    expect(out, (double[]){0}, 1, 0);
    get(&b, dx, out);
    expect(out, (double[6]){0}, 6, 0);
    bench_free(&b);
}

/* ---- maxima ---------------------------------------------------------------------------------- */

/* Among equal values the first one is selected, both over time and along a row. */
TEST(equals)
{
    bench b = bench_new(LRA_F64, LRA_TRAIN);
    lra_tensor *x = input(&b, "x", LRA_SHAPE(1, 3, 4)),
               *ones = lra_ones(b.g, LRA_F64, LRA_SHAPE(1, 4));
    lra_tensor *most[] = {lra_pool(x, NULL, LRA_POOL_MAX), lra_row_max(x)}, *dx[2];
    lra_grad(most[0], ones, 1, &x, &dx[0]);
    lra_grad(most[1], lra_ones(b.g, LRA_F64, LRA_SHAPE(1, 3)), 1, &x, &dx[1]);
    bench_plan(&b, 2, dx);
    double out[12];
    set(&b, x, (double[]){1, 2, -1, 0, 3, 2, -1, 0, 3, 0, -1, 0});
    run(&b);
    get(&b, dx[0], out);
    expect(out, (double[]){0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0}, 12, 0);
    get(&b, dx[1], out);
    expect(out, (double[]){0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, 12, 0);
    bench_free(&b);
}

/* ---- batch normalisation --------------------------------------------------------------------- */

/* Two samples of three tokens; four tokens are valid (1 3 and 5 7), the padding is NaN. */
TEST(batch_norm)
{
    bench b = bench_new(LRA_F64, LRA_TRAIN);
    lra_tensor *x = input(&b, "x", LRA_SHAPE(2, 3, 1));
    lra_tensor *length = lra_input(b.g, "length", LRA_I32, LRA_SHAPE(2));
    lra_tensor *gain = lra_param(b.g, "gain", LRA_SHAPE(1), LRA_SPEC(LRA_CONSTANT(1)));
    lra_tensor *bias = lra_param(b.g, "bias", LRA_SHAPE(1), NULL);
    lra_tensor *mean = lra_state(b.g, "mean", LRA_SHAPE(1), NULL);
    lra_tensor *var = lra_state(b.g, "var", LRA_SHAPE(1), LRA_SPEC(LRA_CONSTANT(1)));
    lra_tensor *y = lra_batch_norm(x, length, gain, bias, mean, var, 0.25, 4);
    bench_plan(&b, 1, &y);
    double out[6];
    lra_err e = {{0}};
    set(&b, x, (double[]){1, 3, NAN, 5, 7, NAN}); /* mean 4, variance 5, eps 4: the divisor is 3 */
    set(&b, length, (int32_t[]){2, 2});
    run(&b);
    get(&b, y, out);
    expect(out, (double[]){-1, -1.0 / 3, 0, 1.0 / 3, 1, 0}, 6, 1e-14);
    assert_int_equal(lra_params_get(b.params, "mean", out, &e), 0);
    expect(out, (double[]){1}, 1, 1e-14);
    assert_int_equal(lra_params_get(b.params, "var", out, &e), 0);
    expect(out, (double[]){0.75 + 0.25 * 20 / 3}, 1, 1e-14);

    /* evaluation uses the stored statistics and does not change them */
    lra_graph *g = lra_graph_new(LRA_F64, LRA_EVAL);
    lra_space *space = lra_space_new(&b.device);
    lra_tensor *x2 = lra_input(g, "x", LRA_F64, LRA_SHAPE(2, 1));
    lra_tensor *y2 = lra_batch_norm(
        x2, NULL, lra_param(g, "gain", LRA_SHAPE(1), LRA_SPEC(LRA_CONSTANT(1))),
        lra_param(g, "bias", LRA_SHAPE(1), NULL), lra_state(g, "mean", LRA_SHAPE(1), NULL),
        lra_state(g, "var", LRA_SHAPE(1), LRA_SPEC(LRA_CONSTANT(1))), 0.25, 4);
    lra_plan *plan = lra_plan_new(g, b.params, space, 1, &y2, &e);
    NOT_NULL(plan);
    assert_int_equal(lra_set(plan, x2, (double[]){1, 2}, &e), 0);
    assert_int_equal(lra_run(plan, &e), 0);
    assert_int_equal(lra_get(plan, y2, out, &e), 0);
    expect(out, (double[]){0, 1 / sqrt(0.75 + 5.0 / 3 + 4)}, 2, 1e-14);
    assert_int_equal(lra_params_get(b.params, "mean", out, &e), 0);
    expect(out, (double[]){1}, 1, 1e-14);
    lra_plan_free(plan);
    lra_space_free(space);
    lra_graph_free(g);
    bench_free(&b);
}

/* ---- dropout --------------------------------------------------------------------------------- */

enum { N_DROP = 40000 };

static void drop(double *out, uint64_t seed, uint64_t step, const char *scope, bool tied)
{
    bench b = bench_new(LRA_F64, LRA_TRAIN);
    lra_push(b.g, "%s", scope);
    lra_tensor *x = lra_ones(b.g, LRA_F64, LRA_SHAPE(4, N_DROP / 400, 100));
    lra_tensor *y = lra_dropout(x, 0.25, tied);
    bench_plan(&b, 1, &y);
    lra_step s = {.seed = seed, .step = step};
    set(&b, lra_step_input(b.g), &s);
    run(&b);
    get(&b, y, out);
    bench_free(&b);
}

TEST(dropout)
{
    double *a = lra_alloc_array(N_DROP, sizeof *a), *b = lra_alloc_array(N_DROP, sizeof *b);
    size_t bytes = N_DROP * sizeof *a;
    drop(a, 1, 5, "layer0", false);
    int kept = 0;
    for (int i = 0; i < N_DROP; i++) {
        assert_true(a[i] == 0 || fabs(a[i] - 4.0 / 3) < 1e-15);
        kept += a[i] > 0;
    }
    /* 30,000 are expected, with a standard deviation of 87 */
    assert_in_range(kept, 29600, 30400);
    drop(b, 1, 5, "layer0", false);
    assert_memory_equal(a, b, bytes);
    drop(b, 1, 6, "layer0", false);
    assert_memory_not_equal(a, b, bytes);
    drop(b, 2, 5, "layer0", false);
    assert_memory_not_equal(a, b, bytes);
    drop(b, 1, 5, "layer1", false);
    assert_memory_not_equal(a, b, bytes);

    drop(b, 1, 5, "layer0", true);
    for (int i = 0; i < N_DROP; i++)
        assert_true(b[i] == b[i / (N_DROP / 4) * (N_DROP / 4) + i % 100]);
    assert_memory_not_equal(b, b + N_DROP / 4, 100 * sizeof *b);
    lra_free(a);
    lra_free(b);
}

TEST(dropout_of_nothing)
{
    bench b = bench_new(LRA_F64, LRA_EVAL);
    lra_tensor *x = input(&b, "x", LRA_SHAPE(3));
    assert_ptr_equal(lra_dropout(x, 0.5, false), x);
    lra_graph_free(b.g);
    b = bench_new(LRA_F64, LRA_TRAIN);
    lra_err e = {{0}};
    lra_dropout(input(&b, "x", LRA_SHAPE(3)), 1, false);
    assert_int_equal(lra_graph_check(b.g, &e), LRA_FAILED);
    assert_string_equal(e.msg, "dropout: rate 1 is not in [0,1)");
    lra_graph_free(b.g);
}

/* ---- AdamW ----------------------------------------------------------------------------------- */

/* The expected update of one parameter by the formula. */
typedef struct {
    double p, m, v;
} weight;

static void step_by_hand(weight *w, double g, int t, double rate, double decay)
{
    w->m = 0.9 * w->m + 0.1 * g;
    w->v = 0.99 * w->v + 0.01 * g * g;
    double mhat = w->m / (1 - pow(0.9, t)), vhat = w->v / (1 - pow(0.99, t));
    w->p -= rate * (mhat / (sqrt(vhat) + 1e-8) + decay * w->p);
}

static double param(const bench *b, const char *path)
{
    double v[2];
    lra_err e = {{0}};
    OK(lra_params_get(b->params, path, v, &e));
    return v[0];
}

/* The loss is a x + b y + c, so the gradient is (x, y): (3, 4) is clipped to the norm 1, (0.3, 0.4)
 * is not clipped. */
TEST(adamw)
{
    bench b = bench_new(LRA_F64, LRA_TRAIN);
    lra_shape one = lra_shape_from(0, NULL);
    lra_tensor *x = input(&b, "x", one), *y = input(&b, "y", one);
    lra_tensor *p[] = {
        lra_param(b.g, "a", one, LRA_SPEC(LRA_CONSTANT(2))),
        lra_param(b.g, "b", one, LRA_SPEC(LRA_CONSTANT(-1), .rate_factor = 0.5, .no_decay = true)),
        lra_param(b.g, "c", one, LRA_SPEC(LRA_CONSTANT(5), .frozen = true))};
    lra_tensor *loss = lra_add(lra_add(lra_mul(p[0], x), lra_mul(p[1], y)), p[2]);
    lra_adamw_spec spec = {.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .decay = 0.1, .clip = 1};
    lra_tensor *out = lra_adamw(loss, 3, p, &spec);
    bench_plan(&b, 1, &out);
    lra_step step = {.rate = 0.5f};
    weight a = {2, 0, 0}, c = {-1, 0, 0};
    double scale[] = {1, 0.1, NAN, 1}, got[4];
    int t = 0;
    for (int i = 0; i < 4; i++) {
        double gx = 3 * scale[i], gy = 4 * scale[i], norm = 5 * scale[i];
        bool finite = isfinite(norm);
        double want[4] = {a.p * gx + c.p * gy + 5, norm, finite, !finite};
        set(&b, x, &gx);
        set(&b, y, &gy);
        set(&b, lra_step_input(b.g), &step);
        run(&b);
        get(&b, out, got);
        if (finite) {
            double clip = norm > 1 ? 1 / norm : 1;
            expect(got, want, 4, 1e-12);
            step_by_hand(&a, gx * clip, ++t, 0.5, 0.1);
            step_by_hand(&c, gy * clip, t, 0.25, 0);
        } else
            expect(got + 2, want + 2, 2, 0);
        expect((double[]){param(&b, "a"), param(&b, "b"), param(&b, "c")}, (double[]){a.p, c.p, 5},
               3, 1e-12);
        expect((double[]){param(&b, "adam/m/a"), param(&b, "adam/v/b"), param(&b, "adam/count")},
               (double[]){a.m, c.v, t}, 3, 1e-12);
    }
    bench_free(&b);
}

TEST(adamw_specs)
{
    static const struct {
        lra_param_spec spec;
        double rate;
        const char *message;
    } cases[] = {
        {{.rate_factor = NAN}, 1, "'w' has rate 0 and factor nan, expected numbers from 0"},
        {{.rate = -1}, 1, "'w' has rate -1 and factor 0, expected numbers from 0"},
        {{.rate = 0.1}, 0, "'w' has the rate 0.1, but the base rate is not given"},
        {{.frozen = true}, 1, "adamw: there is no parameter to train"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lra_graph *g = lra_graph_new(LRA_F32, LRA_TRAIN);
        lra_tensor *w = lra_param(g, "w", LRA_SHAPE(3), &cases[i].spec);
        lra_adamw_spec spec = {.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .rate = cases[i].rate};
        lra_err e = {{0}};
        lra_adamw(lra_mse(w, lra_ones(g, LRA_F32, LRA_SHAPE(3))), 1, &w, &spec);
        assert_int_equal(lra_graph_check(g, &e), LRA_FAILED);
        assert_string_equal(e.msg, cases[i].message);
        lra_graph_free(g);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Samples of the registry are too small to be split over threads; this graph contains every
 * operation at sizes that are split. */
static lra_tensor *everything(lra_graph *g)
{
    enum { B = 4, T = 700, D = 48 };
    lra_shape d = LRA_SHAPE(D);
    lra_tensor *index = lra_input(g, "index", LRA_I32, LRA_SHAPE(B, T));
    lra_tensor *length = lra_input(g, "length", LRA_I32, LRA_SHAPE(B));
    lra_tensor *p[] = {lra_param(g, "table", LRA_SHAPE(30, D), LRA_SPEC(LRA_NORMAL(1))),
                       lra_param(g, "gain", d, LRA_SPEC(LRA_NORMAL(1))),
                       lra_param(g, "bias", d, LRA_SPEC(LRA_NORMAL(1))),
                       lra_param(g, "scale", d, LRA_SPEC(LRA_NORMAL(1))),
                       lra_param(g, "class", LRA_SHAPE(900, D), LRA_SPEC(LRA_NORMAL(1)))};
    lra_tensor *x = lra_embedding(p[0], index);
    x = lra_gelu(lra_layer_norm(x, p[1], p[2], 0));
    x = lra_add(lra_dropout(x, 0.1, false), lra_dropout(lra_relu(x), 0.2, true));
    x = lra_batch_norm(x, length, p[1], p[2], lra_state(g, "mean", d, NULL),
                       lra_state(g, "var", d, LRA_SPEC(LRA_CONSTANT(1))), 0.1, 0);
    x = lra_mul(lra_softmax(x), p[3]);
    x = lra_permute(lra_permute(x, 3, (int[]){0, 2, 1}), 3, (int[]){0, 2, 1});
    x = lra_concat(2, (lra_tensor *[]){x, lra_slice(x, 2, 3, 5)}, 2);
    x = lra_slice(x, 2, 5, D);
    lra_tensor *pooled = lra_add(lra_pool(x, length, LRA_POOL_MEAN),
                                 lra_pool(x, length, LRA_POOL_MAX));
    pooled = lra_broadcast(lra_reshape(pooled, LRA_SHAPE(B, 1, D)), LRA_SHAPE(B, 900, D));
    lra_tensor *near = lra_mul(pooled, p[4]);
    lra_tensor *logits = lra_reduce_sum(near, LRA_SHAPE(B, 900, 1));
    lra_tensor *label = lra_input(g, "label", LRA_I32, LRA_SHAPE(B));
    lra_tensor *loss = lra_cross_entropy(lra_reshape(logits, LRA_SHAPE(B, 900)), label);
    loss = lra_add(loss, lra_add(lra_mse(x, lra_tanh(x)), lra_l1(x, lra_silu(x))));
    lra_adamw_spec spec = {.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .decay = 0.1, .clip = 1};
    return lra_adamw(loss, 5, p, &spec);
}

static uint64_t train(lra_type type, int n_threads)
{
    bench b = bench_new(type, LRA_TRAIN);
    lra_tensor *out = everything(b.g);
    bench_plan(&b, 1, &out);
    lra_plan_threads(b.plan, n_threads);
    int32_t index[4 * 700];
    double got[4];
    for (int i = 0; i < 4 * 700; i++) index[i] = i * i % 30;
    for (int i = 0; i < 3; i++) {
        lra_step step = {.seed = 1, .step = (uint64_t)i, .rate = 0.01f};
        set(&b, lra_find(b.g, "index"), index);
        set(&b, lra_find(b.g, "length"), (int32_t[]){700, 1, 333, 512});
        set(&b, lra_find(b.g, "label"), (int32_t[]){0, 899, -1, 7});
        set(&b, lra_step_input(b.g), &step);
        run(&b);
        get(&b, out, got);
        double applied = type == LRA_F64 ? got[2] : (double)((float *)got)[2];
        assert_true(applied == 1);
    }
    uint64_t hash = lra_params_hash(b.params);
    bench_free(&b);
    return hash;
}

TEST(threads_change_no_bits)
{
    for (int type = LRA_F32; type <= LRA_BF16; type++)
        assert_true(train((lra_type)type, 1) == train((lra_type)type, 2));
}

/* 256 + 1/8 has no bf16 representation: a float32 residual keeps its digits in a bf16 graph, the
 * product is rounded once, and the gradient of the residual is that of y. */
TEST(residuals_keep_their_digits)
{
    bench b = bench_new(LRA_BF16, LRA_TRAIN);
    const float from[2] = {256.125F, -0.0009765625F}, one[2] = {1, 1}, w[4] = {1, 0, 0, 1};
    const float x[2] = {1.00390625F, 0.5F}; /* 1 + 2^-8 is rounded to 1 in bf16 */
    const float want[2] = {257.125F, 0.4990234375F};
    float y[2], dr[2];
    lra_tensor *r = lra_input(b.g, "r", LRA_F32, LRA_SHAPE(1, 2)), *dx;
    lra_tensor *matrix = lra_input(b.g, "w", LRA_F32, LRA_SHAPE(2, 2));
    lra_tensor *in = lra_input(b.g, "x", LRA_F32, LRA_SHAPE(1, 2));
    lra_tensor *seed = lra_input(b.g, "seed", LRA_F32, LRA_SHAPE(1, 2));
    lra_tensor *sum = lra_linear(in, matrix, NULL, LRA_ACT_NONE, r);
    assert_int_equal(lra_tensor_type(sum), LRA_F32);
    lra_grad(sum, seed, 1, &r, &dx);
    bench_plan(&b, 2, (lra_tensor *[]){sum, dx});
    set(&b, r, from), set(&b, matrix, w), set(&b, in, x), set(&b, seed, one);
    run(&b);
    get(&b, sum, y), get(&b, dx, dr);
    for (int i = 0; i < 2; i++) {
        assert_true(y[i] == want[i]);
        assert_true(dr[i] == 1);
    }
    bench_free(&b);
}
