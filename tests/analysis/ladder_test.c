/* Ladders against known answers: the published tables, and cases in which an index must not be
 * given. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "analysis/ladder.h"
#include "kernels/base/core/philox.h"

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.6f, expected %.6f", value, expected);
}

/* Table 1 of the locality paper: accuracies for kernel sizes 5, 7, 11, 21, 31, 61, and those of
 * MEGA. */
typedef struct {
    const char *task;
    int layers, T;
    double chance, accuracy[6], mega, li, li_raw;
} published;

static const published table[] = {
    {"image", 6, 1024, 10, {46.63, 49.05, 64.47, 70.25, 79.84, 83.62}, 90.44, 0.764, 0.764},
    {"pathfinder", 6, 1024, 50, {51.80, 51.42, 51.56, 52.01, 51.20, 72.28}, 96.01, 0.214, 0.21},
    {"text", 4, 4096, 50, {88.96, 90.61, 90.56, 90.26, 89.33, 85.41}, 90.43, 0.998, 0.925},
    {"retrieval", 4, 4096, 50, {90.32, 90.48, 90.41, 89.71, 89.46, 89.04}, 91.25, 0.981, 0.957},
    {"listops", 6, 2000, 10, {45.24, 49.26, 50.59, 52.28, 52.93, 52.73}, 63.14, 0.783, 0.781},
};

static void published_ladder_of(const published *p, lra_ladder *out)
{
    static const int kernels[] = {5, 7, 11, 21, 31, 61};
    lra_ladder_data d = {.n_rungs = 6, .n_seeds = 1, .T = p->T, .chance = p->chance / 100};
    d.kind = LRA_REFERENCE_NUMBER;
    d.reference = p->mega / 100;
    for (int r = 0; r < 6; r++)
        d.rung[r] = (lra_rung){.kernel = kernels[r],
                               .reach = p->layers * (kernels[r] - 1) / 2,
                               .accuracy = p->accuracy[r] / 100};
    assert_int_equal(lra_ladder_compute(&d, out), 0);
}

TEST(published_ladders)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        lra_ladder l;
        published_ladder_of(&table[i], &l);
        near(l.li.value, table[i].li, 0.001);
        near(l.li_raw.value, table[i].li_raw, 0.001);
    }
}

/* ---- ladders of made-up examples ------------------------------------------------------------- */

enum { RUNGS = 6, SEEDS = 5, N = 2000, T = 64 };

/* Rungs of increasing reach; the seeds of a rung are right on a given share of the examples: the
 * first ones, except for a share `luck` of random ones. */
typedef struct {
    lra_ladder_data data;
    uint8_t right[RUNGS][SEEDS][N], chance[N];
} made;
static made m;

static void make(int n_rungs, const int64_t *reach, const double *share, int n_seeds, double luck)
{
    m.data = (lra_ladder_data){.n_rungs = n_rungs,
                               .n_seeds = n_seeds,
                               .n = N,
                               .T = T,
                               .chance_correct = m.chance,
                               .n_replicates = 2000};
    /* 20 % of the examples, independent of the rungs */
    for (int i = 0; i < N; i++) m.chance[i] = (i * 7) % 10 < 2;
    for (int r = 0; r < n_rungs; r++) {
        m.data.rung[r] = (lra_rung){.kernel = 2 * r + 1, .reach = reach[r]};
        for (int s = 0; s < n_seeds; s++) {
            lra_rng rng = lra_rng_new((uint64_t)r, 3, (uint64_t)s);
            for (int i = 0; i < N; i++) {
                bool lucky = lra_rng_u01(&rng) < luck;
                double place = lucky ? lra_rng_u01(&rng) : (i * 3 % N + 0.5) / N;
                m.right[r][s][i] = place < share[r];
            }
            m.data.rung[r].correct[s] = m.right[r][s];
        }
    }
}

TEST(a_ladder)
{
    lra_ladder l, again;
    make(4, (int64_t[]){0, 4, 8, 100}, (double[]){0.2, 0.4, 0.6, 0.6}, 2, 0);
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    assert_true(l.row[0].null_row && !l.row[1].null_row);
    assert_int_equal(l.row[3].reach, T);
    near(l.row[1].gain.value, 0.5, 1e-9);
    /* The rung is right on the same rows as the reference: 0 of N differ, and the Wilson interval
     * of 0 of N is the half width. */
    double none_of_all = lra_wilson(0, N, 0.95).hi / 0.4;
    near(l.row[2].gain.hi - 1, none_of_all, 1e-9);
    near(1 - l.row[2].gain.lo, none_of_all, 1e-9);
    /* the gain of the reference is 1 by definition */
    assert_true(l.row[3].gain.lo == 1 && l.row[3].gain.hi == 1);
    /* 4 to 8 is 1 octave, 8 to 64 are 3 octaves, and 4 to 64 are 4 octaves */
    near(l.li.value, (0.5 * 1 + 1 * 3) / 4, 1e-9);
    assert_true(l.li.lo < l.li.value && l.li.value < l.li.hi);
    near(l.radius[0].value, exp2(2 + (0.59 - 0.4) / 0.2), 1e-9);
    assert_true(l.radius[0].lo < l.radius[0].value && l.radius[0].value < l.radius[0].hi);
    near(l.widest_minus_narrowest.value, 0.2, 1e-9);
    assert_true(l.widest_minus_narrowest.lo > 0.15);
    near(l.slope.value, (-5.0 / 3 * 0.4 - 2.0 / 3 * 0.6 + 7.0 / 3 * 0.6) / (25 + 4 + 49) * 9, 1e-9);
    near(l.sufficient[0].reach, 8, 0);
    assert_true(!l.span && l.extrapolated == 0 && !l.one_seed);
    assert_int_equal(lra_ladder_compute(&m.data, &again), 0);
    assert_memory_equal(&l, &again, sizeof l); /* the same seed gives the same bootstrap samples */
}

/* A reach of T - 1 positions to each side includes the entire input. */
TEST(all_but_one_is_all)
{
    lra_ladder l;
    make(2, (int64_t[]){4, T - 1}, (double[]){0.4, 0.6}, 3, 0.3);
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    assert_int_equal(l.row[1].reach, T);
    assert_false(l.span);
    m.data.rung[1].reach = T - 2;
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    assert_true(l.span);
}

/* If the reference is not clearly above chance, there is no index and there are no gains. */
TEST(at_chance)
{
    static const double share[][3] = {{0.2, 0.2, 0.2}, {0.2, 0.21, 0.212}, {0.2, 0.2, 0.1}};
    for (int k = 0; k < 3; k++) {
        lra_ladder l;
        make(3, (int64_t[]){4, 16, 64}, share[k], 3, 1);
        assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
        assert_int_equal(l.state, LRA_LI_AT_CHANCE);
        assert_true(isnan(l.li.value) && isnan(l.li.lo) && isnan(l.row[1].gain.value) &&
                    isnan(l.radius[0].value));
        assert_true(l.row[1].accuracy.value > 0.15 && l.row[1].accuracy.lo < 0.21);
        assert_true(l.above_chance[0].lo <= 0.02 && l.above_chance[1].lo <= 0.02);
    }
}

/* A reference only just above chance is not sufficient: the half width must be less than half of
 * the difference from chance. */
TEST(clearly_above_chance)
{
    int n_given = 0, n_above = 0;
    for (int k = 0; k < 40; k++) {
        lra_ladder l;
        double share = 0.2 + 0.003 * k;
        make(2, (int64_t[]){4, 64}, (double[]){share, share}, 3, 1);
        m.data.n_replicates = 0;
        assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
        const lra_estimate *x = &l.reference_minus_chance;
        double half = (x->hi - x->lo) / 2;
        bool given = l.state == LRA_LI_GIVEN;
        if (given != (half < x->value / 2))
            fail_msg("%.4f +- %.4f: %s", x->value, half, given ? "given" : "at chance");
        n_given += given;
        n_above += !given && x->lo > 0;
    }
    assert_true(n_given > 5 && n_above > 3);
}

TEST(one_rung)
{
    static const int64_t reach[][2] = {{0, 20}, {0, T}};
    for (int k = 0; k < 2; k++) {
        lra_ladder l;
        make(2, reach[k], (double[]){0.3, 0.6}, 3, 0.3);
        assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
        assert_int_equal(l.state, LRA_LI_ONE_RUNG);
        assert_true(isnan(l.li.value) && isnan(l.slope.value) && isnan(l.radius[0].value));
        near(l.row[1].gain.value, 1, 1e-12);
        near(l.row[1].gain.lo, 1, 0); /* the gain of the reference is 1 by definition */
    }
}

/* A ladder whose widest rung does not see the entire input has an index over its own span. If a
 * reference outside of the ladder sees everything, the index is over T, and the extrapolated share
 * is reported. */
TEST(span_and_extrapolation)
{
    lra_ladder l;
    make(3, (int64_t[]){4, 8, 16}, (double[]){0.4, 0.5, 0.6}, 3, 0.3);
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    assert_true(l.span && l.end == 16);
    near(l.li.value, (l.row[0].gain.value + l.row[1].gain.value) / 2, 1e-9);
    m.data.kind = LRA_REFERENCE_NUMBER;
    m.data.reference = 0.8;
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    assert_true(!l.span && l.end == T);
    /* in octaves: 16..64 is 2 of the 4 of 4..64 */
    near(l.extrapolated, 0.5, 1e-12);
    /* no rung is close to the reference */
    assert_true(isinf(l.radius[2].value) && isinf(l.radius[2].hi));
    assert_true(isinf(l.sufficient[2].reach));
    static uint8_t best[N];
    for (int i = 0; i < N; i++) best[i] = i % 10 < 8;
    m.data.kind = LRA_REFERENCE_RUN;
    m.data.reference_correct = best;
    /* the reference sees more than the rungs, but not the entire input */
    m.data.reference_reach = 32;
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    assert_true(l.span && l.extrapolated == 0);
    m.data.reference_reach = -1;
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    assert_true(!l.span && l.extrapolated > 0 && l.one_seed == false);
}

/* The search for the sufficient reach starts at the widest rung and stops at the first rung that is
 * worse, even if a narrower one is not. */
TEST(sufficient_reach)
{
    lra_ladder l;
    make(6, (int64_t[]){2, 4, 8, 16, 32, 64}, (double[]){0.60, 0.60, 0.57, 0.60, 0.60, 0.60}, 2, 0);
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    near(l.sufficient[0].reach, 16, 0);
    near(l.sufficient[1].reach, 16, 0);
    near(l.sufficient[2].reach, 2, 0);
    assert_false(l.sufficient[0].unresolved);
    make(2, (int64_t[]){2, 64}, (double[]){0.60, 0.60}, 3, 1);
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    /* 2,000 examples are too few to resolve one percentage point */
    near(l.sufficient[0].reach, 64, 0);
    assert_true(l.sufficient[0].unresolved);
    /* A rung that is worse by 40 points is resolved, even if its interval is wide. */
    make(2, (int64_t[]){2, 64}, (double[]){0.5, 0.9}, 2, 1);
    for (int i = 0; i < N; i++) m.right[0][1][i] = m.right[0][1][i] || i % 40 == 0;
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    assert_true(l.above[0].hi < -0.2 && (l.above[0].hi - l.above[0].lo) / 2 > 0.01);
    assert_false(l.sufficient[0].unresolved);
    /* for three tasks the error probability is divided by three and intervals are wider */
    m.data.n_tasks = 3;
    lra_ladder of_three;
    make(2, (int64_t[]){2, 64}, (double[]){0.575, 0.60}, 3, 0.06);
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    near(l.sufficient[2].reach, 2, 0);
    m.data.n_tasks = 1000;
    assert_int_equal(lra_ladder_compute(&m.data, &of_three), 0);
    near(of_three.sufficient[2].reach, 64, 0);
}

/* The reference is the requested rung; wider rungs may be worse. */
TEST(another_rung)
{
    lra_ladder l;
    make(3, (int64_t[]){4, 16, 64}, (double[]){0.4, 0.6, 0.5}, 3, 0.3);
    m.data.kind = LRA_REFERENCE_RUNG;
    m.data.reference_rung = 1;
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    near(l.row[1].gain.value, 1, 1e-12);
    assert_true(l.row[2].gain.value < 0.9 && l.above[2].hi < 0 && isnan(l.above[1].value));
}

/* Seeds that did not learn are excluded from all values. */
TEST(failed_seeds)
{
    lra_ladder l;
    make(2, (int64_t[]){4, 64}, (double[]){0.5, 0.7}, 5, 0.2);
    for (int s = 1; s < 3; s++)
        for (int i = 0; i < N; i++) m.right[1][s][i] = m.chance[i];
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    assert_int_equal(l.row[1].n_learned, 3);
    assert_int_equal(l.row[0].n_learned, 5);
    near(l.row[1].accuracy.value, 0.7, 0.02);
    assert_true(l.row[1].accuracy.hi - l.row[1].accuracy.lo < 0.06);
    m.data.all_learned = true;
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    near(l.row[1].accuracy.value, 0.5, 0.02);
}

/* All seeds are used, even if the numbers of seeds differ between rungs. */
TEST(uneven_seeds)
{
    lra_ladder l;
    make(2, (int64_t[]){4, 64}, (double[]){0.5, 0.7}, 2, 0.3);
    m.data.rung[0].n_seeds = 1;
    assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
    assert_true(l.one_seed && l.row[0].n_seeds == 1 && l.row[1].n_seeds == 2 &&
                isnan(l.row[0].seed_sd));
}

/* No estimate is outside of its interval, for any shape of the curve: lra_ladder_compute() aborts
 * if one is. */
TEST(estimates_lie_in_their_intervals)
{
    for (int k = 0; k < 200; k++) {
        double share[RUNGS];
        lra_rng r = lra_rng_new(21, 1, (uint64_t)k);
        for (int i = 0; i < RUNGS; i++) share[i] = 0.25 + (k % 2 ? 0.02 : 0.6) * lra_rng_u01(&r);
        make(RUNGS, (int64_t[]){1, 4, 8, 9, 32, 64}, share, 1 + k % 3, lra_rng_u01(&r));
        m.data.n_replicates = 300;
        m.data.n = k % 5 ? N : 100;
        if (k % 7 == 0)
            m.data.kind = LRA_REFERENCE_NUMBER, m.data.reference = 0.3 + 0.5 * lra_rng_u01(&r);
        lra_ladder l;
        assert_int_equal(lra_ladder_compute(&m.data, &l), 0);
        if (l.state != LRA_LI_GIVEN) continue;
        assert_true(l.li.lo <= l.li.value && l.li.value <= l.li.hi && l.li.value <= 1);
        assert_true(l.li_raw.lo <= l.li_raw.value && l.li_raw.value <= l.li_raw.hi);
        /* The running maximum has a positive bias; no index is below 0. */
        assert_true(l.li.lo >= 0 && l.li.lo <= fmax(l.li_raw.lo, 0));
    }
}

/* Ladders of losses (a value for each row, of which less is better): examples and seeds vary as
 * they do for correct predictions. */
TEST(values_of_all_seeds_count)
{
    enum { ROWS = 600, TWO = 2 };
    static double row[TWO][TWO][ROWS], chance[ROWS];
    static const double level[TWO][TWO] = {{-1.5, -1.3}, {-0.72, -0.68}};
    lra_ladder_data d = {.n_rungs = TWO,
                         .n_seeds = TWO,
                         .n = ROWS,
                         .T = T,
                         .values = true,
                         .chance_row = chance,
                         .n_replicates = 2000};
    for (int i = 0; i < ROWS; i++) {
        double wave = i % 2 ? 0.1 : -0.1;
        chance[i] = -4 + wave;
        for (int r = 0; r < TWO; r++)
            for (int s = 0; s < TWO; s++) row[r][s][i] = level[r][s] + (s ? -wave : wave);
    }
    for (int r = 0; r < TWO; r++) {
        d.rung[r] = (lra_rung){.kernel = 3 + r, .reach = r ? T : 4};
        for (int s = 0; s < TWO; s++) d.rung[r].row[s] = row[r][s];
    }
    lra_ladder l;
    assert_int_equal(lra_ladder_compute(&d, &l), 0);
    near(l.row[0].accuracy.value, -1.4, 1e-12);
    near(l.row[1].accuracy.value, -0.7, 1e-12);
    near(l.row[0].seed_sd, 0.2 / sqrt(2), 1e-12);
    near(l.row[1].seed_sd, 0.04 / sqrt(2), 1e-12);
    near(l.row[0].gain.value, 2.6 / 3.3, 1e-12);
    /* The examples' deviations of the two seeds cancel: only the difference of the seeds remains,
     * and two seeds are few. */
    /* Student's t for one degree of freedom times the standard error, 0.2 / sqrt(2) / sqrt(2) */
    double of_two = 12.7062 * 0.1;
    near(l.row[0].accuracy.hi - l.row[0].accuracy.value, of_two, 1e-3);
    assert_true(l.row[0].gain.hi - l.row[0].gain.lo > 0.3 && l.few_seeds && !l.one_seed);
    /* a percentage point is a hundredth of the gain, which is 3.3 */
    for (int i = 0; i < LRA_LADDER_RADII; i++) {
        double wanted = -0.7 - 3.3 * lra_ladder_points[i];
        near(l.radius[i].value, exp2(2 + 4 * (wanted + 1.4) / 0.7), 1e-9);
    }
}

TEST(equal_reach_is_refused)
{
    lra_ladder_data d = {.n_rungs = 2, .n_seeds = 1, .T = 32, .chance = 0.1};
    lra_ladder l;
    d.rung[0] = (lra_rung){.kernel = 23, .reach = 33};
    d.rung[1] = (lra_rung){.kernel = 31, .reach = 45};
    assert_int_equal(lra_ladder_compute(&d, &l), LRA_LADDER_EQUAL_REACH);
    assert_int_equal(l.row[0].kernel, 23);
    assert_int_equal(l.row[1].kernel, 31);
    d.n_rungs = 0;
    assert_int_equal(lra_ladder_compute(&d, &l), LRA_LADDER_EMPTY);
}
