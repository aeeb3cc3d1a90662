/* Theorem B.1 of the LaS paper: attention whose inputs contain their position can represent
 * any convolution with a non-negative kernel, and with one more head any other convolution. Weights
 * are constructed for random kernels and must give the convolution.
 *
 * Inputs are (value, position as one of L + 1). q_i = e_i; q_i k_j = ln k_(i-j), and for the last
 * token, whose value is 0, ln(c - sum_j k_(i-j)), so that every row of exponentials has the sum c,
 * the sum of all k; v_j = c value_j. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"

enum { MOST = 64 };

/* Draws a kernel of L positive values for each direction; lag l has the index l + L - 1. */
static void draw(lra_rng *r, int L, double *kernel)
{
    for (int i = 0; i < 2 * L - 1; i++) kernel[i] = 0.01 + lra_rng_u01(r);
}

/* Computes weights (L+2, L+1) of q and k, and (L+2, L+1) of v, for inputs (value, position). */
static void build(int L, const double *kernel, double *wq, double *wk, double *wv)
{
    double sum = 0;
    int K = L + 1;
    for (int i = 0; i < 2 * L - 1; i++) sum += kernel[i];
    for (int i = 0; i < (L + 2) * K; i++) wq[i] = wk[i] = wv[i] = 0;
    wv[0] = sum;
    for (int i = 0; i < L; i++) {
        double left = sum;
        wq[(1 + i) * K + i] = 1;
        for (int j = 0; j < L; j++) {
            double k = kernel[i - j + L - 1];
            wk[(1 + j) * K + i] = log(k);
            left -= k;
        }
        wk[(1 + L) * K + i] = log(left);
    }
}

/* Computes y (1, L+1, H, K), with one head for each kernel. */
static void attend(lra_type type, int L, int heads, double *const *kernel, const double *value,
                   double *y)
{
    int K = L + 1, D = L + 2;
    lra_err e = {{0}};
    lra_device device;
    lra_graph *g = lra_graph_new(type, LRA_EVAL);
    lra_tensor *x = lra_input(g, "x", type, LRA_SHAPE(1, K, D)), *w[3];
    const char *const names[] = {"q", "k", "v"};
    double *made[3], *in = lra_alloc_array((size_t)(K * D), sizeof *in);
    for (int i = 0; i < K * D; i++) in[i] = i % D == 1 + i / D;
    for (int i = 0; i < L; i++) in[i * D] = value[i];
    for (int i = 0; i < 3; i++) {
        w[i] = lra_input(g, names[i], type, LRA_SHAPE(D, heads * K));
        made[i] = lra_alloc_array((size_t)(D * heads * K), sizeof(double));
    }
    double *one[3];
    for (int i = 0; i < 3; i++) one[i] = lra_alloc_array((size_t)(D * K), sizeof(double));
    for (int h = 0; h < heads; h++) {
        build(L, kernel[h], one[0], one[1], one[2]);
        for (int i = 0; i < 3; i++)
            for (int d = 0; d < D; d++)
                for (int k = 0; k < K; k++) made[i][(d * heads + h) * K + k] = one[i][d * K + k];
    }
    lra_tensor *head[3];
    for (int i = 0; i < 3; i++)
        head[i] = lra_reshape(lra_matmul(x, w[i]), LRA_SHAPE(1, K, heads, K));
    const lra_attention_spec spec = {.scale = 1};
    lra_tensor *out = lra_attention(head[0], head[1], head[2], NULL, &spec);
    assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(g, params, space, 1, &out, &e);
    NOT_NULL(plan);
    for (int i = 0; i < 4; i++) {
        const lra_tensor *to = i < 3 ? w[i] : x;
        const double *from = i < 3 ? made[i] : in;
        float *narrow = lra_alloc_array((size_t)lra_elements(to), sizeof *narrow);
        for (int64_t k = 0; k < lra_elements(to); k++) narrow[k] = (float)from[k];
        const void *host = type == LRA_F64 ? (const void *)from : (const void *)narrow;
        assert_int_equal(lra_set(plan, to, host, &e), 0);
        lra_free(narrow);
    }
    assert_int_equal(lra_run(plan, &e), 0);
    float *narrow = lra_alloc_array((size_t)(K * heads * K), sizeof *narrow);
    assert_int_equal(lra_get(plan, out, type == LRA_F64 ? (void *)y : (void *)narrow, &e), 0);
    for (int i = 0; i < K * heads * K && type != LRA_F64; i++) y[i] = (double)narrow[i];
    lra_free(narrow);
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(g);
    lra_free(in);
    for (int i = 0; i < 3; i++) {
        lra_free(made[i]);
        lra_free(one[i]);
    }
}

/* Returns the largest difference between head 0 minus the other heads and the convolution, relative
 * to the largest value. */
static double error(lra_type type, int L, int heads, uint64_t seed)
{
    lra_rng r = lra_rng_new(seed, 1, 0);
    double kernel[2][2 * MOST], value[MOST] = {0}, worst = 0, most = 0,
                                *all[] = {kernel[0], kernel[1]};
    double *y = lra_alloc_array((size_t)((L + 1) * heads * (L + 1)), sizeof *y);
    for (int h = 0; h < heads; h++) draw(&r, L, kernel[h]);
    for (int i = 0; i < L; i++) value[i] = 2 * lra_rng_u01(&r) - 1;
    attend(type, L, heads, all, value, y);
    for (int i = 0; i < L; i++) {
        double want = 0, got = 0;
        for (int h = 0; h < heads; h++) {
            double sign = h ? -1 : 1;
            got += sign * y[(i * heads + h) * (L + 1)];
            for (int j = 0; j < L; j++) want += sign * kernel[h][i - j + L - 1] * value[j];
        }
        worst = fmax(worst, fabs(got - want)), most = fmax(most, fabs(want));
    }
    lra_free(y);
    return worst / most;
}

TEST(attention_is_a_convolution)
{
    static const int lengths[] = {2, 7, 33, MOST};
    for (int i = 0; i < 4; i++) {
        assert_true(error(LRA_F64, lengths[i], 1, (uint64_t)i) < 1e-11);
        assert_true(error(LRA_F32, lengths[i], 1, (uint64_t)i) < 1e-5);
    }
}

/* Any kernel is the difference k' - k'' of two positive kernels. */
TEST(two_heads_have_kernels_of_both_signs)
{
    static const int lengths[] = {2, 33, MOST};
    for (int i = 0; i < 3; i++) assert_true(error(LRA_F64, lengths[i], 2, 9) < 1e-11);
}
