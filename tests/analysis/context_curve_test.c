/* Context curves: values computed by hand, and the coverage of their intervals on simulated rows.
 * LRA_COVERAGE=2000 runs the full simulation with 2,000 data sets. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/context_curve.h"
#include "kernels/base/core/philox.h"

enum { POINTS = 7, ROWS = 64, TARGETS = 16, MEANS = 4000 };
static const double x[POINTS] = {1, 2, 4, 8, 16, 32, 64};

TEST(curve_by_hand)
{
    enum { N = 3 };
    const double at[2] = {1, 8}, unigram[N] = {4, 5.25, 5.75};
    const double loss[2 * N] = {4, 4, 4, 1, 2, 3}, kl[2 * N] = {1, 2, 3}, key[2 * N] = {0, 0.5, 1};
    lra_context_curve c;
    lra_context_curve_compute(N, 2, at, loss, kl, key, unigram, 0, &c);
    assert_true(c.full.value == 2 && c.unigram.value == 5 && c.loss[0].value == 4);
    assert_true(c.kl[0].value == 2 && c.key[0].value == 0.5 && c.key[1].value == 0);
    /* the quantile of Student's t with 2 degrees of freedom is 4.3027; s = 1, n = 3 */
    assert_true(fabs(c.full.hi - (2 + 4.302652729696 / sqrt(3))) < 1e-9);
    /* the interval of a share is clipped to [0, 1] */
    assert_true(c.key[0].lo == 0 && c.key[0].hi == 1);
    /* Wilson interval of 0 successes in 3 trials */
    assert_true(c.key[1].lo == 0 && c.key[1].hi > 0.5);
    assert_true(!c.gain.at_chance && fabs(c.gain.gain[0].value - 1.0 / 3) < 1e-12);
    assert_true(c.gain.least[3].value == 8 && c.gain.gain[1].value == 1);
}

static double normal(lra_rng *r)
{
    double a, b;
    uint32_t first = lra_rng_u32(r);
    lra_normal2(first, lra_rng_u32(r), &a, &b);
    return a;
}

/* Coverage of the means of rows with a skewed distribution, and of the shares of rows that are
 * often 0. */
TEST(coverage_of_means)
{
    static const int sizes[] = {16, 64, 256};
    for (int k = 0; k < 3; k++) {
        int held = 0, n = sizes[k];
        for (int s = 0; s < MEANS; s++) {
            lra_rng rng = lra_rng_new(11, (uint32_t)k, (uint64_t)s);
            double row[256];
            /* losses are exponentially distributed with mean 3 bits */
            for (int i = 0; i < n; i++) {
                double u = 0;
                for (int t = 0; t < TARGETS; t++) u -= 3 * log(1 - lra_rng_u01(&rng)) / TARGETS;
                row[i] = u + 0.5 * normal(&rng);
            }
            lra_estimate e = lra_mean_interval(n, row);
            held += e.lo <= 3 && 3 <= e.hi;
        }
        double share = (double)held / MEANS;
        if (share < 0.935 || share > 0.965) fail_msg("n = %d: %g, expected 0.95", n, share);
        held = 0;
        for (int s = 0; s < MEANS; s++) {
            lra_rng rng = lra_rng_new(12, (uint32_t)k, (uint64_t)s);
            double row[256];
            for (int i = 0; i < n; i++) {
                row[i] = 0;
                for (int t = 0; t < TARGETS; t++) row[i] += (lra_rng_u01(&rng) < 0.1) / 16.0;
            }
            lra_estimate e = lra_share_interval(n, row);
            held += e.lo <= 0.1 && 0.1 <= e.hi;
        }
        share = (double)held / MEANS;
        if (share < 0.93 || share > 0.97) fail_msg("share, n = %d: %g, expected 0.95", n, share);
    }
}

/* Expected loss with c tokens: 2 bits with the full context, 5 by token frequencies. */
static double expected(int k)
{
    return k == POINTS - 1 ? 2 : 2 + 2 * pow(x[k], -1.1);
}

/* Rows differ in difficulty, and in how much they need distant tokens. */
static void simulate(uint64_t seed, lra_context_curve *c)
{
    static double loss[POINTS * ROWS], kl[POINTS * ROWS], key[POINTS * ROWS], unigram[ROWS];
    for (int i = 0; i < ROWS; i++) {
        lra_rng rng = lra_rng_new(seed, 1, (uint64_t)i);
        double hard = 0.5 * normal(&rng), far = exp(0.5 * normal(&rng) - 0.125);
        double all = 0;
        for (int t = 0; t < TARGETS; t++) all -= log(1 - lra_rng_u01(&rng)) / TARGETS;
        for (int k = 0; k < POINTS; k++) {
            loss[k * ROWS + i] = 2 * all + hard + far * (expected(k) - 2) +
                                 (k < POINTS - 1 ? 0.1 * normal(&rng) : 0);
            kl[k * ROWS + i] = key[k * ROWS + i] = 0;
        }
        unigram[i] = 5 + hard + 0.5 * (all - 1) + 0.3 * normal(&rng);
    }
    lra_context_curve_compute(ROWS, POINTS, x, loss, kl, key, unigram, seed, c);
}

TEST(coverage_of_curves)
{
    const char *wanted = getenv("LRA_COVERAGE");
    int sets = wanted ? (int)strtol(wanted, NULL, 10) : 120, loss = 0, gain = 0, least[2] = {0};
    double truth[2] = {NAN, NAN};
    for (int k = POINTS - 1; k >= 0; k--) {
        double kept = (5 - expected(k)) / 3;
        if (kept >= 0.95) truth[0] = x[k];
        if (kept >= 0.99) truth[1] = x[k];
    }
    for (int s = 0; s < sets; s++) {
        lra_context_curve c;
        simulate((uint64_t)s + 1, &c);
        for (int k = 0; k < POINTS; k++) {
            double g = (5 - expected(k)) / 3;
            loss += c.loss[k].lo <= expected(k) && expected(k) <= c.loss[k].hi;
            if (k < POINTS - 1) gain += c.gain.gain[k].lo <= g && g <= c.gain.gain[k].hi;
        }
        for (int q = 0; q < 2; q++)
            least[q] += c.gain.least[2 + q].lo <= truth[q] && truth[q] <= c.gain.least[2 + q].hi;
    }
    double of_loss = loss / (double)(sets * POINTS), of_gain = gain / (double)(sets * (POINTS - 1));
    double c95 = least[0] / (double)sets, c99 = least[1] / (double)sets;
    print_message("%d data sets: loss %.3f, gain %.3f, c95 %.3f, c99 %.3f\n", sets, of_loss,
                  of_gain, c95, c99);
    double wide = 3 * sqrt(0.05 * 0.95 / sets); /* Monte Carlo error: the points are correlated */
    assert_true(fabs(of_loss - 0.95) < 0.02 + wide && fabs(of_gain - 0.95) < 0.02 + wide);
    assert_true(c95 > 0.93 - wide && c99 > 0.93 - wide);
}
