/* Interaction of blocks: what is known of sums, products and heads behind a pool, against plain
 * loops, and how often profiles that are flat are called so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analysis/interaction.h"
#include "kernels/base/philox.h"

enum { T = 64, M = 4, BLOCKS = T / M, N = 24, DRAWS = 4 };

static double weight[N * BLOCKS * BLOCKS];
static int64_t count[N];

/* The scores of this test: of T numbers of +-1. */
typedef double (*score)(const double *x);

static double sum_of_all(const double *x)
{
    double s = 0;
    for (int t = 0; t < T; t++) s += x[t] * (1 + t % 5);
    return s;
}
static double product_of_two(const double *x)
{
    return x[8] * x[48];
}
static double neighbours(const double *x) /* across seams of blocks alone */
{
    double s = 0;
    for (int t = M - 1; t + 1 < T; t += M) s += x[t] * x[t + 1];
    return s;
}
static double neighbours_behind_a_head(const double *x)
{
    double s = 0;
    for (int t = 0; t + 1 < T; t++) s += x[t] * x[t + 1];
    return tanh(8 * s / T);
}

static void draw(lra_rng *r, double *x, int from, int n)
{
    for (int t = from; t < from + n; t++) x[t] = lra_rng_u32(r) & 1 ? 1 : -1;
}

/* Second differences of a score, mean square over draws, as the probe makes them. */
static lra_interactions measure(score s, uint64_t seed)
{
    for (int e = 0; e < N; e++) {
        lra_rng r = lra_rng_new(seed, 1, (uint64_t)e);
        double x[T];
        count[e] = BLOCKS;
        draw(&r, x, 0, T);
        for (int at = 0; at < BLOCKS * BLOCKS; at++) {
            int a = at / BLOCKS, b = at % BLOCKS;
            double squares = 0;
            for (int k = 0; k < DRAWS && b < a; k++) {
                double other[T], xa[T], xb[T], xab[T];
                draw(&r, other, 0, T);
                for (int t = 0; t < T; t++) {
                    bool in_a = t / M == a, in_b = t / M == b;
                    xa[t] = in_a ? other[t] : x[t], xb[t] = in_b ? other[t] : x[t];
                    xab[t] = in_a || in_b ? other[t] : x[t];
                }
                double d = s(x) - s(xa) - s(xb) + s(xab);
                squares += d * d;
            }
            if (b < a) {
                weight[(e * BLOCKS + a) * BLOCKS + b] = sqrt(squares / DRAWS);
                weight[(e * BLOCKS + b) * BLOCKS + a] = sqrt(squares / DRAWS);
            }
        }
    }
    return (lra_interactions){BLOCKS, M, N, count, weight};
}

static void known_answers(void **state)
{
    (void)state;
    lra_finding f[LRA_INTERACTION_FINDINGS];
    double curve[3 * BLOCKS];
    lra_interactions x = measure(product_of_two, 1);
    assert_int_equal(lra_interaction_findings(&x, 1, f, curve), LRA_INTERACTION_FINDINGS);
    assert_true(f[0].value == 40 && f[1].value == 40 && f[3].value == 40);
    assert_true(f[0].undefined > 0 && !(f[0].flags & LRA_FLAT));
    assert_true(f[3].lo == 40 && f[3].hi == 40); /* all examples agree */
    assert_true(f[3].null[LRA_NULL_PERM] > 4 && f[3].null[LRA_NULL_PERM] < M * (BLOCKS - 1));
    for (int d = 1; d < BLOCKS; d++) assert_int_equal(curve[d] > 0, d == 10);
    x = measure(neighbours, 2);
    lra_interaction_findings(&x, 1, f, NULL);
    assert_true(f[0].value == M && f[1].value == M && f[3].value == M && f[4].value < 0.01);
    x = measure(neighbours_behind_a_head, 3);
    lra_interaction_findings(&x, 1, f, curve);
    assert_true(f[0].value > 15 && f[0].value < 23); /* not local by its mean */
    assert_true(f[2].value > 2 && f[3].value == M && f[4].value < 0.01 && !(f[2].flags & LRA_FLAT));
    assert_true(curve[1] > curve[2 * BLOCKS + 1]);
    assert_true(f[2].lo > 1 && f[2].lo < f[2].value && f[2].value < f[2].hi);
    assert_true(fabs(f[2].null[LRA_NULL_PERM] - 1) < 0.3);
    assert_true(fabs(f[0].null[LRA_NULL_UNIFORM] - M * (BLOCKS + 1) / 3.0) < 1e-12);
    x = measure(sum_of_all, 4);
    lra_interaction_findings(&x, 1, f, curve);
    for (int d = 1; d < BLOCKS; d++) assert_true(fabs(curve[d]) < 1e-12);
}

/* Examples of unequal length, by plain loops. */
static void they_are_the_definition(void **state)
{
    (void)state;
    lra_finding f[LRA_INTERACTION_FINDINGS];
    double curve[3 * BLOCKS], mean = 0;
    for (int e = 0; e < N; e++) {
        lra_rng r = lra_rng_new(9, 9, (uint64_t)e);
        count[e] = 2 + lra_rng_below(&r, BLOCKS - 1);
        for (int a = 0; a < BLOCKS; a++)
            for (int b = 0; b <= a; b++)
                weight[(e * BLOCKS + a) * BLOCKS + b] = weight[(e * BLOCKS + b) * BLOCKS + a] =
                    lra_rng_u01(&r);
    }
    const lra_interactions x = {BLOCKS, M, N, count, weight};
    lra_interaction_findings(&x, 1, f, curve);
    for (int d = 1; d < BLOCKS; d++) {
        double sum = 0, n = 0;
        for (int e = 0; e < N; e++)
            for (int a = d; a < count[e]; a++)
                sum += weight[(e * BLOCKS + a) * BLOCKS + a - d], n++;
        assert_true(n == 0 ? isnan(curve[d]) : fabs(curve[d] - sum / n) < 1e-12);
    }
    for (int e = 0; e < N; e++)
        for (int a = 0; a < count[e]; a++) {
            double all = 0, far = 0;
            for (int b = 0; b < count[e]; b++) {
                double w = a == b ? 0 : weight[(e * BLOCKS + a) * BLOCKS + b];
                all += w, far += w * fabs((double)(a - b)) * M;
            }
            mean += far / all / (double)count[e] / N;
        }
    assert_true(fabs(f[0].value - mean) < 1e-12);
}

/* Half of the examples have their pairs two blocks apart, the others six: the peak may be
 * either. */
static void ends_of_a_peak(void **state)
{
    (void)state;
    lra_finding f[LRA_INTERACTION_FINDINGS];
    for (int e = 0; e < 8; e++) {
        count[e] = 8;
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++)
                weight[(e * 8 + a) * 8 + b] = 0.1 + (a - b == (e % 2 ? 6 : 2) ||
                                                     b - a == (e % 2 ? 6 : 2));
    }
    const lra_interactions x = {8, M, 8, count, weight};
    lra_interaction_findings(&x, 1, f, NULL);
    assert_true(f[3].lo == 2 * M && f[3].hi == 6 * M);
    assert_true(f[2].lo > 0 && f[2].lo <= f[2].value && f[2].value <= f[2].hi && f[2].hi <= 1);
}

/* Weights without order are called flat in 95 % of all cases. */
static void flat_profiles_are_flat(void **state)
{
    (void)state;
    enum { TRIALS = 100 };
    int flat = 0;
    for (int k = 0; k < TRIALS; k++) {
        lra_rng r = lra_rng_new(5, 5, (uint64_t)k);
        lra_finding f[LRA_INTERACTION_FINDINGS];
        for (int e = 0; e < 3; e++) {
            count[e] = 8;
            for (int a = 0; a < 8; a++)
                for (int b = 0; b < a; b++)
                    weight[(e * 8 + a) * 8 + b] = weight[(e * 8 + b) * 8 + a] = lra_rng_u01(&r);
        }
        const lra_interactions x = {8, M, 3, count, weight};
        lra_interaction_findings(&x, (uint64_t)k, f, NULL);
        flat += (f[0].flags & LRA_FLAT) != 0;
    }
    assert_true(flat >= 88 && flat <= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(they_are_the_definition),
        cmocka_unit_test(ends_of_a_peak),
        cmocka_unit_test(flat_profiles_are_flat),
    };
    return cmocka_run_group_tests_name("interaction", tests, NULL, NULL);
}
