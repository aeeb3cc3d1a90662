/* Kernels of state-space layers compared with the defining sum, term by term: with and without step
 * sizes dt, one block of lags and several, with rates shared by rows, and steps so small that (e^x
 * - 1)/x needs a series. */
#include "tests/fixtures/test.h"

#include <complex.h>
#include <math.h>

#include "kernels/base/core/philox.h"
#include "kernels/graph/ops.h"
#include "tests/fixtures/run_once.h"

/* With these sizes, the second of two threads starts with a row that has the same exponents as a
 * row of the first thread. */
enum { N = 3, R = 6, H = 3, S = 1, MOST = 150, LONG = 20000 };

static double a[2 * S * N], c[2 * R * N], dt[H], found[R * LONG];

static void fill(double size)
{
    lra_rng r = lra_rng_new(4, 5, 6);
    for (int i = 0; i < S * N; i++) {
        a[i] = -(0.2 + lra_rng_u01(&r));
        a[S * N + i] = 4 * lra_rng_u01(&r) - 2;
    }
    for (int i = 0; i < 2 * R * N; i++) c[i] = 2 * lra_rng_u01(&r) - 1;
    for (int i = 0; i < H; i++) dt[i] = size * (0.5 + lra_rng_u01(&r));
}

/* Returns k[r,l] = 2 Re sum c (e^x - 1)/a e^(x l) with x = dt a; without dt, Re sum c e^(a l). */
static double defined(int row, int64_t lag, bool held)
{
    double sum = 0;
    for (int n = 0; n < N; n++) {
        int at = row % S * N + n;
        double complex rate = a[at] + I * a[S * N + at],
                       w = c[row * N + n] + I * c[R * N + row * N + n];
        double complex x = held ? dt[row % H] * rate : rate;
        double complex gain = held ? (cexp(x) - 1) / rate : 1;
        sum += creal(w * gain * cexp(x * (double)lag));
    }
    return held ? 2 * sum : sum;
}

static void compute(int64_t L, bool held)
{
    lra_graph *g = lra_graph_new(LRA_F64, LRA_EVAL);
    lra_tensor *of_a = lra_input(g, "a", LRA_F64, LRA_SHAPE(2, S, N)),
               *of_c = lra_input(g, "c", LRA_F64, LRA_SHAPE(2, R, N)),
               *of_dt = held ? lra_input(g, "dt", LRA_F64, LRA_SHAPE(H)) : NULL;
    lra_tensor *out = lra_ssm_kernel(of_a, of_c, of_dt, L);
    run_once(out, 2, 3, (run_input[]){{of_a, a}, {of_c, c}, {of_dt, dt}}, found);
}

TEST(kernels_are_the_sums)
{
    static const int64_t lengths[] = {1, 7, 64, 65, MOST};
    static const double sizes[] = {0.5, 0.05, 0.001};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 4; k++) { /* k = 3: no step sizes dt */
            bool held = k < 3;
            fill(held ? sizes[k] : 1);
            compute(lengths[i], held);
            for (int row = 0; row < R; row++)
                for (int64_t l = 0; l < lengths[i]; l++) {
                    double wanted = defined(row, l, held), is = found[row * lengths[i] + l];
                    if (!(fabs(is - wanted) < 1e-9))
                        fail_msg("way %d, %d lags: row %d, lag %d is %.12g, expected %.12g", k,
                                 (int)lengths[i], row, (int)l, is, wanted);
                }
        }
}

/* Powers are computed as products of powers: errors do not accumulate over 20,000 lags of slow
 * decay. */
TEST(many_lags_are_exact)
{
    fill(1e-4);
    compute(LONG, true);
    for (int row = 0; row < R; row++) {
        double size = 0, most = 0;
        for (int n = 0; n < N; n++)
            size += 2 * dt[row % H] * hypot(c[row * N + n], c[R * N + row * N + n]);
        for (int64_t l = 0; l < LONG; l += 7)
            most = fmax(most, fabs(found[row * (int64_t)LONG + l] - defined(row, l, true)));
        print_message("row %d: %.1e of its modes\n", row, most / size);
        if (!(most < 2e-12 * size)) fail_msg("row %d: %g of %g", row, most, size);
    }
}
