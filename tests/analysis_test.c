/* Statistics against known answers: intervals, tests, the published ladders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "analysis/ladder.h"
#include "kernels/base/mem.h"
#include "kernels/base/philox.h"

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.6f, expected %.6f", value, expected);
}

static void wilson(void **state)
{
    (void)state;
    lra_estimate a = lra_wilson(1260, 2000, 0.95); /* 63 % of 2,000: +- 2.1 points */
    near((a.hi - a.lo) / 2, 0.0211, 0.0001);
    lra_estimate b = lra_wilson(3111.3, 3457, 0.95); /* 90 %: +- 1 point */
    near((b.hi - b.lo) / 2, 0.01, 0.0001);
    lra_estimate c = lra_wilson(0, 10, 0.95);
    near(c.lo, 0, 1e-12);
    near(c.hi, 0.2775, 0.0001);
}

static void percentiles(void **state)
{
    (void)state;
    double x[41];
    for (int i = 0; i <= 40; i++) x[i] = 40 - i;
    lra_estimate e = lra_percentile(20, 41, x, 0.95);
    near(e.lo, 1, 1e-12);
    near(e.hi, 39, 1e-12);
    for (int i = 38; i <= 40; i++) x[i] = INFINITY; /* a threshold that was not reached */
    e = lra_percentile(20, 41, x, 0.95);
    near(e.lo, 1, 1e-12);
    assert_true(isinf(e.hi));
}

static void t_interval(void **state)
{
    (void)state;
    const double x[] = {0.60, 0.61, 0.62}; /* sd 0.01, t(2, .975) = 4.302653 */
    lra_estimate e = lra_t_interval(3, x, 0.95);
    near(e.value, 0.61, 1e-12);
    near(e.hi - e.value, 4.302653 * 0.01 / sqrt(3), 1e-7);
}

static void mcnemar(void **state)
{
    (void)state;
    near(lra_mcnemar(1, 9), 0.021484375, 1e-12); /* 2 (1 + 10)/1024 */
    near(lra_mcnemar(5, 5), 1, 0);
    near(lra_mcnemar(0, 0), 1, 0);
}

/* Table 1 of the locality paper: accuracies of kernels 5 7 11 21 31 61, and MEGA's. */
typedef struct {
    const char *task;
    int layers, T;
    double chance, accuracy[6], mega, li, li_raw;
} published;

static const published table[] = {
    {"image", 6, 1024, 10, {46.63, 49.05, 64.47, 70.25, 79.84, 83.62}, 90.44, 0.764, 0.764},
    {"pathfinder", 6, 1024, 50, {51.80, 51.42, 51.56, 52.01, 51.20, 72.28}, 96.01, 0.214, 0.21},
    {"text", 4, 4096, 50, {88.96, 90.61, 90.56, 90.26, 89.33, 85.41}, 90.43, 0.998, 0.924},
    {"retrieval", 4, 4096, 50, {90.32, 90.48, 90.41, 89.71, 89.46, 89.04}, 91.25, 0.981, 0.957},
    {"listops", 6, 2000, 10, {45.24, 49.26, 50.59, 52.28, 52.93, 52.73}, 63.14, 0.783, 0.781},
};

static void published_ladder_of(const published *p, lra_ladder *out)
{
    static const int kernels[] = {5, 7, 11, 21, 31, 61};
    lra_ladder_data d = {.n_rungs = 6, .n_seeds = 1, .T = p->T, .chance = p->chance / 100};
    d.reference = p->mega / 100;
    for (int r = 0; r < 6; r++)
        d.rung[r] = (lra_rung){.kernel = kernels[r],
                               .reach = p->layers * (kernels[r] - 1) / 2,
                               .accuracy = p->accuracy[r] / 100};
    assert_int_equal(lra_ladder_compute(&d, out), 0);
}

static void published_ladders(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        lra_ladder l;
        published_ladder_of(&table[i], &l);
        near(l.li.value, table[i].li, 0.001);
        near(l.li_raw.value, table[i].li_raw, 0.001);
    }
}

static void philox_words(uint64_t key, uint64_t replicate, int64_t n, uint32_t *out)
{
    lra_rng r = lra_rng_new(key, 1, replicate);
    for (int64_t i = 0; i < n; i++) out[i] = lra_rng_u32(&r);
}

/* A ladder of two seeds whose rungs are right on growing shares of the examples. */
static void fill_ladder(lra_ladder_data *d, uint8_t *right, int64_t n)
{
    static const double share[] = {0.2, 0.4, 0.6, 0.6};
    *d = (lra_ladder_data){.n_rungs = 4,
                           .n_seeds = 2,
                           .n = n,
                           .T = 64,
                           .chance = 0.2,
                           .reference = NAN,
                           .n_replicates = 400,
                           .words = philox_words};
    for (int r = 0; r < 4; r++) {
        d->rung[r].kernel = 2 * r + 1;
        d->rung[r].reach = r == 3 ? 100 : r * 4;
        for (int s = 0; s < 2; s++) {
            uint8_t *row = right + (r * 2 + s) * n;
            for (int64_t i = 0; i < n; i++) row[i] = (double)i < share[r] * (double)n;
            d->rung[r].correct[s] = row;
        }
    }
}

static void a_ladder_with_examples(void **state)
{
    (void)state;
    enum { N = 1000 };
    uint8_t *right = lra_alloc(8 * N);
    lra_ladder_data d;
    lra_ladder l, again;
    fill_ladder(&d, right, N);
    assert_int_equal(lra_ladder_compute(&d, &l), 0);
    assert_true(l.row[0].null_row && !l.row[1].null_row);
    assert_int_equal(l.row[3].reach, 64);
    near(l.row[1].gain.value, 0.5, 1e-12);
    near(l.li.value, (0.5 * 1 + 1 * 3) / 4, 1e-12); /* 4..8, 8..64 of 4..64 in octaves */
    near(l.row[1].accuracy.hi - l.row[1].accuracy.lo, 2 * 1.96 * sqrt(.24 / N), 0.006);
    near(l.radius[0].value, exp2(2 + (0.59 - 0.4) / 0.2), 1e-9);
    assert_true(l.radius[0].lo < l.radius[0].value && l.radius[0].value < l.radius[0].hi);
    d.reference = 0.7; /* nothing comes near: the radius lies beyond T */
    assert_int_equal(lra_ladder_compute(&d, &again), 0);
    assert_true(isinf(again.radius[2].value) && isinf(again.radius[2].hi));
    d.reference = NAN;
    assert_true(l.widest_minus_narrowest.lo > 0.15);
    assert_int_equal(lra_ladder_compute(&d, &again), 0);
    assert_memory_equal(&l, &again, sizeof l); /* the same draws */
    lra_free(right);
}

static void a_reference_at_chance_measures_nothing(void **state)
{
    (void)state;
    enum { N = 100 };
    uint8_t *right = lra_alloc(8 * N);
    lra_ladder_data d;
    lra_ladder l;
    fill_ladder(&d, right, N);
    d.chance = 0.6;
    assert_int_equal(lra_ladder_compute(&d, &l), 0);
    assert_true(isnan(l.li.value) && isnan(l.li.hi) && isnan(l.row[1].gain.value));
    near(l.row[1].accuracy.value, 0.4, 1e-12);
    lra_free(right);
}

static void equal_reach_is_refused(void **state)
{
    (void)state;
    lra_ladder_data d = {.n_rungs = 2, .n_seeds = 1, .T = 32, .chance = 0.1, .reference = 0.5};
    lra_ladder l;
    d.rung[0] = (lra_rung){.kernel = 23, .reach = 33};
    d.rung[1] = (lra_rung){.kernel = 31, .reach = 45};
    assert_int_equal(lra_ladder_compute(&d, &l), LRA_LADDER_EQUAL_REACH);
    assert_int_equal(l.row[0].kernel, 23);
    assert_int_equal(l.row[1].kernel, 31);
    d.n_rungs = 0;
    assert_int_equal(lra_ladder_compute(&d, &l), LRA_LADDER_EMPTY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wilson),
        cmocka_unit_test(percentiles),
        cmocka_unit_test(t_interval),
        cmocka_unit_test(mcnemar),
        cmocka_unit_test(published_ladders),
        cmocka_unit_test(a_ladder_with_examples),
        cmocka_unit_test(a_reference_at_chance_measures_nothing),
        cmocka_unit_test(equal_reach_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
