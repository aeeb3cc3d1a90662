/* labels: slow timeout: 300 */
/* Gradients on the host shim that are small differences of large numbers must be as accurate as on
 * the CPU: attention with almost equal keys and values (attention_whole_test.c), and sums of
 * columns. */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <string.h>

#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/ops.h"
#include "tests/shim/device.h"
#include "tests/shim/shim.h"

static int open_cpu(lra_device *d, lra_err *e)
{
    return lra_cpu_device(d, 1, e);
}

/* Runs a graph: sets n inputs to values that are exact in bf16, and reads `outs` results. */
enum { MOST_INPUTS = 6 };
typedef struct {
    lra_graph *g;
    int n, outs;
    lra_tensor *x[MOST_INPUTS], *out[MOST_INPUTS];
    const double *value[MOST_INPUTS];
} job;

static void to_host(lra_type type, const double *v, int64_t n, void *host)
{
    for (int64_t i = 0; i < n; i++) {
        float f = (float)v[i];
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        if (type == LRA_F64) ((double *)host)[i] = v[i];
        if (type == LRA_F32) ((float *)host)[i] = f;
        if (type == LRA_BF16) ((uint16_t *)host)[i] = (uint16_t)(bits >> 16);
    }
}

static void run(job *j, int (*open)(lra_device *, lra_err *), double *const *to)
{
    lra_err e = {{0}};
    lra_device device;
    assert_int_equal(open(&device, &e), 0);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(j->g, params, space, j->outs, j->out, &e);
    if (!plan) fail_msg("%s", e.msg);
    for (int i = 0; i < j->n; i++) {
        int64_t n = lra_shape_elements(lra_tensor_shape(j->x[i]));
        void *host = lra_alloc_array((size_t)n, sizeof(double));
        to_host(j->x[i]->type, j->value[i], n, host);
        assert_int_equal(lra_set(plan, j->x[i], host, &e), 0);
        lra_free(host);
    }
    if (lra_run(plan, &e) != 0) fail_msg("%s", e.msg);
    for (int i = 0; i < j->outs; i++) {
        int64_t n = lra_shape_elements(lra_tensor_shape(j->out[i]));
        float *host = lra_alloc_array((size_t)n, sizeof(double));
        assert_int_equal(lra_get(plan, j->out[i], host, &e), 0);
        for (int64_t k = 0; k < n; k++)
            to[i][k] = j->out[i]->type == LRA_F64 ? ((const double *)(void *)host)[k]
                                                  : (double)host[k];
        lra_free(host);
    }
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(j->g);
}

/* ---- attention ------------------------------------------------------------------------------- */

enum { T = 150, H = 2, WIDEST = 32, MOST = T * H * WIDEST };

/* inputs: q, k, v, dy; results: y, dq, dk, dv */
static double input[4][MOST], exact[4][MOST], ours[4][MOST];

/* Sets keys and values that differ by a hundredth of their common part, and are exact in bf16. */
static void fill(int K, int V)
{
    for (int x = 0; x < 4; x++) {
        lra_rng r = lra_rng_new(5, (uint32_t)x, 0);
        for (int i = 0; i < T * H * (x < 2 ? K : V); i++) {
            double v = 2 * lra_rng_u01(&r) - 1;
            input[x][i] = x == 1 || x == 2 ? 3 + floor(4 * v) / 64 : floor(64 * v) / 64;
        }
    }
}

static void differentiate(const lra_attention_spec *s, int K, int V, lra_type type,
                          int (*open)(lra_device *, lra_err *), double (*to)[MOST])
{
    static const char *const name[] = {"q", "k", "v", "dy"};
    job j = {lra_graph_new(type, LRA_EVAL), .n = 4, .outs = 4};
    for (int i = 0; i < 4; i++) {
        j.x[i] = lra_input(j.g, name[i], type, LRA_SHAPE(1, T, H, i < 2 ? K : V));
        j.value[i] = input[i];
    }
    j.out[0] = lra_attention(j.x[0], j.x[1], j.x[2], NULL, s);
    lra_grad(j.out[0], j.x[3], 3, j.x, j.out + 1);
    double *const results[] = {to[0], to[1], to[2], to[3]};
    run(&j, open, results);
}

/* Returns the largest error of a gradient relative to its largest value. */
static double error_of(int a, int n)
{
    double most = 0, off = 0;
    for (int k = 0; k < n; k++) {
        most = fmax(most, fabs(exact[a][k]));
        off = fmax(off, fabs(ours[a][k] - exact[a][k]));
    }
    return off / most;
}

/* Returns the largest error of the sum of a channel of dk over the keys, relative to the sum of
 * magnitudes. */
static double error_of_sums(int K)
{
    double most = 0;
    for (int at = 0; at < H * K; at++) {
        double off = 0, size = 0;
        for (int t = 0; t < T; t++) {
            off += ours[2][t * H * K + at] - exact[2][t * H * K + at];
            size += fabs(exact[2][t * H * K + at]);
        }
        most = fmax(most, fabs(off) / size);
    }
    return most;
}

static const double decay[H] = {0.01, 0.05};
static const struct {
    const char *name;
    lra_attention_spec spec;
    int K, V;
} alike[] = {{"all", {.scale = 0}, 32, 32},
             {"causal", {.causal = true}, 20, 24},
             {"of a window", {.window = 64}, 32, 16},
             {"with decay", {.decay = decay}, 16, 16}};

/* Attention is invariant under the common part of all keys, so that the gradient of a bias of all
 * keys is zero. */
TEST(float32_loses_nothing_where_keys_are_alike)
{
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        const lra_attention_spec *s = &alike[i].spec;
        int K = alike[i].K, V = alike[i].V;
        fill(K, V);
        differentiate(s, K, V, LRA_F64, open_cpu, exact);
        double most[] = {2e-4, 1e-4, 1e-9};
        /* with decay, keys are not centred and the sums are not 0: the error must be close to that
         * of the CPU */
        if (s->decay) {
            differentiate(s, K, V, LRA_F32, open_cpu, ours);
            double cpu[] = {error_of(1, T * H * K), error_of(2, T * H * K), error_of_sums(K)};
            for (int e = 0; e < 3; e++) most[e] = 3 * cpu[e];
        }
        differentiate(s, K, V, LRA_F32, shim_open, ours);
        double dq = error_of(1, T * H * K), dk = error_of(2, T * H * K), sums = error_of_sums(K);
        print_message("%s: dq %.1e of %.1e, dk %.1e of %.1e, sum of dk %.1e of %.1e\n",
                      alike[i].name, dq, most[0], dk, most[1], sums, most[2]);
        if (!(dq < most[0] && dk < most[1] && sums < most[2])) fail_msg("%s", alike[i].name);
    }
}

/* Plain kernels and tensor cores: the errors are a few roundings to bf16, and in dq the rounding of
 * y. If the mean of the keys were not subtracted, the error of dq would be larger than dq. */
TEST(bf16_keeps_gradients_where_keys_are_alike)
{
    static const int width[] = {16, 32};
    for (int level = LRA_CUDA_PLAIN; level <= LRA_CUDA_MMA; level++)
        for (int i = 0; i < 2; i++) {
            const lra_attention_spec s = {.causal = i == 1};
            fill(width[i], width[i]);
            differentiate(&s, width[i], width[i], LRA_F64, open_cpu, exact);
            shim_level = (lra_cuda_level_kind)level;
            differentiate(&s, width[i], width[i], LRA_BF16, shim_open, ours);
            shim_level = LRA_CUDA_MMA;
            int n = T * H * width[i];
            double dq = error_of(1, n), dk = error_of(2, n);
            print_message("level %d, width %d: dq %.1e, dk %.1e\n", level, width[i], dq, dk);
            if (!(dq < 0.5 && dk < 0.5))
                fail_msg("level %d, width %d: dq %.1e, dk %.1e", level, width[i], dq, dk);
        }
}

/* ---- sums of columns ------------------------------------------------------------------------- */

enum { ROWS = 1500, COLUMNS = 40, TERMS = ROWS * COLUMNS };

/* Sets row t to a_t - a_(t+1), where a_t are multiples of 1/128 below 2^16: the sum of a column is
 * a_0 - a_n = 1/128. Float32 represents each row exactly, but not the sum of many rows. */
static void fill_telescope(double *v, double *sum)
{
    lra_rng r = lra_rng_new(6, 0, 0);
    for (int d = 0; d < COLUMNS; d++) {
        double first = floor(0x1p23 * lra_rng_u01(&r)) / 128, at = first;
        for (int t = 0; t < ROWS; t++) {
            double next = t == ROWS - 1 ? first - 1.0 / 128 : floor(0x1p23 * lra_rng_u01(&r)) / 128;
            v[t * COLUMNS + d] = (double)(float)(at - next);
            at = next;
        }
        sum[d] = 0;
        for (int t = 0; t < ROWS; t++) sum[d] += v[t * COLUMNS + d];
    }
}

static void expect_sums(const char *what, const double *got, const double *sum)
{
    for (int d = 0; d < COLUMNS; d++)
        if (!(fabs(got[d] - sum[d]) < 1e-8))
            fail_msg("%s, column %d: %.9g, expected %.9g", what, d, got[d], sum[d]);
}

/* Sums over rows, and the gradient of a bias of batch norm. */
TEST(sums_of_columns_are_in_double)
{
    static double dy[TERMS], x[TERMS], zero[COLUMNS], one[COLUMNS], sum[COLUMNS], got[COLUMNS];
    static const char *const name[] = {"dy", "x", "gain", "bias", "mean", "var"};
    double *const results[] = {got};
    fill_telescope(dy, sum);
    lra_rng r = lra_rng_new(7, 0, 0);
    for (int i = 0; i < TERMS; i++) x[i] = lra_rng_u01(&r);
    for (int d = 0; d < COLUMNS; d++) one[d] = 1;
    job j = {lra_graph_new(LRA_F32, LRA_EVAL), .n = 1, .outs = 1, .value = {dy}};
    j.x[0] = lra_input(j.g, "x", LRA_F32, LRA_SHAPE(ROWS, COLUMNS));
    j.out[0] = lra_reduce_sum(j.x[0], LRA_SHAPE(COLUMNS));
    run(&j, shim_open, results);
    expect_sums("sum", got, sum);
    job n = {lra_graph_new(LRA_F32, LRA_EVAL), .n = 6, .outs = 1};
    const double *const value[] = {dy, x, one, zero, zero, one};
    for (int i = 0; i < 6; i++) {
        n.x[i] = lra_input(n.g, name[i], LRA_F32,
                           i < 2 ? LRA_SHAPE(ROWS, COLUMNS) : LRA_SHAPE(COLUMNS));
        n.value[i] = value[i];
    }
    lra_tensor *y = lra_batch_norm(n.x[1], NULL, n.x[2], n.x[3], n.x[4], n.x[5], 0.1, 1e-5);
    lra_grad(y, n.x[0], 1, &n.x[3], n.out);
    run(&n, shim_open, results);
    expect_sums("bias of batch norm", got, sum);
}

/* A NaN in a gradient that is neither the first nor the last element of its thread: the sums of the
 * embedding table are then NaN, not finite. The index is an int32 input of the graph. */
TEST(a_nan_stays_in_the_gradient_of_an_embedding)
{
    enum { V = 256, N = 8192, D = 16 };
    lra_err e = {{0}};
    lra_device device;
    assert_int_equal(shim_open(&device, &e), 0);
    lra_graph *g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_tensor *table = lra_input(g, "table", LRA_F32, LRA_SHAPE(V, D)), *dtable;
    lra_tensor *index = lra_input(g, "index", LRA_I32, LRA_SHAPE(N));
    lra_tensor *dy = lra_input(g, "dy", LRA_F32, LRA_SHAPE(N, D));
    lra_grad(lra_embedding(table, index), dy, 1, &table, &dtable);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(g, params, space, 1, &dtable, &e);
    if (!plan) fail_msg("%s", e.msg);
    int32_t *at = lra_alloc_array(N, sizeof *at);
    float *v = lra_alloc_array((size_t)N * D, sizeof *v),
          *got = lra_alloc_array(V * D, sizeof *got);
    for (int i = 0; i < N; i++) at[i] = i % V;
    for (int i = 0; i < N * D; i++) v[i] = 1;
    v[3] = NAN; /* row 0 of the table, column 3 */
    OK(lra_set(plan, index, at, &e));
    OK(lra_set(plan, dy, v, &e));
    OK(lra_run(plan, &e));
    OK(lra_get(plan, dtable, got, &e));
    assert_true(isnan(got[3]));
    lra_free(at);
    lra_free(v);
    lra_free(got);
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(g);
}
