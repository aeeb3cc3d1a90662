/* Attention with kernels for whole tiles of 64 keys and queries, and for strips of tiles with
 * hidden pairs: float32 is compared with the same graph in double, which has no such kernels, for y
 * and the gradients of q, k and v, at every instruction level. Scores are even, decrease from tile
 * to tile, or increase so fast that the maxima of earlier tiles would give infinite weights.
 * Another case has keys and values that are almost equal. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/features.h"
#include "kernels/graph/ops.h"

enum { B = 2, T = 330, H = 2, MOST = B * T * H * 40 };

typedef struct {
    const char *name;
    lra_attention_spec spec;
    int K, V;
    /* difference of the scores of consecutive tiles. The last tile is incomplete; it must not be
     * the only one with the largest scores, because it would then hide the others */
    double step;
} whole_case;

static const whole_case cases[] = {
    {"even", {.scale = 0}, 32, 32, 0},
    {"even, causal", {.causal = true}, 32, 32, 0},
    {"of a window", {.window = 90}, 20, 24, 0},
    {"of a window of a tile", {.window = 64}, 32, 32, 0},
    {"of a narrow window", {.window = 3}, 16, 40, 0},
    {"of a window to the past", {.window = 64, .causal = true}, 32, 32, 0},
    {"of chunks", {.chunk = 50}, 32, 16, 0},
    {"of chunks beside each other", {.chunk = 24, .neighbours = 1}, 8, 32, 0},
    {"odd channels", {.scale = 0}, 5, 7, 0},
    {"rising slowly", {.scale = 0}, 32, 32, 3},
    {"rising", {.scale = 1}, 32, 32, 60},
    {"rising, causal", {.causal = true, .scale = 1}, 40, 16, 60},
    {"rising in a window", {.window = 90, .scale = 1}, 32, 32, 60},
    {"falling", {.scale = 1}, 16, 32, -60},
    {"falling in a window", {.window = 90, .scale = 1}, 16, 32, -60},
};

static double value[4][MOST], result[2][4][MOST]; /* inputs: q, k, v, dy; results: y, dq, dk, dv */
static const int32_t lengths[B] = {T, 201};

/* Sets inputs: the first channel of queries is 1, that of keys is the score of their tile. */
static void fill(const whole_case *c)
{
    for (int x = 0; x < 4; x++) {
        int width = x < 2 ? c->K : c->V;
        lra_rng r = lra_rng_new(5, (uint32_t)x, 0);
        for (int i = 0; i < B * T * H * width; i++) {
            int tile = i / (width * H) % T / 64, first = i % width == 0;
            value[x][i] = 2 * lra_rng_u01(&r) - 1;
            if (first && x == 0) value[x][i] = 1;
            if (first && x == 1) value[x][i] += c->step * (tile > 2 ? 2 : tile);
            value[x][i] = (double)(float)value[x][i];
        }
    }
}

static void convert(int64_t n, bool widen, float *single, double *v)
{
    for (int64_t i = 0; i < n && widen; i++) v[i] = (double)single[i];
    for (int64_t i = 0; i < n && !widen; i++) single[i] = (float)v[i];
}

static void compute(const whole_case *c, lra_type type, double (*to)[MOST])
{
    static float single[MOST];
    static const char *const name[] = {"q", "k", "v", "dy"};
    lra_err e = {{0}};
    lra_device device;
    lra_tensor *x[4], *out[4];
    const bool f64 = type == LRA_F64;
    lra_graph *g = lra_graph_new(type, LRA_EVAL);
    for (int i = 0; i < 4; i++)
        x[i] = lra_input(g, name[i], type, LRA_SHAPE(B, T, H, i < 2 ? c->K : c->V));
    lra_tensor *length = lra_input(g, "length", LRA_I32, LRA_SHAPE(B));
    out[0] = lra_attention(x[0], x[1], x[2], length, &c->spec);
    lra_grad(out[0], x[3], 3, x, out + 1);
    assert_int_equal(lra_cpu_device(&device, 2, &e), 0);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(g, params, space, 4, out, &e);
    NOT_NULL(plan);
    for (int i = 0; i < 4; i++) {
        convert(lra_shape_elements(lra_tensor_shape(x[i])), false, single, value[i]);
        assert_int_equal(lra_set(plan, x[i], f64 ? (void *)value[i] : single, &e), 0);
    }
    assert_int_equal(lra_set(plan, length, lengths, &e), 0);
    assert_int_equal(lra_run(plan, &e), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(lra_get(plan, out[i], f64 ? (void *)to[i] : single, &e), 0);
        if (!f64) convert(lra_shape_elements(lra_tensor_shape(out[i])), true, single, to[i]);
    }
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(g);
}

static void expect_formula(void)
{
    static const char *const name[] = {"y", "dq", "dk", "dv"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const whole_case *c = &cases[i];
        fill(c);
        compute(c, LRA_F64, result[0]);
        compute(c, LRA_F32, result[1]);
        for (int a = 0; a < 4; a++) {
            int n = B * T * H * (a == 0 || a == 3 ? c->V : c->K);
            /* a score of 120 has a rounding error of 1e-5, and so has its weight; dq is a sum in
             * which keys cancel */
            double most = a == 1 ? 1 + 2 * fabs(c->step) : 1;
            double bound = fabs(c->step) > 10 ? 1e-4 : 1e-5;
            for (int k = 0; k < n; k++) most = fmax(most, fabs(result[0][a][k]));
            for (int k = 0; k < n; k++)
                if (!(fabs(result[1][a][k] - result[0][a][k]) <= bound * most))
                    fail_msg("%s, %s, element %d: %.9g, expected %.9g", c->name, name[a], k,
                             result[1][a][k], result[0][a][k]);
        }
    }
}

TEST(whole_tiles_are_the_formula)
{
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        expect_formula();
    }
    unsetenv("LRA_CPU");
}

/* Sets keys and values that differ by a hundredth of their common part. */
static void fill_alike(const whole_case *c)
{
    fill(c);
    for (int x = 1; x < 3; x++)
        for (int i = 0; i < B * T * H * (x < 2 ? c->K : c->V); i++)
            value[x][i] = (double)(float)(3 + value[x][i] / 32);
}

/* Returns the largest error of gradient a in float32, relative to its largest value. */
static double apart(int a, int n)
{
    double most = 0, off = 0;
    for (int k = 0; k < n; k++) {
        most = fmax(most, fabs(result[0][a][k]));
        off = fmax(off, fabs(result[1][a][k] - result[0][a][k]));
    }
    return off / most;
}

/* Returns the largest sum of a channel of dk over the keys, relative to the sum of magnitudes. */
static double unsettled(const whole_case *c)
{
    const int row = H * c->K;
    double most = 0;
    for (int at = 0; at < B * row; at++) {
        const double *dk = result[1][2] + at / row * T * row + at % row;
        double sum = 0, size = 0;
        for (int t = 0; t < T; t++) sum += dk[t * row], size += fabs(dk[t * row]);
        most = fmax(most, fabs(sum) / size);
    }
    return most;
}

/* Attention is invariant under the common part of all keys, so that the gradient of a bias of all
 * keys is zero. */
TEST(nothing_is_lost_where_keys_are_alike)
{
    const whole_case alike[] = {{"all", {.scale = 0}, 32, 32, 0},
                                {"causal", {.causal = true}, 20, 24, 0},
                                {"of a window", {.window = 64}, 32, 16, 0}};
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        for (int i = 0; i < 3; i++) {
            const whole_case *c = &alike[i];
            fill_alike(c);
            compute(c, LRA_F64, result[0]);
            compute(c, LRA_F32, result[1]);
            double dq = apart(1, B * T * H * c->K), dk = apart(2, B * T * H * c->K);
            print_message("%s, %s: dq %.1e, dk %.1e, sum of dk %.1e\n", lra_cpu_usable(level),
                          c->name, dq, dk, unsettled(c));
            if (!(dq < 2e-4 && dk < 1e-4 && unsettled(c) < 1e-9))
                fail_msg("%s, %s", lra_cpu_usable(level), c->name);
        }
    }
    unsetenv("LRA_CPU");
}
