/* Information between symbols compared with known values, and its intervals; bags of n-grams. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "analysis/pair_information.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.9g, expected %.9g", value, expected);
}

enum { ROWS = 400, T = 200, MOST = 64 };
static int64_t start[ROWS + 1];
static uint8_t symbol[ROWS * T];
static const lra_symbols rows = {ROWS, start, symbol};

static uint8_t independent(lra_rng *r, int t)
{
    (void)t;
    return (uint8_t)lra_rng_below(r, 5);
}
static uint8_t chain(lra_rng *r, int t)
{
    static uint8_t state;
    if (t == 0) state = (uint8_t)lra_rng_below(r, 2);
    if (lra_rng_u01(r) < 0.1) state ^= 1;
    return state;
}
static int phase;
static uint8_t cycle(lra_rng *r, int t)
{
    if (t == 0) phase = (int)lra_rng_below(r, 7);
    return (uint8_t)((phase + t) % 7);
}
static uint8_t two_zeros(lra_rng *r, int t)
{
    if (t == 0) phase = (int)lra_rng_below(r, 3);
    return (phase + t) % 3 == 2;
}
/* Symbol t follows from its position alone, apart from noise. */
static uint8_t place(lra_rng *r, int t)
{
    return (uint8_t)(lra_rng_u01(r) < 0.9 ? t / 20 : (int)lra_rng_below(r, 10));
}

static lra_information *measure(uint8_t (*source)(lra_rng *r, int t), uint64_t seed)
{
    for (int64_t i = 0; i < ROWS; i++) {
        lra_rng r = lra_rng_new(seed, 9, (uint64_t)i);
        start[i + 1] = start[i] + T;
        for (int t = 0; t < T; t++) symbol[i * T + t] = source(&r, t);
    }
    return lra_information_new(&rows, MOST, 0, seed);
}
static const lra_info_point *at(const lra_information *x, int64_t d)
{
    for (int i = 0; i < x->n; i++)
        if (x->point[i].d == d) return &x->point[i];
    fail_msg("no distance %d", (int)d);
    return NULL;
}

TEST(independent_symbols)
{
    lra_information *x = measure(independent, 1);
    for (int i = 0; i < x->n; i++) near(x->point[i].excess.value, 0, 1.5e-3);
    assert_int_equal(at(x, 1)->symbols, 5);
    assert_int_equal(at(x, 1)->pairs, ROWS * (T - 1));
    lra_information_free(x);
}

/* Few pairs of independent symbols: without the correction the bias is 16 / (2 x 2587 ln 2) =
 * 0.0045 bits. */
TEST(bias_is_taken_off)
{
    enum { SETS = 60, FEW = 13 };
    double pair = 0, null = 0;
    for (uint64_t k = 0; k < SETS; k++) {
        lra_information_free(measure(independent, 100 + k));
        lra_information *x = lra_information_new(&(lra_symbols){FEW, start, symbol}, 1, 0, k);
        assert_int_equal(at(x, 1)->pairs, FEW * (T - 1));
        assert_int_equal(at(x, 1)->symbols, 5);
        pair += at(x, 1)->pair / SETS, null += at(x, 1)->null / SETS;
        lra_information_free(x);
    }
    near(pair, 0, 1e-3);
    near(null, 0, 1e-3);
}

static double chain_bits(int64_t d)
{
    double p = (1 - pow(0.8, (double)d)) / 2;
    return 1 + p * log2(p) + (1 - p) * log2(1 - p);
}

/* The dependence is largest three positions back, and smallest one position back. */
static uint8_t grows(lra_rng *r, int t)
{
    static uint8_t said[T];
    double u = lra_rng_u01(r);
    int back = u < 0.05 ? 1 : u < 0.2 ? 2 : u < 0.7 ? 3 : t + 1;
    said[t] = back <= t ? said[t - back] : (uint8_t)lra_rng_below(r, 4);
    return said[t];
}

TEST(two_states)
{
    lra_information *x = measure(chain, 2);
    for (int d = 1; d <= 8; d++) near(at(x, d)->pair, chain_bits(d), 0.01);
    near(at(x, 1)->null, 0, 1e-3);
    assert_in_range(x->d0, 8, 20);
    near(x->decay.kind, LRA_DECAY_EXP, 0);
    near(x->tau.value, -1 / log(0.64),
         0.5); /* the information decreases as the square of the correlation */
    assert_true(x->alpha.lo <= x->alpha.value && x->alpha.value <= x->alpha.hi);
    lra_information_free(x);
}

TEST(cycles)
{
    lra_information *x = measure(cycle, 3);
    for (int i = 0; i < x->n; i++) near(x->point[i].pair, log2(7), 1e-3);
    assert_int_equal(x->d0, x->point[x->n - 1].d);
    lra_information_free(x);
    x = measure(two_zeros, 4);
    near(at(x, 3)->pair, 0.9182958, 1e-3);
    near(at(x, 6)->pair, 0.9182958, 1e-3);
    near(at(x, 1)->pair, 0.2516, 1e-3);
    lra_information_free(x);
}

/* Rows of 24 symbols, each mostly equal to the row before: no information between neighbours, much
 * at distance 24, less at 48. */
enum { ROW = 24 };
static uint8_t rows_of_pixels(lra_rng *r, int t)
{
    static uint8_t said[T];
    said[t] = t >= ROW && lra_rng_u01(r) < 0.8 ? said[t - ROW] : (uint8_t)lra_rng_below(r, 2);
    return said[t];
}

TEST(comes_back)
{
    lra_information *x = measure(rows_of_pixels, 8), *y;
    assert_true(x->d0 < 3); /* an interval is above 0 by chance once in forty cases */
    assert_null(x->again);  /* the distances 23 and 25 are requested, 24 is not */
    y = lra_information_new(&rows, MOST, ROW, 8);
    assert_non_null(y->again);
    assert_int_equal(y->again->d, ROW);
    near(y->again->excess.value, 1 + 0.9 * log2(0.9) + 0.1 * log2(0.1), 0.02);
    assert_int_equal(y->point[y->n - 1].d, x->point[x->n - 1].d);
    lra_information_free(x);
    lra_information_free(y);
}

/* The distances are 1 to 16, then eight in each octave, which include every power of two: tables
 * show these. */
TEST(distances)
{
    enum { LONG = 2049 };
    static int64_t from[17];
    static uint8_t s[16 * LONG];
    for (int i = 0; i < 16 * LONG; i++) s[i] = (uint8_t)(i % 2);
    for (int i = 0; i < 16; i++) from[i + 1] = from[i] + LONG;
    lra_information *x = lra_information_new(&(lra_symbols){16, from, s}, 1024, 0, 1);
    assert_int_equal(x->n, 16 + 6 * 8);
    for (int i = 0; i < 16; i++) assert_int_equal(x->point[i].d, i + 1);
    for (int i = 16; i < x->n; i++) {
        near((double)x->point[i].d, 16 * pow(2, (i - 15) / 8.), 0.5);
        if ((i - 15) % 8 == 0) assert_int_equal(x->point[i].d, 16 << (i - 15) / 8);
    }
    lra_information_free(x);
}

TEST(growing)
{
    lra_information_free(measure(grows, 7));
    lra_information *x = lra_information_new(&rows, 3, 0, 1);
    assert_int_equal(x->d0, 3);
    assert_true(isinf(x->tau.value) && x->tau.value > 0 && x->tau.lo > 0);
    assert_true(x->alpha.value < 0);
    lra_information_free(x);
}

/* Information that follows from positions alone is in the null value, and not in the excess. */
TEST(places)
{
    lra_information *x = measure(place, 5);
    assert_true(at(x, 1)->pair > 1.5);
    near(at(x, 1)->excess.value, 0, 0.005);
    near(at(x, 21)->excess.value, 0, 0.005);
    lra_information_free(x);
}

/* Rows of 20 different lengths whose first and last symbols are special: they follow from position
 * and length. */
TEST(ends)
{
    enum { LENGTHS = 20, EACH = 96, N = LENGTHS * EACH };
    static int64_t begin[N + 1];
    static uint8_t all[N * (8 + LENGTHS)];
    for (int64_t i = 0; i < N; i++) {
        lra_rng r = lra_rng_new(8, 9, (uint64_t)i);
        int64_t n = 8 + i % LENGTHS;
        begin[i + 1] = begin[i] + n;
        for (int64_t t = 0; t < n; t++)
            all[begin[i] + t] = (uint8_t)(t == 0 ? 2 : t == n - 1 ? 3 : lra_rng_below(&r, 2));
    }
    lra_information *x = lra_information_new(&(lra_symbols){N, begin, all}, 8, 0, 1);
    for (int64_t d = 1; d <= 8; d++) {
        near(at(x, d)->excess.value, 0, 0.002);
        assert_true(at(x, d)->excess.lo <= 0);
    }
    lra_information_free(x);
}

/* Symbols are merged if there are few pairs: fewer pairs, fewer symbols. */
TEST(merged)
{
    lra_information *x = measure(cycle, 6);
    lra_symbols few = {6, start, symbol};
    lra_information *y = lra_information_new(&few, MOST, 0, 1);
    assert_int_equal(at(x, 1)->symbols, 7);
    /* 1194 pairs, 100 per cell: sqrt(1194 / 100), rounded down, is 3 */
    assert_int_equal(at(y, 1)->symbols, 3);
    assert_true(y->point[y->n - 1].symbols >= 2);
    lra_information_free(x);
    lra_information_free(y);
}

/* Intervals of the excess contain the value of the chain. */
TEST(coverage)
{
    int held[3] = {0};
    static const int64_t d[] = {1, 4, 10};
    enum { SETS = 40 };
    for (int s = 0; s < SETS; s++) {
        for (int64_t i = 0; i < ROWS; i++) {
            lra_rng r = lra_rng_new(50 + (uint64_t)s, 9, (uint64_t)i);
            for (int t = 0; t < T; t++) symbol[i * T + t] = chain(&r, t);
        }
        lra_information *x = lra_information_new(&rows, 10, 0, (uint64_t)s);
        for (int k = 0; k < 3; k++) {
            lra_estimate e = at(x, d[k])->excess;
            held[k] += e.lo <= chain_bits(d[k]) && chain_bits(d[k]) <= e.hi;
        }
        lra_information_free(x);
    }
    /* the expected number is 95 % of 40 = 38, with a standard deviation of 1.4 */
    for (int k = 0; k < 3; k++)
        if (held[k] < 33) fail_msg("distance %d: %d of %d", (int)d[k], held[k], SETS);
}

/* Too few rows give no interval, and no value that depends on one. */
TEST(few_rows_have_no_intervals)
{
    enum { L = 4096 };
    static int64_t from[17];
    static uint8_t s[16 * L];
    for (int i = 0; i < 16; i++) {
        lra_rng r = lra_rng_new(12, 4, (uint64_t)i);
        from[i + 1] = from[i] + L;
        for (int t = 0; t < L; t++) s[i * L + t] = (uint8_t)lra_rng_below(&r, 12);
    }
    for (int n = 2; n <= 16; n++) {
        lra_information *x = lra_information_new(&(lra_symbols){n, from, s}, 64, 0, 1);
        assert_true(x->n > 16);
        for (int i = 0; i < x->n; i++) {
            assert_true(fabs(x->point[i].excess.value) < 0.01);
            assert_int_equal(isnan(x->point[i].excess.lo), n < 16);
            assert_int_equal(isnan(x->point[i].excess.hi), n < 16);
        }
        assert_true(n == 16 || (x->d0 == 0 && !x->again));
        lra_information_free(x);
    }
}

/* The label is whether "2 3" occurs in symbols that are equally frequent: single symbols contain no
 * information on it. */
TEST(ngrams)
{
    enum { N = 300, L = 40 };
    static int64_t from[2 * N + 1];
    static uint8_t s[2 * N * L];
    static int32_t label[2 * N];
    for (int i = 0; i < 2 * N; i++) {
        lra_rng r = lra_rng_new(8, 2, (uint64_t)i);
        from[i + 1] = from[i] + L, label[i] = i % 2;
        for (int t = 0; t < L; t++) s[i * L + t] = (uint8_t)lra_rng_below(&r, 4);
        for (int t = 0; t + 1 < L; t++)
            if (s[i * L + t] == 2 && s[i * L + t + 1] == 3) s[i * L + t + 1] = 0;
        if (i % 2) s[i * L + 7] = 2, s[i * L + 8] = 3;
    }
    double right[2] = {0};
    for (int n = 1; n <= 2; n++) {
        lra_ngram *g = lra_ngram_new(n, 2, &(lra_symbols){N, from, s}, label);
        for (int i = N; i < 2 * N; i++)
            right[n - 1] += (lra_ngram_predict(g, L, s + from[i]) == label[i]) / (double)N;
        lra_ngram_free(g);
    }
    assert_true(right[0] < 0.75);
    assert_true(right[1] > 0.9);
}

/* Rows with as many symbols as an n-gram contain one, shorter rows contain none: their prediction
 * is the most frequent class in training. */
TEST(short_rows)
{
    const uint8_t train[] = {1, 2, 2, 1, 2, 1}, test[] = {1, 2, 2, 1, 1};
    const int64_t from[] = {0, 2, 4, 6};
    const int32_t label[] = {0, 1, 1};
    lra_ngram *g = lra_ngram_new(2, 2, &(lra_symbols){3, from, train}, label);
    assert_int_equal(lra_ngram_predict(g, 2, test), 0);
    assert_int_equal(lra_ngram_predict(g, 2, test + 2), 1);
    assert_int_equal(lra_ngram_predict(g, 1, test + 4), 1);
    lra_ngram_free(g);
}
