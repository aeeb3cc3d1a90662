/* Vector code (kernels/ops/lanes_template.h) at every instruction level, in float32 and bf16,
 * compared with float64: widths that are not multiples of vectors, one row and several, numbers
 * that are not finite, denormal or very large, one thread and two. */
#include "tests/fixtures/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/features.h"
#include "kernels/graph/op.h"
#include "kernels/ops/dense/product.h"

enum { MAX = 700 * 75, OUTPUTS = 40 };

/* two arrays (rows, D) and two arrays (D) */
static double x[MAX], z[MAX], gain[MAX], bias[MAX];

/* Sets random values that bf16 represents exactly, with 1/16 < |v| < 2. */
static void fill(double *to, int n, uint32_t stream)
{
    lra_rng r = lra_rng_new(5, stream, 0);
    for (int i = 0; i < n; i++) {
        double v = (16 + (double)lra_rng_below(&r, 240)) / 128;
        to[i] = lra_rng_below(&r, 2) ? v : -v;
    }
}

typedef struct {
    const char *name[OUTPUTS];
    lra_tensor *y[OUTPUTS];
    int n;
} outputs;

static void add(outputs *o, const char *name, lra_tensor *y)
{
    o->name[o->n] = name;
    o->y[o->n++] = y;
}
/* Adds y, and the gradients of the sum of y z with respect to the leaves. */
static void add_both(outputs *o, const char *name, lra_tensor *y, lra_tensor *seed, int n,
                     lra_tensor *const *leaf)
{
    lra_tensor *grad[3];
    add(o, name, y);
    lra_grad(y, seed, n, leaf, grad);
    for (int i = 0; i < n; i++) add(o, name, grad[i]);
}

static lra_tensor *input(lra_graph *g, const char *name, lra_shape s)
{
    return lra_input(g, name, lra_real(g), s);
}

static void build(lra_graph *g, int rows, int D, outputs *o)
{
    lra_type t = lra_elem(g);
    lra_tensor *leaf[3] = {lra_cast(input(g, "x", LRA_SHAPE(rows, D)), t)};
    lra_tensor *b = lra_cast(input(g, "z", LRA_SHAPE(rows, D)), t), *a = leaf[0];
    lra_tensor *gated[] = {a, b};
    leaf[1] = input(g, "gain", LRA_SHAPE(D)), leaf[2] = input(g, "bias", LRA_SHAPE(D));
    add_both(o, "layer_norm", lra_layer_norm(a, leaf[1], leaf[2], 1e-5), b, 3, leaf);
    add_both(o, "rms", lra_rms_norm(a, NULL, 1e-5), b, 1, leaf);
    add_both(o, "softmax", lra_softmax(a), b, 1, leaf);
    add_both(o, "relu", lra_relu(a), b, 1, leaf);
    add_both(o, "gelu", lra_gelu(a), b, 1, leaf);
    add_both(o, "gelu_tanh", lra_gelu_tanh(a), b, 1, leaf);
    add_both(o, "silu", lra_silu(a), b, 1, leaf);
    add_both(o, "tanh", lra_tanh(a), b, 1, leaf);
    add_both(o, "sigmoid", lra_sigmoid(a), b, 1, leaf);
    add_both(o, "exp", lra_exp(a), b, 1, leaf);
    add_both(o, "gate gelu", lra_gate(a, LRA_GATE_GELU, b), b, 2, gated);
    add_both(o, "gate silu", lra_gate(a, LRA_GATE_SILU, b), b, 2, gated);
    add_both(o, "gate sigmoid", lra_gate(a, LRA_GATE_SIGMOID, b), b, 2, gated);
    add(o, "add", lra_add(a, b));
    add(o, "div", lra_div(a, b));
    add(o, "affine", lra_affine(a, -1.5, 0.25));
    add(o, "sum", lra_add_n(3, (lra_tensor *[]){a, b, a}));
    add(o, "act_dx", lra_activation_backward(a, b, LRA_ACT_GELU, NULL));
    add(o, "reduce columns", lra_reduce_sum(a, LRA_SHAPE(D)));
    add(o, "reduce rows", lra_reduce_sum(a, LRA_SHAPE(rows, 1)));
    add(o, "cast", lra_cast(a, lra_real(g)));
    add(o, "pool", lra_pool(lra_reshape(a, LRA_SHAPE(1, rows, D)), NULL, LRA_POOL_MEAN));
}

/* Computes all outputs and stores them one after the other; returns the number of values. */
static int64_t compute(lra_type type, int rows, int D, int n_threads, outputs *o, double *to)
{
    static float narrow[MAX];
    lra_err e = {{0}};
    lra_device device;
    lra_graph *g = lra_graph_new(type, LRA_TRAIN);
    *o = (outputs){.n = 0};
    build(g, rows, D, o);
    OK(lra_cpu_device(&device, n_threads, &e));
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(g, params, space, o->n, o->y, &e);
    NOT_NULL(plan);
    lra_plan_threads(plan, n_threads);
    const struct {
        const char *name;
        const double *value;
    } in[] = {{"x", x}, {"z", z}, {"gain", gain}, {"bias", bias}};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < rows * D; k++) narrow[k] = (float)in[i].value[k];
        const void *host = type == LRA_F64 ? (const void *)in[i].value : (const void *)narrow;
        OK(lra_set(plan, lra_find(g, in[i].name), host, &e));
    }
    OK(lra_run(plan, &e));
    int64_t total = 0;
    for (int i = 0; i < o->n; i++) {
        int64_t n = lra_elements(o->y[i]);
        if (type == LRA_F64 ? lra_get(plan, o->y[i], to + total, &e)
                            : lra_get(plan, o->y[i], narrow, &e))
            fail_msg("%s", e.msg);
        for (int64_t k = 0; k < n && type != LRA_F64; k++) to[total + k] = (double)narrow[k];
        total += n;
    }
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    return total;
}

static double got[OUTPUTS * MAX], want[OUTPUTS * MAX];

/* Compares the outputs of an instruction level with those in float64. Tolerance: in bf16 one
 * rounding; in float32 the rounding errors of a sum of max(D, rows) terms. */
static void compare(lra_type type, const char *level, int rows, int D, const outputs *o)
{
    int64_t at = 0;
    for (int i = 0; i < o->n; at += lra_elements(o->y[i]), i++) {
        const double *a = got + at, *b = want + at;
        double most = 1e-3, unit = type == LRA_BF16 ? 1.0 / 128 : 1e-6 * sqrt(D > rows ? D : rows);
        for (int64_t k = 0; k < lra_elements(o->y[i]); k++) most = fmax(most, fabs(b[k]));
        for (int64_t k = 0; k < lra_elements(o->y[i]); k++)
            if (!(fabs(a[k] - b[k]) <= unit * (1 + 3 * most)))
                fail_msg("'%s' (%d), %s, %s, (%d,%d): element %d is %.9g, expected %.9g",
                         o->name[i], i, level, type == LRA_BF16 ? "bf16" : "f32", rows, D, (int)k,
                         a[k], b[k]);
    }
}

TEST(widths)
{
    static const int D[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,
                            12, 13, 14, 15, 16, 17, 31, 33, 65, 128, 129};
    outputs o;
    fill(x, MAX, 1), fill(z, MAX, 2), fill(gain, MAX, 3), fill(bias, MAX, 4);
    for (size_t k = 0; k < sizeof D / sizeof *D; k++) /* `rows` takes the values 1, 2, 6 */
        for (int rows = 1; rows <= 9; rows += 1 + 3 * (rows > 1)) {
            compute(LRA_F64, rows, D[k], 1, &o, want);
            lra_graph_free(o.y[0]->graph);
            for (int level = 0; lra_cpu_usable(level); level++)
                for (lra_type t = LRA_F32; t <= LRA_BF16; t += LRA_BF16 - LRA_F32) {
                    setenv("LRA_CPU", lra_cpu_usable(level), 1);
                    compute(t, rows, D[k], 1, &o, got);
                    compare(t, lra_cpu_usable(level), rows, D[k], &o);
                    lra_graph_free(o.y[0]->graph);
                }
        }
    unsetenv("LRA_CPU");
}

/* Results with one and with two threads are bitwise equal, including sums over more rows than one
 * block has. */
TEST(threads)
{
    outputs o;
    fill(x, MAX, 1), fill(z, MAX, 2), fill(gain, MAX, 3), fill(bias, MAX, 4);
    for (int level = 0; lra_cpu_usable(level); level++)
        for (lra_type t = LRA_F32; t <= LRA_BF16; t += LRA_BF16 - LRA_F32) {
            setenv("LRA_CPU", lra_cpu_usable(level), 1);
            int64_t n = compute(t, 700, 75, 1, &o, want);
            lra_graph_free(o.y[0]->graph);
            compute(t, 700, 75, 2, &o, got);
            assert_memory_equal(got, want, (size_t)n * sizeof *got);
            lra_graph_free(o.y[0]->graph);
        }
    unsetenv("LRA_CPU");
}

/* Returns the output of that name, `rows` rows of D. */
static const double *find(const outputs *o, const char *name, int which, const double *all)
{
    for (int i = 0; i < o->n; all += lra_elements(o->y[i]), i++)
        if (strcmp(o->name[i], name) == 0 && which-- == 0) return all;
    fail_msg("no output '%s'", name);
    return NULL;
}

/* NaN and infinities in a row affect this row only, and its result is not finite. */
TEST(not_finite)
{
    enum { ROWS = 6, D = 21, BAD = 2 };
    static const double value[] = {NAN, -NAN, INFINITY, -INFINITY};
    static const char *const by_row[] = {"layer_norm", "rms", "softmax"};
    static const char *const by_element[] = {"relu", "gelu_tanh", "silu", "tanh", "sigmoid", "exp"};
    outputs o;
    fill(x, MAX, 1), fill(z, MAX, 2), fill(gain, MAX, 3), fill(bias, MAX, 4);
    for (int level = 0; lra_cpu_usable(level); level++)
        for (lra_type t = LRA_F32; t <= LRA_BF16; t += LRA_BF16 - LRA_F32)
            for (int v = 0; v < 4; v++) {
                setenv("LRA_CPU", lra_cpu_usable(level), 1);
                x[BAD * D + 19] = 1;
                compute(t, ROWS, D, 1, &o, want);
                lra_graph_free(o.y[0]->graph);
                x[BAD * D + 19] = value[v];
                compute(t, ROWS, D, 1, &o, got);
                for (size_t k = 0; k < 3; k++) {
                    const double *a = find(&o, by_row[k], 0, got),
                                 *b = find(&o, by_row[k], 0, want);
                    bool zero = v == 3 && k == 2; /* softmax of a score of -infinity is 0 */
                    for (int i = 0; i < ROWS * D; i++)
                        if (i / D != BAD)
                            assert_true(a[i] == b[i]);
                        else if (zero)
                            assert_true(isfinite(a[i]) && (i % D != 19 || a[i] == 0));
                        else if (k != 1 || i % D == 19)
                            assert_true(isnan(a[i]));
                }
                for (size_t k = 0; k < 6; k++) {
                    const double *a = find(&o, by_element[k], 0, got);
                    double y = a[BAD * D + 19];
                    if (v < 2) assert_true(isnan(y));
                    if (v == 2) assert_true(y == (k == 3 || k == 4 ? 1 : INFINITY));
                    if (v == 3 && k != 1 && k != 2) assert_true(y == (k == 3 ? -1 : 0));
                }
                lra_graph_free(o.y[0]->graph);
            }
    unsetenv("LRA_CPU");
}

/* Denormal numbers, rows of magnitude 1e18, and rows far from 0 with small differences: layer norm
 * and softmax remain accurate. */
TEST(magnitudes)
{
    enum { ROWS = 5, D = 19 };
    outputs o;
    fill(x, MAX, 1), fill(z, MAX, 2), fill(gain, MAX, 3), fill(bias, MAX, 4);
    for (int d = 0; d < D; d++) {
        x[d] = ldexp(x[d], 59);
        x[D + d] = ldexp(x[D + d], -133);
        x[2 * D + d] = 256 + d;
        x[3 * D + d] = d % 2 ? 0.0 : -0.0;
    }
    compute(LRA_F64, ROWS, D, 1, &o, want);
    lra_graph_free(o.y[0]->graph);
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        compute(LRA_F32, ROWS, D, 1, &o, got);
        const char *const names[] = {"layer_norm", "softmax", "rms"};
        for (int k = 0; k < 3; k++) {
            const double *a = find(&o, names[k], 0, got), *b = find(&o, names[k], 0, want);
            for (int i = 0; i < ROWS * D; i++)
                if (!(fabs(a[i] - b[i]) <= 1e-5 * fmax(1, fabs(b[i]))))
                    fail_msg("'%s', %s, element %d: %g, expected %g", names[k],
                             lra_cpu_usable(level), i, a[i], b[i]);
        }
        lra_graph_free(o.y[0]->graph);
    }
    unsetenv("LRA_CPU");
}
