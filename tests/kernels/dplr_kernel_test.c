/* Diagonal-plus-low-rank kernels compared with the recurrence that defines them, with full matrices
 * in double: LegS in the normal form of S4, one and two directions, step sizes from 0.001 to 0.1,
 * lengths up to 1024. */
#include "tests/fixtures/test.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/graph/ops.h"
#include "models/hippo.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/run_once.h"

enum { MODES = 8, FULL = 2 * MODES, H = 3, SIDES = 2, R = SIDES * H, MOST = 1024 };

static double a[2 * H * MODES], b[2 * H * MODES], p[2 * H * MODES], q[2 * H * MODES];
static double c[2 * R * MODES], ct[2 * R * MODES], dt[H] = {0.001, 0.013, 0.1};
static double found[R * MOST];

typedef double complex matrix[FULL][FULL];
typedef double complex column[FULL];

static void fill(void)
{
    lra_rng r = lra_rng_new(1, 2, 3);
    double w[MODES], cut = HUGE_VAL;
    double complex V[FULL * MODES];
    lra_hippo_legs(MODES, w, V);
    lra_hippo_b(&(lra_fill){LRA_SHAPE(2, H, MODES), 0, 0, &cut}, b);
    lra_hippo_p(&(lra_fill){LRA_SHAPE(2, H, MODES), 0, 0, NULL}, p);
    for (int i = 0; i < H * MODES; i++) {
        a[i] = -0.5, a[H * MODES + i] = -w[i % MODES];
        q[i] = p[i], q[H * MODES + i] = -p[H * MODES + i];
    }
    for (int i = 0; i < 2 * R * MODES; i++) c[i] = 2 * lra_rng_u01(&r) - 1;
}

/* Gets row `row` of a complex array (2, rows, MODES), followed by its conjugates. */
static void get(const double *x, int rows, int row, column v)
{
    for (int n = 0; n < MODES; n++) {
        v[n] = x[row * MODES + n] + I * x[(rows + row) * MODES + n];
        v[MODES + n] = conj(v[n]);
    }
}

static void multiply(matrix x, matrix y, matrix to)
{
    for (int i = 0; i < FULL; i++)
        for (int j = 0; j < FULL; j++) {
            double complex sum = 0;
            for (int k = 0; k < FULL; k++) sum += x[i][k] * y[k][j];
            to[i][j] = sum;
        }
}

/* Replaces x by m^-1 x by Gaussian elimination with pivoting; m is overwritten. */
static void solve(matrix m, matrix x)
{
    for (int k = 0; k < FULL; k++) {
        int best = k;
        for (int i = k; i < FULL; i++)
            if (cabs(m[i][k]) > cabs(m[best][k])) best = i;
        for (int j = 0; j < FULL; j++) {
            double complex t = m[k][j];
            m[k][j] = m[best][j], m[best][j] = t;
            t = x[k][j], x[k][j] = x[best][j], x[best][j] = t;
        }
        for (int i = 0; i < FULL; i++) {
            double complex part = m[i][k] / m[k][k];
            if (i == k) continue;
            for (int j = 0; j < FULL; j++) m[i][j] -= part * m[k][j], x[i][j] -= part * x[k][j];
        }
    }
    for (int i = 0; i < FULL; i++)
        for (int j = 0; j < FULL; j++) x[i][j] /= m[i][i];
}

/* Computes the discretized matrices: Ab, and Bb in the first column of the second argument. */
static void discretise(int h, matrix Ab, matrix Bb)
{
    matrix less, copy;
    column ah, bh, ph, qh;
    get(a, H, h, ah), get(b, H, h, bh), get(p, H, h, ph), get(q, H, h, qh);
    memset(Bb, 0, sizeof(matrix));
    for (int i = 0; i < FULL; i++) {
        for (int j = 0; j < FULL; j++) {
            double complex half = dt[h] / 2 * ((i == j ? ah[i] : 0) - ph[i] * qh[j]);
            less[i][j] = (i == j) - half;
            Ab[i][j] = (i == j) + half;
        }
        Bb[i][0] = dt[h] * bh[i];
    }
    memcpy(copy, less, sizeof copy);
    solve(less, Ab);
    solve(copy, Bb);
}

/* Replaces C by C (1 - Ab^L), which is the stored parameter. */
static void convert(int row, int64_t L)
{
    matrix power, Ab, Bb, next;
    column from, to;
    discretise(row % H, Ab, Bb);
    memset(power, 0, sizeof power);
    for (int i = 0; i < FULL; i++) power[i][i] = 1;
    for (int64_t l = 0; l < L; l++) {
        multiply(power, Ab, next);
        memcpy(power, next, sizeof power);
    }
    get(c, R, row, from);
    for (int j = 0; j < FULL; j++) {
        to[j] = from[j];
        for (int i = 0; i < FULL; i++) to[j] -= from[i] * power[i][j];
    }
    for (int n = 0; n < MODES; n++) {
        ct[row * MODES + n] = creal(to[n]);
        ct[(R + row) * MODES + n] = cimag(to[n]);
    }
}

static void compute(int64_t L)
{
    static const double *const data[] = {a, b, p, q, ct, dt};
    lra_graph *g = lra_graph_new(LRA_F64, LRA_EVAL);
    lra_shape s = LRA_SHAPE(2, H, MODES);
    lra_tensor *in[] = {lra_input(g, "a", LRA_F64, s),
                        lra_input(g, "b", LRA_F64, s),
                        lra_input(g, "p", LRA_F64, s),
                        lra_input(g, "q", LRA_F64, s),
                        lra_input(g, "c", LRA_F64, LRA_SHAPE(2, R, MODES)),
                        lra_input(g, "dt", LRA_F64, LRA_SHAPE(H))};
    lra_tensor *out = lra_dplr_kernel(in[0], in[1], in[2], in[3], in[4], in[5], L);
    run_input given[6];
    for (int i = 0; i < 6; i++) given[i] = (run_input){in[i], data[i]};
    run_once(out, 2, 6, given, found);
}

/* Returns the largest error of a row relative to its largest value. */
static double error_of(int row, int64_t L)
{
    matrix Ab, Bb;
    column x, from, next;
    double worst = 0, most = 0;
    discretise(row % H, Ab, Bb);
    get(c, R, row, from);
    for (int i = 0; i < FULL; i++) x[i] = Bb[i][0];
    for (int64_t l = 0; l < L; l++) {
        double complex k = 0;
        for (int i = 0; i < FULL; i++) k += from[i] * x[i];
        worst = fmax(worst, fabs(creal(k) - found[row * L + l]));
        most = fmax(most, fabs(creal(k)));
        for (int i = 0; i < FULL; i++) {
            next[i] = 0;
            for (int j = 0; j < FULL; j++) next[i] += Ab[i][j] * x[j];
        }
        memcpy(x, next, sizeof x);
    }
    return worst / most;
}

TEST(kernels_are_the_recurrence)
{
    static const int64_t lengths[] = {2, 6, 50, 256, MOST};
    fill();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int row = 0; row < R; row++) convert(row, lengths[i]);
        compute(lengths[i]);
        for (int row = 0; row < R; row++) {
            double error = error_of(row, lengths[i]);
            if (!(error < 1e-10))
                fail_msg("%d lags, row %d: a relative error of %g", (int)lengths[i], row, error);
        }
    }
}

/* Initial value of C in s4: in version v1 as it is drawn, in v3 the same value converted. */
TEST(trained_c_starts_converted)
{
    static const char *const variants[] = {"width=3 state=16 version=v1",
                                           "width=3 state=16 version=v3"};
    double start[2 * R * MODES];
    lra_err e;
    fill();
    for (int i = 0; i < 2; i++) {
        tiny_model f;
        model_case what = {.model = &lra_model_s4,
                           .variant = variants[i],
                           .type = LRA_F64,
                           .B = 1,
                           .T = 10,
                           .T_max = 10,
                           .vocab = TRIAL_VOCAB};
        model_open(&f, &what);
        const char *path = "encoder/layer0/ssm/c";
        assert_int_equal(lra_params_get(f.params, path, i ? start : c, &e), 0);
        assert_int_equal(lra_params_get(f.params, "encoder/layer0/ssm/dt", dt, &e), 0);
        model_close(&f);
    }
    double changed = 0;
    for (int h = 0; h < H; h++) dt[h] = exp(dt[h]);
    for (int row = 0; row < R; row++) convert(row, 10);
    for (int i = 0; i < 2 * R * MODES; i++) {
        if (!(fabs(start[i] - ct[i]) < 1e-12))
            fail_msg("element %d of c starts as %.15g, expected %.15g", i, start[i], ct[i]);
        changed = fmax(changed, fabs(start[i] - c[i]));
    }
    assert_true(changed > 0.1);
}
