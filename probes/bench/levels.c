/* Self-test of a GPU with the current LRA_CUDA_LEVEL, which runs when a GPU is opened
 * (kernels/cuda/self_test.h). It computes two bf16 convolutions and their gradients on the GPU and
 * on the CPU, at sizes that every kernel supports, and fails if results differ. */
#include <math.h>
#include <stdio.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"
#include "probes/bench/bench.h"

/* B T is so large that a convolution with 256 output columns uses tiles of 128 columns, and one
 * with 128 output columns uses tiles of 64 (kernels/ops/conv/conv_tiles.h). */
enum { B = 34, T = 130, K = 5, D = 128, H = 256, N_OUT = 5 };

typedef struct {
    lra_graph *graph;
    lra_tensor *x, *w[2], *seed, *length, *out[N_OUT];
} trial;

static trial build(void)
{
    trial t = {.graph = lra_graph_new(LRA_BF16, LRA_TRAIN)};
    t.x = lra_input(t.graph, "x", LRA_F32, LRA_SHAPE(B, T, D));
    t.w[0] = lra_input(t.graph, "w0", LRA_F32, LRA_SHAPE(K, D, H));
    t.w[1] = lra_input(t.graph, "w1", LRA_F32, LRA_SHAPE(K, H, D));
    t.seed = lra_input(t.graph, "seed", LRA_F32, LRA_SHAPE(B, T, D));
    t.length = lra_input(t.graph, "length", LRA_I32, LRA_SHAPE(B));
    lra_tensor *from[] = {lra_cast(t.x, LRA_BF16), lra_cast(t.w[0], LRA_BF16),
                          lra_cast(t.w[1], LRA_BF16)};
    t.out[0] = lra_conv(from[0], from[1], NULL, LRA_ACT_RELU, t.length, 1, 1);
    t.out[1] = lra_conv(t.out[0], from[2], NULL, LRA_ACT_NONE, t.length, 1, 1);
    lra_grad(t.out[1], lra_cast(t.seed, LRA_BF16), 3, from, t.out + 2);
    return t;
}

static int set_numbers(lra_plan *p, const lra_tensor *x, uint32_t stream, lra_err *e)
{
    int64_t n = lra_elements(x);
    float *v = lra_alloc_array((size_t)n, sizeof *v);
    lra_rng rng = lra_rng_new(1, stream, 0);
    for (int64_t i = 0; i < n; i++) v[i] = (float)(2 * lra_rng_u01(&rng) - 1);
    int rc = lra_set(p, x, v, e);
    lra_free(v);
    return rc;
}

static int run(lra_device *d, float *out[N_OUT], lra_err *e)
{
    int32_t length[B];
    trial t = build();
    for (int i = 0; i < B; i++) length[i] = i % 3 == 1 ? T - 7 * (i % 19) : T;
    lra_params *params = lra_params_new(d, 1);
    lra_space *space = lra_space_new(d);
    lra_plan *p = lra_plan_new(t.graph, params, space, N_OUT, t.out, e);
    int rc = p ? set_numbers(p, t.x, 1, e) : LRA_FAILED;
    for (int i = 0; i < 2 && rc == 0; i++) rc = set_numbers(p, t.w[i], 4 + (uint32_t)i, e);
    if (rc == 0) rc = set_numbers(p, t.seed, 3, e);
    if (rc == 0) rc = lra_set(p, t.length, length, e);
    if (rc == 0) rc = lra_run(p, e);
    for (int i = 0; i < N_OUT && rc == 0; i++) {
        out[i] = lra_alloc_array((size_t)lra_elements(t.out[i]), sizeof(float));
        rc = lra_get(p, t.out[i], out[i], e);
    }
    lra_plan_free(p);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(t.graph);
    return rc;
}

/* Returns max |a - b| / max |b| over n values; INFINITY if a difference is NaN. */
static double difference(const float *a, const float *b, int64_t n)
{
    double most = 0, off = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        most = fmax(most, fabs((double)b[i]));
        off = isnan(d) ? INFINITY : fmax(off, d);
    }
    return off / most;
}

int bench_levels(bench *b, lra_err *e)
{
    static const char *const names[N_OUT] = {"h", "y", "dx", "dw0", "dw"};
    static const int64_t sizes[N_OUT] = {B * T * H, B * T * D, B * T * D, K * D * H, K * H * D};
    /* sums in another order can round to the neighbouring bf16 value */
    const double allowed = 0.02;
    const bool json = lra_option_flag(b->options, "json");
    bench_value values[N_OUT + 1] = {{"allowed", NULL, allowed}};
    float *got[N_OUT] = {NULL}, *expected[N_OUT] = {NULL};
    lra_device cpu;
    int rc = lra_cpu_device(&cpu, 1, e);
    if (rc == 0) rc = run(&cpu, expected, e);
    if (rc == 0) rc = run(&b->device, got, e);
    for (int i = 0; i < N_OUT && rc == 0; i++) {
        double d = difference(got[i], expected[i], sizes[i]);
        values[i + 1] = (bench_value){names[i], NULL, d};
        if (!json) printf("%s differs by %.3g\n", names[i], d);
        if (!(d <= allowed))
            rc = lra_fail(
                e,
                "'%s' on '%s' differs from the CPU by %g of the largest value; at most %g is "
                "allowed",
                names[i], b->device.name, d, allowed);
    }
    b->type = LRA_BF16; /* the self-test always uses bf16, whatever --precision is */
    if (rc == 0 && json) rc = bench_print_values(b, N_OUT + 1, values, e);
    for (int i = 0; i < N_OUT; i++) lra_free(got[i]), lra_free(expected[i]);
    return rc;
}
