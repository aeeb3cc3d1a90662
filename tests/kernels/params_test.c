/* Parameters: initial values by every rule, sharing, gradients; plans do not change existing
 * values. */
#include "tests/fixtures/test.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"
#include "models/network.h"

enum { N = 40000, WIDTH = 200 };

typedef struct {
    lra_device device;
    lra_graph *g;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
} bench;

static bench open_bench(lra_type type)
{
    lra_err e = {{0}};
    bench b = {.g = lra_graph_new(type, LRA_TRAIN)};
    OK(lra_cpu_device(&b.device, 1, &e));
    return b;
}

static void plan(bench *b, lra_tensor *out)
{
    lra_err e = {{0}};
    b->params = lra_params_new(&b->device, 3);
    b->space = lra_space_new(&b->device);
    b->plan = lra_plan_new(b->g, b->params, b->space, 1, &out, &e);
    NOT_NULL(b->plan);
}

static void close_bench(bench *b)
{
    lra_plan_free(b->plan);
    lra_params_free(b->params);
    lra_space_free(b->space);
    lra_graph_free(b->g);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Returns the initial values of an array of this shape, in double. */
static double *start_of(const lra_param_spec *spec, lra_shape s)
{
    lra_err e = {{0}};
    bench b = open_bench(LRA_F64);
    plan(&b, lra_affine(lra_param(b.g, "x", s, spec), 1, 0));
    double *v = lra_alloc_array((size_t)lra_shape_elements(s), sizeof *v);
    OK(lra_params_get(b.params, "x", v, &e));
    close_bench(&b);
    return v;
}

typedef struct {
    double mean, deviation, least, most;
} summary;

static summary summarise(const double *v, int64_t n)
{
    summary s = {.least = INFINITY, .most = -INFINITY};
    for (int64_t i = 0; i < n; i++) {
        s.mean += v[i] / (double)n;
        s.least = fmin(s.least, v[i]), s.most = fmax(s.most, v[i]);
    }
    for (int64_t i = 0; i < n; i++) s.deviation += (v[i] - s.mean) * (v[i] - s.mean) / (double)n;
    s.deviation = sqrt(s.deviation);
    return s;
}

static void expect_near(const char *what, double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s is %.6g, expected %.6g", what, found, expected);
}

/* With 40,000 numbers the error of a mean is 0.5 % of the standard deviation, and that of the
 * standard deviation 0.4 %. */
TEST(random_rules_have_their_moments)
{
    const struct {
        lra_param_spec spec;
        double mean, deviation, least, most;
    } rule[] = {
        {{LRA_NORMAL(0.5), .b = 2}, 2, 0.5, -INFINITY, INFINITY},
        {{LRA_UNIFORM(-1, 3)}, 1, 4 / sqrt(12), -1, 3},
        {{LRA_TRUNCATED(0.02)}, 0, 0.02, -2.274 * 0.02, 2.274 * 0.02},
        {{LRA_FAN(16)}, 0, 0.5 / sqrt(12), -0.25, 0.25},
        /* the array has 200 inputs and 200 outputs */
        {{LRA_XAVIER(0.5)},
         0,
         0.5 * sqrt(2.0 / 400),
         -0.5 * sqrt(6.0 / 400),
         0.5 * sqrt(6.0 / 400)},
        /* the mean of a log-uniform distribution on [a, b] is (b - a) / ln(b / a) */
        {{LRA_LOG_UNIFORM(0.001, 0.1)}, 0.021498, 0.025, 0.001, 0.1},
    };
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        double *v = start_of(&rule[i].spec, LRA_SHAPE(N / WIDTH, WIDTH));
        summary s = summarise(v, N);
        expect_near("the mean", s.mean, rule[i].mean, 0.03 * rule[i].deviation);
        expect_near("the deviation", s.deviation, rule[i].deviation, 0.03 * rule[i].deviation);
        assert_true(s.least >= rule[i].least && s.most <= rule[i].most);
        if (isfinite(rule[i].most)) { /* values come close to both ends of the range */
            double width = rule[i].most - rule[i].least;
            expect_near("the most", s.most, rule[i].most, 0.02 * width);
            expect_near("the least", s.least, rule[i].least, 0.02 * width);
        }
        lra_free(v);
    }
}

static void fill_squares(const lra_fill *f, double *v)
{
    double step = *(const double *)f->data;
    lra_rng a = lra_rng_new(f->seed, f->stream, 0);
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++) v[i] = step * (double)(i * i);
    v[0] = lra_rng_u01(&a);
}

TEST(other_rules_are_exact)
{
    double *ramp = start_of(LRA_SPEC(LRA_RAMP(0.5, 2)), LRA_SHAPE(2, 3));
    double *turns = start_of(LRA_SPEC(LRA_ALTERNATING(1, 0)), LRA_SHAPE(2, 3));
    double *near = start_of(LRA_SPEC(LRA_ALTERNATING(1, 0.02)), LRA_SHAPE(2, 3));
    double *zero = start_of(NULL, LRA_SHAPE(6)),
           *five = start_of(LRA_SPEC(LRA_CONSTANT(5)), LRA_SHAPE(6));
    const double step = 0.25;
    double *own = start_of(
        LRA_SPEC(LRA_FILL(fill_squares), .data = &step, .data_size = sizeof step), LRA_SHAPE(6));
    for (int i = 0; i < 6; i++) {
        assert_true(ramp[i] == 0.5 + 2 * (i % 3));
        assert_true(turns[i] == (i % 3 == 1 ? -1 : 1));
        assert_true(near[i] != turns[i] && fabs(near[i] - turns[i]) < 0.1);
        assert_true(zero[i] == 0 && five[i] == 5);
        assert_true(i == 0 ? own[i] > 0 && own[i] < 1 : own[i] == 0.25 * i * i);
    }
    lra_free(ramp), lra_free(turns), lra_free(near), lra_free(zero), lra_free(five), lra_free(own);
}

/* The number of taps multiplies both the number of inputs and the number of outputs. */
TEST(taps_count_in_xavier)
{
    double *v = start_of(LRA_SPEC(LRA_XAVIER(1)), LRA_SHAPE(5, 100, 60));
    double bound = sqrt(6.0 / (5 * 160));
    summary s = summarise(v, (int64_t)5 * 100 * 60);
    assert_true(s.most <= bound && s.most > 0.999 * bound);
    lra_free(v);
}

/* Hashes of the initial values in earlier versions, which must not change. */
TEST(resconv_starts_as_ever)
{
    static const uint64_t known[] = {
        [LRA_F32] = 0xa6347e4fe6ffeceaULL,
        [LRA_F64] = 0x5e6285d1a76954e5ULL,
        [LRA_BF16] = 0xa6347e4fe6ffeceaULL,
    };
    for (int type = LRA_F32; type <= LRA_BF16; type++) {
        lra_err e = {{0}};
        lra_device device;
        assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
        lra_config *c = lra_keys_config(lra_model_resconv.keys);
        lra_config_set(c, "width", "12");
        lra_config_set(c, "hidden", "16");
        const lra_network_spec s = {.vocab = 9, .outputs = 4};
        lra_network k = lra_network_build((lra_type)type, LRA_TRAIN, &lra_model_resconv, c, &s, 2,
                                          8);
        bench b = {.device = device, .g = k.graph};
        plan(&b, k.loss);
        uint64_t hash = lra_params_hash(b.params);
        if (hash != known[type])
            fail_msg("type %d starts as %016" PRIx64 ", expected %016" PRIx64, type, hash,
                     known[type]);
        close_bench(&b);
        lra_config_free(c);
    }
}

/* ---- sharing --------------------------------------------------------------------------------- */

static void expect_failure(bench *b, const char *message)
{
    lra_err e = {{0}};
    assert_int_equal(lra_graph_check(b->g, &e), LRA_FAILED);
    assert_string_equal(e.msg, message);
    close_bench(b);
}

TEST(sharing_is_said)
{
    bench b = open_bench(LRA_F32);
    lra_push(b.g, "layer0");
    lra_tensor *w = lra_param(b.g, "w", LRA_SHAPE(3), NULL);
    assert_ptr_equal(lra_shared(b.g, "layer0/w"), w);
    lra_pop(b.g);
    assert_ptr_equal(lra_shared(b.g, "layer0/w"), w);
    lra_param(b.g, "w", LRA_SHAPE(3), NULL); /* at top level, "w" is another path than "layer0/w" */
    lra_push(b.g, "layer0");
    lra_param(b.g, "w", LRA_SHAPE(3), NULL);
    expect_failure(&b, "'layer0': 'w' already exists; lra_shared() uses it again");

    b = open_bench(LRA_F32);
    lra_param(b.g, "w", LRA_SHAPE(3), NULL);
    lra_state(b.g, "w", LRA_SHAPE(3), NULL);
    expect_failure(&b, "'w' already exists; lra_shared() uses it again");

    b = open_bench(LRA_F32);
    lra_shared(b.g, "layer0/w");
    expect_failure(&b, "there is no 'layer0/w' to share");
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* Gradients of losses have no gradient rule themselves; without an error, the operations before
 * them would get zero gradients. */
TEST(a_gradient_without_a_rule_is_named)
{
    bench b = open_bench(LRA_F64);
    lra_tensor *w = lra_param(b.g, "w", LRA_SHAPE(3), LRA_SPEC(LRA_NORMAL(1))), *dw, *twice;
    lra_push(b.g, "first");
    lra_tensor *y = lra_mse(lra_softmax(w), lra_ones(b.g, LRA_F64, LRA_SHAPE(3)));
    lra_pop(b.g);
    lra_grad(y, NULL, 1, &w, &dw);
    lra_grad(lra_tanh(dw), NULL, 1, &w, &twice);
    expect_failure(&b, "the gradient of 'tanh' ends at 'first/mse_grad': op "
                       "'mse_grad' has no rule (lra_detach() stops it on purpose)");
}

TEST(detach_stops_it)
{
    lra_err e = {{0}};
    bench b = open_bench(LRA_F64);
    lra_tensor *w = lra_param(b.g, "w", LRA_SHAPE(2), LRA_SPEC(LRA_RAMP(3, 1))), *dw;
    lra_grad(lra_mul(w, lra_detach(lra_mul(w, w))), NULL, 1, &w, &dw);
    plan(&b, dw);
    double d[2];
    assert_int_equal(lra_run(b.plan, &e), 0);
    assert_int_equal(lra_get(b.plan, dw, d, &e), 0);
    assert_true(d[0] == 9 && d[1] == 16); /* the gradient is that of one use of w, not 27 and 48 */
    close_bench(&b);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* A product reads w through a bf16 copy, which a sum does not need: the second plan creates the
 * copy from the trained values. */
TEST(plans_leave_values_alone)
{
    enum { D = 4 };
    lra_err e = {{0}};
    bench a = open_bench(LRA_BF16), b = open_bench(LRA_BF16);
    lra_tensor *w = lra_param(a.g, "w", LRA_SHAPE(D, D), LRA_SPEC(LRA_NORMAL(1)));
    plan(&a, lra_affine(w, 1, 0));
    float trained[D * D], found[D * D], x[D] = {1, 0, 0, 0}, y[D];
    for (int i = 0; i < D * D; i++) trained[i] = (float)i;
    assert_int_equal(lra_params_set(a.params, "w", trained, &e), 0);

    w = lra_param(b.g, "w", LRA_SHAPE(D, D), LRA_SPEC(LRA_NORMAL(1)));
    lra_tensor *in = lra_input(b.g, "x", LRA_F32, LRA_SHAPE(1, D));
    lra_tensor *out = lra_linear(lra_cast(in, LRA_BF16), w, NULL, LRA_ACT_NONE, NULL);
    out = lra_cast(out, LRA_F32);
    b.space = lra_space_new(&b.device);
    b.plan = lra_plan_new(b.g, a.params, b.space, 1, &out, &e);
    assert_non_null(b.plan);
    assert_int_equal(lra_params_get(a.params, "w", found, &e), 0);
    assert_memory_equal(found, trained, sizeof found);
    assert_int_equal(lra_set(b.plan, in, x, &e), 0);
    assert_int_equal(lra_run(b.plan, &e), 0);
    assert_int_equal(lra_get(b.plan, out, y, &e), 0);
    assert_memory_equal(y, trained, sizeof y);
    close_bench(&b);
    close_bench(&a);
}
