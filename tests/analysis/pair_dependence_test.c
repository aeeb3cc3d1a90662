/* labels: slow timeout: 300 */
/* Dependence of symbols beyond their positions: known values, coverage of the intervals, and no
 * detection if symbols are independent given the position. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/pair_dependence.h"
#include "kernels/base/core/philox.h"

enum { MOST = 800, T = 60, PERIOD = 6, SETS = 50, DISTANCES = 3 };
static int64_t start[MOST + 1];
static uint8_t symbol[MOST * T];
static const int64_t distance[DISTANCES] = {1, 2, 3};

typedef enum { IID, PLACE, XOR, MARKOV, PERIODIC, NOISY_PERIOD, HIDDEN, N_DESIGNS } design;
static const char *const names[N_DESIGNS] = {"i.i.d.",   "place",        "XOR",   "Markov",
                                             "periodic", "noisy period", "hidden"};

/* HIDDEN: probability of symbol 1 after the symbols 0 and 1 in the first half of the sequence;
 * exchanged in the second half. */
static const double after[2] = {0.25 / 0.3, 0.45 / 0.7};

static uint8_t hidden(double u, int t, const uint8_t *before)
{
    bool second = t >= T / 2, first_of_half = t % (T / 2) == 0;
    int old = first_of_half ? 0 : before[-1] ^ second;
    double one = first_of_half ? 0.7 : after[old];
    return (uint8_t)((u < one) ^ second);
}

static uint8_t next(design by, lra_rng *r, int t, int phase, const uint8_t *before)
{
    double u = lra_rng_u01(r);
    switch (by) {
    case IID: return (uint8_t)(u < 0.4 ? 0 : u < 0.7 ? 1 : u < 0.9 ? 2 : 3);
    case XOR: return t < 2 ? u < 0.5 : before[-1] ^ before[-2];
    case MARKOV: return (uint8_t)(t == 0 ? u < 0.5 : u < 0.15 ? !before[-1] : before[-1]);
    case PERIODIC: return (uint8_t)((t + phase) % PERIOD);
    case HIDDEN: return hidden(u, t, before);
    case NOISY_PERIOD:
        return (uint8_t)(u < 0.3 ? (int64_t)lra_rng_below(r, PERIOD)
                                 : (int64_t)((t + phase) % PERIOD));
    default: return (uint8_t)(u < 0.3 ? (int64_t)lra_rng_below(r, 4) : (int64_t)(t / 9 % 4));
    }
}

/* Makes n examples of T symbols; ragged: of T/2 to T symbols. */
static void make(design by, int n, bool ragged, uint64_t set)
{
    for (int i = 0; i < n; i++) {
        lra_rng r = lra_rng_new(set, 31, (uint64_t)i);
        int length = ragged ? T / 2 + (int)lra_rng_below(&r, T / 2 + 1) : T;
        int phase = (int)lra_rng_below(&r, PERIOD);
        start[i + 1] = start[i] + length;
        for (int t = 0; t < length; t++) {
            uint8_t *at = symbol + start[i] + t;
            *at = next(by, &r, t, phase, at);
        }
    }
}

static double x_log_x(double x)
{
    return x > 0 ? x * log2(x) : 0;
}

static double truth(design by, int64_t d)
{
    double p = (1 - pow(0.7, (double)d)) / 2, both = 0.49, other = (1 - both) / PERIOD / PERIOD,
           same = both / PERIOD + other;
    switch (by) {
    case XOR: return d % 3 == 0;
    case MARKOV: return 1 + x_log_x(p) + x_log_x(1 - p);
    case PERIODIC: return log2(PERIOD);
    case NOISY_PERIOD:
        return PERIOD * same * log2(same * PERIOD * PERIOD) +
               PERIOD * (PERIOD - 1) * other * log2(other * PERIOD * PERIOD);
    default: return 0;
    }
}

/* Counts, for each distance, in how many data sets the interval contains the true value, and in how
 * many a dependence is detected. */
static void run(design by, int n, bool ragged, int held[DISTANCES], int found[DISTANCES])
{
    for (uint64_t set = 0; set < SETS; set++) {
        make(by, n, ragged, set + 1000 * (uint64_t)n);
        for (int k = 0; k < DISTANCES; k++) {
            lra_dependence x = lra_pair_dependence(&(lra_symbols){n, start, symbol}, distance[k],
                                                   set);
            double wanted = truth(by, distance[k]);
            held[k] += x.bits.lo <= wanted + 1e-12 && wanted - 1e-12 <= x.bits.hi;
            found[k] += x.bits.lo > 0;
            assert_true(x.bits.lo <= x.bits.value && x.bits.value <= x.bits.hi);
        }
    }
    print_message("%-12s %4d examples%s: held %3d %3d %3d, above 0 %3d %3d %3d of %d at distances "
                  "1, 2, 3\n",
                  names[by], n, ragged ? ", ragged" : "        ", held[0], held[1], held[2],
                  found[0], found[1], found[2], SETS);
}

static int all_held, all_tested; /* counts over the distances with a dependence */

/* Checks, for each distance, in how many of the SETS data sets
 *   - the interval contains the true value: 93 % or more, less two standard errors of this share;
 *   - a dependence is detected: at most 5 % plus 2.5 standard errors if there is none, and all sets
 *     if the true value exceeds 0.1 bits.
 * Adds to all_held and all_tested, from which the test below checks 93 % over all cases. */
static void check(design by, int n, bool ragged)
{
    int held[DISTANCES] = {0}, found[DISTANCES] = {0};
    run(by, n, ragged, held, found);
    double low = SETS * (0.93 - 2 * sqrt(0.93 * 0.07 / SETS)),
           most = SETS * (0.05 + 2.5 * sqrt(0.05 * 0.95 / SETS));
    for (int k = 0; k < DISTANCES; k++) {
        all_tested += truth(by, distance[k]) > 0 ? SETS : 0;
        all_held += truth(by, distance[k]) > 0 ? held[k] : 0;
        if (held[k] < low) fail_msg("distance %d: held in %d", (int)distance[k], held[k]);
        if (truth(by, distance[k]) == 0 && found[k] > most)
            fail_msg("distance %d: found in %d", (int)distance[k], found[k]);
        if (truth(by, distance[k]) > 0.1 && found[k] < SETS)
            fail_msg("distance %d: found in %d only", (int)distance[k], found[k]);
    }
}

TEST(intervals_hold_the_truth)
{
    static const int n[] = {200, MOST};
    for (int by = 0; by < HIDDEN; by++)
        for (int k = 0; k < 2; k++)
            for (int ragged = 0; ragged < 2; ragged++) check((design)by, n[k], ragged);
    print_message("%d of %d intervals of a dependence hold it\n", all_held, all_tested);
    assert_true(all_held >= 0.93 * all_tested);
}

/* A dependence that the difference of mutual informations hides: averaged over positions,
 * neighbours are independent, but they are not given the symbol frequencies of each position. */
TEST(finds_what_the_excess_hides)
{
    make(HIDDEN, MOST, false, 7);
    lra_symbols s = {MOST, start, symbol};
    lra_information *x = lra_information_new(&s, 1, 0, 0);
    lra_dependence y = lra_pair_dependence(&s, 1, 0);
    double wanted = 0.45 * log2(0.45 / 0.49) + 0.5 * log2(0.25 / 0.21) + 0.05 * log2(0.05 / 0.09);
    wanted *= (T - 2.0) / (T - 1);
    print_message("excess %.4f (%.4f to %.4f), dependence %.4f (%.4f to %.4f), true %.4f bits\n",
                  x->point[0].excess.value, x->point[0].excess.lo, x->point[0].excess.hi,
                  y.bits.value, y.bits.lo, y.bits.hi, wanted);
    assert_true(x->point[0].excess.hi < 0);
    assert_true(y.bits.lo > 0 && y.bits.lo <= wanted && wanted <= y.bits.hi);
    lra_information_free(x);
}

/* Too few pairs give no value; too few examples give no interval. */
TEST(too_few)
{
    make(IID, 60, false, 0);
    assert_true(isnan(lra_pair_dependence(&(lra_symbols){1, start, symbol}, 1, 0).bits.value));
    assert_true(isnan(lra_pair_dependence(&(lra_symbols){6, start, symbol}, 1, 0).bits.value));
    lra_dependence x = lra_pair_dependence(&(lra_symbols){60, start, symbol}, 1, 0);
    assert_true(!isnan(x.bits.value) && isnan(x.bits.lo) && isnan(x.p));
    assert_true(isnan(lra_pair_dependence(&(lra_symbols){60, start, symbol}, T, 0).bits.value));
}
