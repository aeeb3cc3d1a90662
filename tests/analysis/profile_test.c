/* Profiles of weights over distance, against known answers: equal weights, boxes, exponentials,
 * delays, different lengths, grids; intervals; fits and tests of decay; shifts. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "analysis/decay.h"
#include "analysis/profile.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.9g, expected %.9g", value, expected);
}

/* Measurements of a profile; read() frees the profile. */
typedef struct {
    int n;
    lra_measurement f[LRA_PROFILE_MEASUREMENTS];
} numbers;

static numbers read(lra_profile *p)
{
    numbers x;
    x.n = lra_profile_measurements(p, &(lra_profile_options){.key = 7}, x.f);
    assert_in_range(x.n, 1, LRA_PROFILE_MEASUREMENTS);
    lra_profile_free(p);
    return x;
}

static const lra_measurement *find(const numbers *x, const char *id)
{
    const lra_measurement *f = lra_measurement_find(x->n, x->f, id);
    if (!f) fail_msg("there is no '%s'", id);
    return f;
}
static double value(const numbers *x, const char *id)
{
    return find(x, id)->value;
}

/* Measures the profile of one example with a single row. */
static numbers one_row(int64_t T, int64_t i, const double *w)
{
    lra_profile *p = lra_profile_new(T, 0);
    lra_profile_begin(p, T);
    lra_profile_row(p, i, 0, T, w);
    lra_profile_end(p);
    return read(p);
}

/* ---- known answers --------------------------------------------------------------------------- */

enum { T = 1024 };

static numbers equal_rows(bool causal)
{
    double w[T];
    lra_profile *p = lra_profile_new(T, 0);
    for (int j = 0; j < T; j++) w[j] = 3;
    lra_profile_begin(p, T);
    for (int i = 0; i < T; i++) lra_profile_row(p, i, 0, causal ? i + 1 : T, w);
    lra_profile_end(p);
    return read(p);
}

TEST(equal_weights)
{
    numbers x = equal_rows(false);
    near(value(&x, "range.mean"), 341.333, 5e-4);
    near(value(&x, "range.mean.rel"), 1, 1e-12);
    near(value(&x, "entropy.rel"), 1, 1e-12);
    near(value(&x, "support"), 1024, 1e-8);
    near(value(&x, "support.pr"), 1024, 1e-8);
    near(value(&x, "side"), 0, 1e-12);
    near(value(&x, "decay.kind"), LRA_DECAY_NONE, 0);
    assert_true(find(&x, "decay.kind")->flags & LRA_FLAT);
    near(find(&x, "range.mean")->null[LRA_NULL_UNIFORM], 341.333, 5e-4);
    x = equal_rows(true);
    near(value(&x, "range.mean"), 255.75, 1e-9);
    near(value(&x, "range.mean.rel"), 1, 1e-12);
    near(value(&x, "side"), 1, 1e-12);
    near(value(&x, "decay.kind"), LRA_DECAY_NONE, 0);
    near(value(&x, "decay.beta"), 0, 1e-9);
}

TEST(box)
{
    static const double expected[][2] = {{2, 1.2}, {15, 7.741935}, {30, 15.245902}};
    for (int k = 0; k < 3; k++) {
        int r = (int)expected[k][0];
        double w[201] = {0};
        for (int d = -r; d <= r; d++) w[100 + d] = 1;
        numbers x = one_row(201, 100, w);
        near(value(&x, "range.mean"), expected[k][1], 1e-6);
        near(value(&x, "range.q99"), r, 0);
        near(value(&x, "side"), 0, 1e-12);
    }
}

/* Weights 0.98^d backward, over so many inputs that the tail beyond them is negligible. */
TEST(exponential)
{
    enum { LONG = 1500 };
    double w[LONG];
    for (int j = 0; j < LONG; j++) w[j] = pow(0.98, LONG - 1 - j);
    numbers x = one_row(LONG, LONG - 1, w);
    near(value(&x, "range.mean"), 49, 1e-6);
    near(value(&x, "range.q50"), 34, 0);
    near(value(&x, "range.q90"), 113, 0);
    near(value(&x, "range.q95"), 148, 0);
    near(value(&x, "range.q99"), 227, 0);
    near(value(&x, "support"), 134.5527, 1e-4);
    near(value(&x, "support.pr"), 99, 1e-6);
    near(value(&x, "decay.tau"), 49.4983, 1e-4);
    near(value(&x, "decay.kind"), LRA_DECAY_EXP, 0);
    near(value(&x, "side"), 1, 1e-12);
    near(value(&x, "local.0"), 0.02, 1e-9);
    near(value(&x, "local.10"), 1 - pow(0.98, 11), 1e-9);
}

/* Weights: a box of half width r, convolved n times. */
static numbers boxes(int n, int r)
{
    enum { SIZE = 512, HALF = 256 };
    static double w[SIZE], next[SIZE];
    memset(w, 0, sizeof w);
    w[HALF] = 1;
    for (int k = 0; k < n; k++) {
        memset(next, 0, sizeof next);
        for (int i = r; i < SIZE - r; i++)
            for (int d = -r; d <= r; d++) next[i] += w[i + d] / (2 * r + 1);
        memcpy(w, next, sizeof w);
    }
    return one_row(SIZE, HALF, w);
}

TEST(stacked_boxes)
{
    static const char *const id[] = {"range.q50", "range.q90", "range.q95", "range.q99"};
    static const double wide[] = {30, 71, 84, 107}, small[] = {2, 5, 5, 7};
    numbers x = boxes(6, 30), y = boxes(4, 2);
    near(value(&x, "range.mean"), 34.7059, 1e-4);
    near(value(&y, "range.mean"), 2.2656, 1e-4);
    for (int q = 0; q < 4; q++) {
        near(value(&x, id[q]), wide[q], 0);
        near(value(&y, id[q]), small[q], 0);
    }
}

TEST(delay)
{
    double w[64] = {0};
    w[20] = 1;
    numbers x = one_row(64, 37, w);
    near(value(&x, "range.q50"), 17, 0);
    near(value(&x, "range.q99"), 17, 0);
    near(value(&x, "side"), 1, 0);
    near(value(&x, "entropy"), 0, 0);
    near(value(&x, "support.pr"), 1, 0);
}

TEST(power_law)
{
    double w[300];
    for (int j = 0; j < 300; j++) w[j] = pow(300 - j, -1.5) * (1 + 0.01 * (j % 3));
    numbers x = one_row(300, 300, w); /* the weights are at distances 1 to 300 */
    near(value(&x, "decay.beta"), 1.5, 0.01);
    near(value(&x, "decay.kind"), LRA_DECAY_POWER, 0);
}

TEST(undefined_rows)
{
    double w[8] = {0}, bad[8] = {1, NAN}, good[8] = {0, 0, 0, 1};
    lra_profile *p = lra_profile_new(8, 0);
    lra_profile_begin(p, 8);
    lra_profile_row(p, 1, 0, 8, w);
    lra_profile_row(p, 2, 0, 8, bad);
    lra_profile_row(p, 3, 0, 8, good);
    lra_profile_end(p);
    numbers x = read(p);
    near(value(&x, "range.mean"), 0, 0);
    assert_int_equal(find(&x, "range.mean")->undefined, 2);
}

/* Rows with a single input have no relative entropy. An example with only such rows is not counted
 * in the mean. */
TEST(single_inputs)
{
    double one[2] = {1, -1}, equal[2] = {1, 1};
    lra_profile *p = lra_profile_new(2, 0);
    for (int b = 0; b < 3; b++) {
        lra_profile_begin(p, 2);
        lra_profile_row(p, 0, 0, 2, b == 1 ? one : equal);
        lra_profile_end(p);
    }
    numbers x = read(p);
    near(value(&x, "entropy.rel"), 1, 1e-12);
    near(find(&x, "entropy.rel")->lo, 1, 1e-12);
    near(value(&x, "entropy"), 2.0 / 3 * log(2), 1e-12);
}

/* ---- lengths, masks, sums -------------------------------------------------------------------- */

/* Equal weights in one direction, with examples of different lengths: no decay is reported, and the
 * far half has the weight of the baseline. */
TEST(mixed_lengths)
{
    double w[200];
    lra_profile *p = lra_profile_new(200, 0);
    for (int j = 0; j < 200; j++) w[j] = 1;
    for (int b = 0; b < 6; b++) {
        int length = 40 + 30 * b;
        lra_profile_begin(p, length);
        for (int i = 0; i < length; i++) lra_profile_row(p, i, 0, i + 1, w);
        lra_profile_end(p);
    }
    double rel[200];
    lra_profile_curves(p, NULL, NULL, rel, NULL, NULL);
    for (int d = 0; d < 190; d++) near(rel[d], 1, 1e-12);
    numbers x = read(p);
    near(value(&x, "range.mean.rel"), 1, 1e-12);
    near(value(&x, "decay.kind"), LRA_DECAY_NONE, 0);
    near(find(&x, "far.half")->value, find(&x, "far.half")->null[LRA_NULL_UNIFORM], 1e-12);
}

static double noise(lra_rng *r)
{
    return 0.1 + lra_rng_u01(r);
}

/* A profile of single rows equals that of their sums, for masks that are ranges and masks that have
 * holes. */
static void sums_are_rows(int64_t columns, bool causal)
{
    enum { N = 48 };
    lra_rng rng = lra_rng_new(3, 1, 0);
    lra_profile *rows = lra_profile_new(N, columns), *sums = lra_profile_new(N, columns);
    for (int b = 0; b < 3; b++) {
        int length = columns ? N : N - 7 * b;
        double mass[N] = {0}, other[N] = {0}, past = 0, future = 0, self = 0;
        double entropy = 0, rel = 0, squares = 0;
        lra_profile_mask *m = lra_profile_mask_new(length, columns);
        for (int i = 0; i < length; i++) lra_profile_mask_row(m, i, 0, causal ? i + 1 : length);
        lra_profile_begin(rows, length);
        for (int i = 0; i < length; i++) {
            double w[N], sum = 0, own = 0, square = 0;
            int n = causal ? i + 1 : length;
            for (int j = 0; j < n; j++) sum += w[j] = noise(&rng);
            double others = 1 - w[i] / sum;
            for (int j = 0; j < n; j++) {
                double x = w[j] /= sum;
                mass[lra_profile_distance(columns, i, j)] += x;
                if (j != i) other[lra_profile_distance(columns, i, j)] += x / others;
                if (j < i) past += x;
                if (j > i) future += x;
                own -= x * log(x), square += x * x;
            }
            entropy += own / length, squares += 1 / square / length;
            if (n > 1) self += w[i] / (double)m->n_other; /* w is already normalized here */
            if (n > 1) rel += own / log(n) / (double)(m->n_rows - m->n_single);
            lra_profile_row(rows, i, 0, n, w);
        }
        lra_profile_end(rows);
        lra_profile_add(sums, &(lra_profile_sums){.mask = m,
                                                  .mass = mass,
                                                  .other = other,
                                                  .self = self,
                                                  .past = past / length,
                                                  .future = future / length,
                                                  .entropy = entropy,
                                                  .entropy_rel = rel,
                                                  .participation = squares});
        lra_profile_mask_free(m);
    }
    numbers x = read(rows), y = read(sums);
    assert_int_equal(x.n, y.n);
    for (int k = 0; k < x.n; k++) {
        assert_string_equal(x.f[k].id, y.f[k].id);
        const double a[] = {x.f[k].value, x.f[k].lo, x.f[k].hi, x.f[k].null[0]};
        const double b[] = {y.f[k].value, y.f[k].lo, y.f[k].hi, y.f[k].null[0]};
        for (int c = 0; c < 4; c++)
            if (!(isnan(a[c]) && isnan(b[c])) && !(isinf(a[c]) && isinf(b[c])))
                near(a[c], b[c], 1e-5 * (1 + fabs(a[c])));
    }
}

TEST(sums_of_rows)
{
    sums_are_rows(0, false);
    sums_are_rows(0, true);
    sums_are_rows(8, false);
    sums_are_rows(8, true);
}

TEST(masks)
{
    lra_profile_mask *a = lra_profile_mask_new(20, 0), *b = lra_profile_mask_new(20, 0);
    static const int range[][3] = {{5, 3, 9}, {5, 8, 12}, {15, 3, 9}, {0, 0, 1}, {19, 0, 20}};
    for (int k = 0; k < 5; k++) {
        uint8_t allowed[20] = {0};
        for (int j = range[k][1]; j < range[k][2]; j++) allowed[j] = 1;
        lra_profile_mask_row(a, range[k][0], range[k][1], range[k][2]);
        lra_profile_mask_holes(b, range[k][0], allowed);
    }
    for (int d = 0; d < 20; d++) {
        near(a->pairs[d], b->pairs[d], 0);
        near(a->equal[d], b->equal[d], 1e-12);
        near(a->reach[d], b->reach[d], 0);
    }
    near(a->past, b->past, 1e-12);
    near(a->future, b->future, 1e-12);
    near(a->log_keys, b->log_keys, 1e-12);
    assert_int_equal(a->n_single, 1);
    lra_profile_mask_free(a);
    lra_profile_mask_free(b);
}

/* In an image of 8 columns the pixel below has the distance 1 in pixels and 8 in tokens. */
TEST(grids)
{
    double w[64] = {0};
    w[20 + 8] = 1;
    lra_profile *p = lra_profile_new(64, 8), *q = lra_profile_new(64, 0);
    lra_profile_period(q, 8);
    for (int b = 0; b < 2; b++) {
        lra_profile *x = b ? q : p;
        lra_profile_begin(x, 64);
        w[20 + 7] = w[20 + 9] = b ? 0.25 : 0;
        lra_profile_row(x, 20, 0, 64, w);
        lra_profile_end(x);
    }
    numbers x = read(p), y = read(q);
    near(value(&x, "range.q99"), 1, 0);
    assert_string_equal(find(&x, "range.q99")->unit, "pixels");
    near(value(&y, "range.q50"), 8, 0);
    near(value(&y, "periodic.p"), 4, 1e-12);
    /* The identifiers are among those accepted by readers of files
     * (reports/results/check_names.h). */
    for (int i = 0; i < y.n; i++)
        assert_int_equal(strspn(y.f[i].id, "abcdefghijklmnopqrstuvwxyz0123456789-_.:+"),
                         strlen(y.f[i].id));
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* Examples with exponential weights backward, each with its own decay; used to count how often
 * intervals contain the value of 1,500 examples. */
static lra_profile *noisy(int n, uint64_t seed)
{
    enum { N = 96 };
    double w[N];
    lra_profile *p = lra_profile_new(N, 0);
    for (int b = 0; b < n; b++) {
        lra_rng rng = lra_rng_new(seed, 2, (uint64_t)b);
        double tau = 6 + 10 * lra_rng_u01(&rng), level = noise(&rng);
        for (int j = 0; j < N; j++) w[j] = level * exp(-(N - 1 - j) / tau);
        lra_profile_begin(p, N);
        lra_profile_row(p, N - 1, 0, N, w);
        lra_profile_end(p);
    }
    return p;
}

TEST(coverage)
{
    static const char *const id[] = {"range.mean", "range.mean.rel", "entropy",  "support.pr",
                                     "local.10",   "range.q90",      "decay.tau"};
    enum { IDS = sizeof id / sizeof *id, SETS = 60 };
    numbers truth = read(noisy(1500, 1));
    int held[IDS] = {0};
    for (int s = 0; s < SETS; s++) {
        numbers x = read(noisy(40, 100 + (uint64_t)s));
        for (int k = 0; k < IDS; k++) {
            const lra_measurement *f = find(&x, id[k]);
            held[k] += f->lo <= value(&truth, id[k]) && value(&truth, id[k]) <= f->hi;
            assert_true(f->lo <= f->value && f->value <= f->hi);
        }
    }
    /* the expected number is 95 % of 60 = 57, with a standard deviation of 1.7 */
    for (int k = 0; k < IDS; k++)
        if (held[k] < 51) fail_msg("'%s': %d of %d intervals hold", id[k], held[k], SETS);
}

TEST(seeds)
{
    lra_measurement f[3];
    for (int k = 0; k < 3; k++) {
        f[k] = lra_measurement_of("dist.mean", 1 + k);
        f[k].lo = k - 2, f[k].hi = k + 4;
    }
    lra_measurement all = lra_measurement_of_seeds(3, f);
    double t = 4.302652729911275 / sqrt(3);
    near(all.value, 2, 1e-12);
    near(all.lo, 2 - sqrt(9 + t * t), 1e-9);
    near(all.hi, 2 + sqrt(9 + t * t), 1e-9);
    assert_int_equal(all.seeds, 3);
    assert_false(all.flags & (LRA_ONE_SEED | LRA_FEW_SEEDS));
    for (int k = 0; k < 3; k++) f[k].lo = f[k].hi = NAN; /* measurements without intervals */
    all = lra_measurement_of_seeds(3, f);
    near(all.hi, 2 + t, 1e-9);
    assert_true(all.flags & LRA_FEW_SEEDS);
    all = lra_measurement_of_seeds(1, f);
    assert_true(isnan(all.hi) && (all.flags & LRA_ONE_SEED));
}

/* ---- decay and shift ------------------------------------------------------------------------- */

TEST(kendall)
{
    static const double falls[] = {5, 4, 3, 2, 1}, mixed[] = {5, 3, 4, 2, 1},
                        level[] = {1, 1, 1, 1, 1}, ties[] = {5, 4, 4, 2, 1},
                        rises[] = {1, 2, 3, 4, 5};
    lra_kendall_null *k = lra_kendall_null_new(5);
    near(lra_kendall_falling(k, falls).tau, -1, 1e-12);
    near(lra_kendall_falling(k, falls).p, 1 / 120., 1e-12);
    near(lra_kendall_falling(k, mixed).tau, -0.8, 1e-12);
    near(lra_kendall_falling(k, mixed).p, 5 / 120., 1e-12);
    near(lra_kendall_falling(k, ties).tau, -0.9486833, 1e-6);
    near(lra_kendall_falling(k, ties).p, 5 / 120., 1e-12);
    near(lra_kendall_falling(k, rises).p, 1, 1e-12);
    near(lra_kendall_falling(k, level).p, 1, 0);
    lra_kendall_null_free(k);
    double y[64];
    k = lra_kendall_null_new(64);
    for (int i = 0; i < 64; i++) y[i] = -(i % 2 ? i : 63 - i);
    double p = lra_kendall_falling(k, y).p;
    assert_true(p > 0.3 && p < 0.7);
    lra_kendall_null_free(k);
}

/* p-value by all 7! orders of seven numbers. */
static double by_all_orders(const double *y)
{
    enum { N = 7 };
    int order[N] = {0}, falls = 0, least = 0, all = 0;
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++) falls += y[j] < y[i];
    for (int code = 0; code < 5040; code++) {
        double x[N];
        for (int i = 0, rest = code; i < N; i++) order[i] = rest % (i + 1), rest /= i + 1;
        for (int i = 0; i < N; i++) { /* inserts element i at place order[i] */
            for (int m = i; m > order[i]; m--) x[m] = x[m - 1];
            x[order[i]] = y[i];
        }
        int found = 0;
        for (int i = 0; i < N; i++)
            for (int j = i + 1; j < N; j++) found += x[j] < x[i];
        least += found >= falls, all++;
    }
    return (double)least / all;
}

/* With zeros at most lags, a decay is still detected, and a random order is not taken for one. */
TEST(kendall_with_zeros)
{
    static const double y[][7] = {{4, 3, 2, 0, 0, 0, 0}, {4, 2, 3, 0, 0, 0, 0},
                                  {0, 3, 2, 0, 1, 0, 0}, {0, 0, 0, 0, 1, 2, 3},
                                  {3, 0, 2, 1, 0, 5, 4}, {1, 0, 0, 0, 0, 0, 0}};
    lra_kendall_null *k = lra_kendall_null_new(7);
    near(lra_kendall_falling(k, y[0]).p, 24 / 5040., 1e-12);
    for (int i = 0; i < 6; i++) near(lra_kendall_falling(k, y[i]).p, by_all_orders(y[i]), 1e-12);
    lra_kendall_null_free(k);
    double x[64] = {0};
    k = lra_kendall_null_new(64);
    for (int i = 0; i < 20; i++) x[i] = exp(-i);
    assert_true(lra_kendall_falling(k, x).p < 1e-20);
    /* of random orders with 44 zeros, about 5 % have a p-value below 0.05 */
    lra_rng r = lra_rng_new(3, 0, 0);
    int found = 0;
    for (int run = 0; run < 400; run++) {
        for (int i = 63; i > 0; i--) {
            int j = (int)(lra_rng_u01(&r) * (i + 1));
            double swap = x[i];
            x[i] = x[j], x[j] = swap;
        }
        found += lra_kendall_falling(k, x).p < 0.05;
    }
    assert_in_range(found, 5, 40);
    lra_kendall_null_free(k);
}

TEST(shift)
{
    const double a[] = {1, 0, 0, 0}, b[] = {0, 0, 0.5, 0.5};
    near(lra_shift_w1(4, a, b), 2.5, 1e-12);
    near(lra_shift_js(4, a, b), 1, 1e-12);
    near(lra_shift_js(4, a, a), 0, 0);
    lra_profile *p = noisy(30, 5), *q = noisy(30, 6);
    lra_measurement f[2];
    assert_int_equal(lra_profile_shift(p, q, &(lra_profile_options){.key = 1}, f), 2);
    for (int k = 0; k < 2; k++) assert_true(f[k].lo <= f[k].value && f[k].value <= f[k].hi);
    assert_true(f[0].lo < 1 && f[0].value > 0);
    lra_profile_shift(p, p, &(lra_profile_options){.key = 1}, f);
    near(f[0].hi, 0, 1e-6);
    lra_profile_free(p);
    lra_profile_free(q);
}

/* Examples of equal weights, except that keys at distance `one` (odd examples) or `other` (even
 * examples) have five times the weight. */
static lra_profile *peaked(int64_t n, int64_t one, int64_t other)
{
    lra_profile *p = lra_profile_new(n, 0);
    double *w = lra_alloc_array((size_t)n, sizeof *w);
    for (int e = 0; e < 20; e++) {
        int64_t back = e % 2 ? one : other;
        lra_profile_begin(p, n);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) w[j] = i - j == back ? 5 : 1;
            lra_profile_row(p, i, 0, n, w);
        }
        lra_profile_end(p);
    }
    lra_free(w);
    return p;
}

/* Peaks of mass and of intensity, in bins of one distance and of several. */
TEST(peaks)
{
    static const int64_t at[][2] = {{5, 5}, {5, 9}, {100, 100}, {20, 100}};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++)
        for (int by = 0; by < 2; by++) {
            lra_profile *p = peaked(240, at[k][0], at[k][1]), *q = peaked(240, -1, -1);
            lra_measurement f = lra_profile_peak(q, p, by, &(lra_profile_options){.key = 1});
            assert_true(f.value == (double)at[k][0] || f.value == (double)at[k][1]);
            near(f.lo, (double)at[k][0], 0);
            near(f.hi, (double)at[k][1], 0);
            near(f.null[LRA_NULL_UNIFORM], 60.5, 0);
            assert_string_equal(f.id, "shift.peak");
            assert_int_equal(f.examples, 20);
            lra_profile_free(p);
            lra_profile_free(q);
        }
}

/* The difference of two profiles is shift.js with its interval; that of three is the mean over the
 * three pairs. */
TEST(differences)
{
    lra_profile *p[] = {noisy(60, 5), noisy(60, 6), noisy(60, 7)};
    const lra_profile *two[] = {p[0], p[1]}, *three[] = {p[0], p[1], p[2]};
    lra_measurement f[2], x = lra_profile_difference(2, two, "head.js", 1);
    lra_profile_shift(p[0], p[1], &(lra_profile_options){.key = 1}, f);
    near(x.value, f[1].value, 1e-12);
    near((x.hi - x.lo) / (f[1].hi - f[1].lo), 1, 0.2);
    assert_string_equal(x.id, "head.js");
    assert_int_equal(x.examples, 60);
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        lra_profile_shift(p[k], p[(k + 1) % 3], &(lra_profile_options){.key = 1}, f);
        sum += f[1].value / 3;
    }
    x = lra_profile_difference(3, three, "head.js", 1);
    near(x.value, sum, 1e-12);
    assert_true(x.lo < x.value && x.value < x.hi);
    assert_true(isnan(lra_profile_difference(1, two, "head.js", 1).value));
    for (int k = 0; k < 3; k++) lra_profile_free(p[k]);
}
