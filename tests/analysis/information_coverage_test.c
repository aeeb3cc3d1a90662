/* labels: slow timeout: 300 */
/* Coverage: do the 95 % intervals of the excess contain its true value? Cases: chains, periodic
 * sequences and symbols determined by their positions alone; few and many examples; equal and
 * different lengths. Also: is a decay law reported although nothing decays? */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/pair_information.h"
#include "kernels/base/core/philox.h"

enum { MOST = 800, T = 120, PERIOD = 6 };
static int64_t start[MOST + 1];
static uint8_t symbol[MOST * T];

typedef enum { MARKOV, PERIODIC, NOISY_PERIOD, PLACE, N_DESIGNS } design;
static const char *const names[N_DESIGNS] = {"Markov", "periodic", "noisy period", "place"};

static uint8_t next(design by, lra_rng *r, int t, int phase, const uint8_t *before)
{
    double u = lra_rng_u01(r);
    switch (by) {
    case MARKOV: return (uint8_t)(t == 0 ? u < 0.5 : u < 0.15 ? !before[-1] : before[-1]);
    case PERIODIC: return (uint8_t)((t + phase) % PERIOD);
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

static double truth(design by, int64_t d)
{
    if (by == MARKOV) {
        double p = (1 - pow(0.7, (double)d)) / 2;
        return 1 + p * log2(p) + (1 - p) * log2(1 - p);
    }
    if (by == PERIODIC) return log2(PERIOD);
    if (by == PLACE) return 0;
    double both = 0.7 * 0.7, other = (1 - both) / PERIOD / PERIOD, same = both / PERIOD + other;
    return PERIOD * same * log2(same * PERIOD * PERIOD) +
           PERIOD * (PERIOD - 1) * other * log2(other * PERIOD * PERIOD);
}

enum { DISTANCES = 3, SETS = 60 };
static const int64_t distance[DISTANCES] = {1, 3, 12};

static void hold(design by, int n, bool ragged)
{
    int held[DISTANCES] = {0}, named = 0, n_point = 0;
    for (uint64_t set = 0; set < SETS; set++) {
        make(by, n, ragged, set + 1000 * (uint64_t)n);
        lra_information *x = lra_information_new(&(lra_symbols){n, start, symbol}, 24, 0, set);
        named += x->decay.kind != LRA_DECAY_NONE;
        for (int i = 0; i < x->n; i++)
            for (int k = 0; k < DISTANCES; k++) {
                if (x->point[i].d != distance[k]) continue;
                const lra_estimate *e = &x->point[i].excess;
                double wanted = truth(by, distance[k]);
                held[k] += e->lo <= wanted + 1e-12 && wanted - 1e-12 <= e->hi;
                n_point++;
            }
        lra_information_free(x);
    }
    print_message("%-12s %4d examples%s: held %5.1f %5.1f %5.1f %% at distances 1, 3, 12; a law "
                  "named in %5.1f %%\n",
                  names[by], n, ragged ? ", ragged" : "        ", held[0] * 100. / SETS,
                  held[1] * 100. / SETS, held[2] * 100. / SETS, named * 100. / SETS);
    assert_int_equal(n_point, DISTANCES * SETS);
    double low = 0.93 - 2 * sqrt(0.93 * 0.07 / SETS);
    for (int k = 0; k < DISTANCES; k++)
        if (held[k] < low * SETS)
            fail_msg("distance %d: %d of %d", (int)distance[k], held[k], SETS);
    if (by == PERIODIC || by == NOISY_PERIOD) assert_in_range(named, 0, SETS / 20);
    if (by == MARKOV && n == MOST) assert_in_range(named, SETS / 2, SETS);
}

TEST(intervals_hold_the_truth)
{
    static const int n[] = {60, 200, MOST};
    for (int by = 0; by < N_DESIGNS; by++)
        for (int k = 0; k < 3; k++)
            for (int ragged = 0; ragged < 2; ragged++) hold((design)by, n[k], ragged);
}
