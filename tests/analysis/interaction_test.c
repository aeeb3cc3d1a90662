/* Interaction of blocks: known results for sums, products and heads after a pool, and comparison
 * with plain loops. interaction_bags_test.c measures how often interaction is detected although
 * there is none. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "analysis/interaction.h"
#include "kernels/base/core/philox.h"

enum { T = 64, M = 4, BLOCKS = T / M, N = 64, DRAWS = 4 };

static double weight[N * BLOCKS * BLOCKS], null[N * BLOCKS * BLOCKS];
static int64_t count[N];

/* The score functions of this test; each has T inputs of +-1. */
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
static double neighbours(const double *x) /* products of neighbours that are in different blocks */
{
    double s = 0;
    for (int t = M - 1; t + 1 < T; t += M) s += x[t] * x[t + 1];
    return s;
}
static double neighbours_and_rounding(const double *x) /* all other pairs have almost no weight */
{
    double s = 0;
    for (int t = 0; t < T; t++) s += x[t];
    return neighbours(x) + 1e-8 * s * s;
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

/* Returns the score of x with blocks a and b (-1: none) replaced by those of `other`; block k is
 * moved to at[k]. */
static double with(score s, const double *x, const double *other, const int *at, int a, int b)
{
    double y[T];
    for (int t = 0; t < T; t++) {
        bool replaced = t / M == a || t / M == b;
        y[at[t / M] * M + t % M] = replaced ? other[t] : x[t];
    }
    return s(y);
}

/* Measures an example as the probe does: with blocks in order, and with blocks permuted. */
static void measure_example(score s, int e, lra_rng *r)
{
    static double x[T], other[DRAWS][T];
    static int at[2][DRAWS][BLOCKS];
    double squares[2][BLOCKS] = {{0}}, pair[2];
    draw(r, x, 0, T);
    for (int k = 0; k < DRAWS; k++) {
        draw(r, other[k], 0, T);
        for (int b = 0; b < BLOCKS; b++) at[0][k][b] = at[1][k][b] = b;
        for (int b = BLOCKS - 1; b > 0; b--) {
            int swapped = (int)lra_rng_below(r, (uint32_t)b + 1), kept = at[1][k][b];
            at[1][k][b] = at[1][k][swapped], at[1][k][swapped] = kept;
        }
        for (int l = 0; l < 2; l++)
            for (int a = 0; a < BLOCKS; a++) {
                double d = lra_interaction_first(with(s, x, other[k], at[l][k], -1, -1),
                                                 with(s, x, other[k], at[l][k], a, -1));
                squares[l][a] += d * d;
            }
    }
    for (int a = 0; a < BLOCKS; a++)
        for (int b = 0; b < a; b++) {
            pair[0] = pair[1] = 0;
            for (int k = 0; k < 2 * DRAWS; k++) {
                const double *o = other[k % DRAWS];
                const int *to = at[k / DRAWS][k % DRAWS];
                double d = lra_interaction_second(
                    with(s, x, o, to, -1, -1), with(s, x, o, to, a, -1), with(s, x, o, to, -1, b),
                    with(s, x, o, to, a, b));
                pair[k / DRAWS] += d * d / DRAWS;
            }
            int here = (e * BLOCKS + a) * BLOCKS + b, there = (e * BLOCKS + b) * BLOCKS + a;
            double rho = lra_interaction_place(squares[0][a], squares[1][a]) *
                         lra_interaction_place(squares[0][b], squares[1][b]);
            weight[here] = weight[there] = sqrt(pair[0]);
            null[here] = null[there] = sqrt(pair[1]) * rho;
        }
}

static lra_interactions measure(score s, uint64_t seed)
{
    for (int e = 0; e < N; e++) {
        lra_rng r = lra_rng_new(seed, 1, (uint64_t)e);
        count[e] = BLOCKS;
        measure_example(s, e, &r);
    }
    return (lra_interactions){BLOCKS, M, N, count, weight, null};
}

static bool is_flat(const lra_measurement *f)
{
    return f[LRA_INTERACTION_PEAK].flags & LRA_FLAT;
}

TEST(known_answers)
{
    lra_measurement f[LRA_INTERACTION_MEASUREMENTS];
    double curve[LRA_INTERACTION_CURVES * BLOCKS];
    lra_interactions x = measure(product_of_two, 1);
    assert_int_equal(lra_interaction_measurements(&x, 1, f, curve), LRA_INTERACTION_MEASUREMENTS);
    assert_true(f[LRA_INTERACTION_MEAN].value == 40 && f[LRA_INTERACTION_Q95].value == 40);
    assert_true(f[LRA_INTERACTION_PEAK].value == 40 && f[LRA_INTERACTION_PEAK].lo == 40 &&
                f[LRA_INTERACTION_PEAK].hi == 40 && !is_flat(f));
    assert_true(f[LRA_INTERACTION_P].value <= 0.01 && f[LRA_INTERACTION_REL].value > 1);
    /* Examples whose replacements change neither token have no weight and are counted as
     * undefined. */
    assert_true(f[0].examples + f[0].undefined == N && f[0].examples >= LRA_INTERACTION_LEAST);
    for (int d = 1; d < BLOCKS; d++) assert_int_equal(curve[d] > 0, d == 10);
    x = measure(neighbours, 2);
    lra_interaction_measurements(&x, 1, f, NULL);
    assert_true(f[LRA_INTERACTION_MEAN].value == M && f[LRA_INTERACTION_Q95].value == M);
    assert_true(f[LRA_INTERACTION_PEAK].value == M && f[LRA_INTERACTION_P].value <= 0.01);
    x = measure(neighbours_behind_a_head, 3);
    lra_interaction_measurements(&x, 1, f, curve);
    assert_true(f[LRA_INTERACTION_MEAN].value > 15 && f[LRA_INTERACTION_MEAN].value < 23);
    assert_true(f[LRA_INTERACTION_PEAK].value == M && f[LRA_INTERACTION_P].value <= 0.01 &&
                !is_flat(f));
    assert_true(f[LRA_INTERACTION_CONTRAST].value > 2 && f[LRA_INTERACTION_CONTRAST].lo > 1);
    assert_true(fabs(f[LRA_INTERACTION_CONTRAST].null[LRA_NULL_PERM] - 1) < 0.5);
    assert_true(f[LRA_INTERACTION_REL].lo > 1 && curve[3 * BLOCKS + 1] > 1);
    assert_true(fabs(f[0].null[LRA_NULL_UNIFORM] - M * (BLOCKS + 1) / 3.0) < 1e-9);
    x = measure(sum_of_all, 4);
    lra_interaction_measurements(&x, 1, f, curve);
    assert_true(f[0].examples == 0 && f[0].undefined == N && isnan(f[0].value) && is_flat(f));
}

/* A ratio to a median of almost 0 is no number: it has a flag. */
TEST(no_contrast_with_a_median_of_zero)
{
    static const score scores[] = {neighbours, neighbours_and_rounding, neighbours_behind_a_head,
                                   product_of_two};
    for (int k = 0; k < 4; k++) {
        lra_measurement f[LRA_INTERACTION_MEASUREMENTS];
        lra_interactions x = measure(scores[k], 2);
        lra_interaction_measurements(&x, 1, f, NULL);
        const lra_measurement *c = &f[LRA_INTERACTION_CONTRAST];
        assert_int_equal(isnan(c->value), k != 2);
        assert_int_equal((c->flags & LRA_NO_MEDIAN) != 0, k < 2);
        assert_true(isnan(c->null[LRA_NULL_PERM]) || c->null[LRA_NULL_PERM] < 1e6);
    }
}

/* Compares with plain loops for examples of different lengths. */
TEST(they_are_the_definition)
{
    lra_measurement f[LRA_INTERACTION_MEASUREMENTS];
    double curve[LRA_INTERACTION_CURVES * BLOCKS], mean = 0;
    static double own[2][N][BLOCKS];
    for (int e = 0; e < N; e++) {
        lra_rng r = lra_rng_new(9, 9, (uint64_t)e);
        count[e] = 2 + lra_rng_below(&r, BLOCKS - 1);
        for (int a = 0; a < BLOCKS; a++)
            for (int b = 0; b <= a; b++) {
                int here = (e * BLOCKS + a) * BLOCKS + b, there = (e * BLOCKS + b) * BLOCKS + a;
                weight[here] = weight[there] = lra_rng_u01(&r);
                null[here] = null[there] = lra_rng_u01(&r);
            }
    }
    const lra_interactions x = {BLOCKS, M, N, count, weight, null};
    lra_interaction_measurements(&x, 1, f, curve);
    for (int e = 0; e < N; e++)
        for (int l = 0; l < 2; l++) {
            const double *w = (l ? null : weight) + e * BLOCKS * BLOCKS;
            double all = 0, n = 0;
            for (int a = 0; a < count[e]; a++)
                for (int b = 0; b < a; b++) all += w[a * BLOCKS + b], n++;
            for (int d = 1; d < count[e]; d++) {
                double sum = 0;
                for (int a = d; a < count[e]; a++) sum += w[a * BLOCKS + a - d];
                own[l][e][d] = sum / (double)(count[e] - d) / (all / n);
            }
        }
    for (int d = 1; d < BLOCKS; d++) {
        double sum[2] = {0, 0}, n = 0;
        for (int e = 0; e < N; e++)
            if (d < count[e]) sum[0] += own[0][e][d], sum[1] += own[1][e][d], n++;
        if (n == 0) continue;
        assert_true(fabs(curve[d] - sum[0] / n) < 1e-12);
        assert_true(fabs(curve[BLOCKS + d] - sum[1] / n) < 1e-12);
        assert_true(fabs(curve[2 * BLOCKS + d] - sum[0] / sum[1]) < 1e-12);
        assert_int_equal(isnan(curve[3 * BLOCKS + d]) != 0, n < LRA_INTERACTION_LEAST);
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

/* Half of the examples have interacting pairs two blocks apart, the others six: the interval of the
 * peak includes both. If there are fewer examples than the test needs, there is no peak. */
TEST(ends_of_a_peak)
{
    lra_measurement f[LRA_INTERACTION_MEASUREMENTS];
    for (int e = 0; e < N; e++) {
        count[e] = 8;
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                int d = a > b ? a - b : b - a;
                weight[(e * 8 + a) * 8 + b] = 0.1 + (d == (e % 2 ? 6 : 2)) * (d == 6 ? 1 : 2.5);
                null[(e * 8 + a) * 8 + b] = 1;
            }
    }
    lra_interactions x = {8, M, N, count, weight, null};
    lra_interaction_measurements(&x, 1, f, NULL);
    assert_true(f[LRA_INTERACTION_PEAK].lo == 2 * M && f[LRA_INTERACTION_PEAK].hi == 6 * M);
    assert_true(f[LRA_INTERACTION_REL].lo < f[LRA_INTERACTION_REL].value);
    x.examples = LRA_INTERACTION_LEAST - 1;
    lra_interaction_measurements(&x, 1, f, NULL);
    assert_true(isnan(f[LRA_INTERACTION_PEAK].value) && isnan(f[LRA_INTERACTION_P].value));
    assert_true(is_flat(f));
    x.null = NULL; /* without results of initial weights only means are measured */
    lra_interaction_measurements(&x, 1, f, NULL);
    assert_true(f[LRA_INTERACTION_MEAN].value > 0 && isnan(f[LRA_INTERACTION_P].value));
}
