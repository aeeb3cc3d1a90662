/* Distances to other tokens, against known answers: with equal weights, any mask and any mix of
 * lengths the measured values equal the uniform baseline exactly, which does not hold if the mean
 * over rows is divided by 1 - M(0) afterwards; rows without another token; directions; coverage of
 * the intervals. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/kernel_shape.h"
#include "analysis/profile.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "tests/fixtures/sanitized.h"

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.12g, expected %.12g", value, expected);
}

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

/* Adds an example of T rows with equal weights on all inputs from i - back to i + ahead. */
static void add_equal(lra_profile *p, int T, int back, int ahead)
{
    double *w = lra_alloc_array((size_t)T, sizeof *w);
    for (int j = 0; j < T; j++) w[j] = 2;
    lra_profile_begin(p, T);
    for (int i = 0; i < T; i++) {
        int from = i > back ? i - back : 0, to = i + ahead < T - 1 ? i + ahead : T - 1;
        lra_profile_row(p, i, from, to - from + 1, w);
    }
    lra_profile_end(p);
    lra_free(w);
}

TEST(equal_weights)
{
    for (int causal = 0; causal < 2; causal++) {
        enum { T = 1024 };
        lra_profile *p = lra_profile_new(T, 0);
        add_equal(p, T, T, causal ? 0 : T);
        numbers x = read(p);
        double mean = causal ? (T + 2) / 4.0 : (T + 1) / 3.0;
        near(mean, causal ? 256.5 : 341.667, 5e-4);
        near(find(&x, "dist.mean")->value, mean, 1e-9);
        near(find(&x, "dist.mean")->null[LRA_NULL_UNIFORM], mean, 1e-9);
        near(find(&x, "dist.mean.rel")->value, 1, 1e-12);
        near(find(&x, "self")->value, find(&x, "self")->null[LRA_NULL_UNIFORM], 1e-12);
        if (!causal) near(find(&x, "self")->value, 1.0 / T, 1e-12);
        /* the first causal row has no other token */
        assert_int_equal(find(&x, "dist.mean")->undefined, 0);
    }
}

/* A row that is described by its first and last allowed input gives the same profile as one
 * described by a list of allowed inputs. */
TEST(masks)
{
    for (int k = 0; k < 4; k++) {
        int columns = k / 2 * 6, T = 30;
        lra_profile_mask *rows = lra_profile_mask_new(T, columns);
        lra_profile_mask *holes = lra_profile_mask_new(T, columns);
        for (int i = 0; i < T; i++) {
            uint8_t allowed[30];
            for (int j = 0; j < T; j++) allowed[j] = !(k % 2) || j <= i;
            lra_profile_mask_row(rows, i, 0, k % 2 ? i + 1 : T);
            lra_profile_mask_holes(holes, i, allowed);
        }
        for (int64_t d = 0; d < rows->n; d++) near(rows->other[d], holes->other[d], 1e-12);
        assert_int_equal(rows->n_other, holes->n_other);
        near(rows->self, holes->self, 1e-12);
        lra_profile_mask_free(rows);
        lra_profile_mask_free(holes);
    }
}

/* Equal weights on rows of different lengths: the ratio to the baseline is exactly 1 if each row is
 * normalized; it is not if the mean M is divided by 1 - M(0). */
TEST(ragged_rows)
{
    static const int length[] = {5, 9, 32, 2, 17, 64, 3, 1};
    for (int causal = 0; causal < 2; causal++) {
        lra_profile *p = lra_profile_new(64, 0);
        for (int b = 0; b < 8; b++) add_equal(p, length[b], 64, causal ? 0 : 64);
        numbers x = read(p);
        const lra_measurement *f = find(&x, "dist.mean.rel");
        near(f->value, 1, 1e-12);
        near(f->lo, 1, 1e-12);
        near(f->hi, 1, 1e-12);
        near(find(&x, "self")->value, find(&x, "self")->null[LRA_NULL_UNIFORM], 1e-12);
        double null = find(&x, "dist.mean")->null[LRA_NULL_UNIFORM];
        double afterwards = find(&x, "range.mean")->value / (1 - find(&x, "local.0")->value);
        if (!(fabs(afterwards / null - 1) > 0.03))
            fail_msg("divided afterwards: %.4f of the null", afterwards / null);
        /* the dist.* measurements, also quantiles, equal their null values */
        for (int k = 0; k < x.n; k++)
            if (x.f[k].id[0] == 'd' && x.f[k].id[1] == 'i')
                near(x.f[k].value, x.f[k].null[LRA_NULL_UNIFORM], 1e-9);
    }
}

/* A row whose weight is all on its own token has no distance, and its baseline is not counted
 * either. */
TEST(lone_rows)
{
    double far[8] = {0, 0, 0, 0, 3, 0, 0, 1}, own[8] = {0}, tiny[8] = {0};
    own[2] = 1, tiny[3] = 1, tiny[7] = 1e-7;
    lra_profile *p = lra_profile_new(8, 0);
    lra_profile_begin(p, 8);
    lra_profile_row(p, 7, 0, 8, far);
    lra_profile_row(p, 2, 0, 8, own);
    lra_profile_row(p, 3, 0, 8, tiny);
    lra_profile_end(p);
    numbers x = read(p);
    near(find(&x, "dist.mean")->value, 3, 1e-12);
    /* the baseline is the mean of the distances 1 .. 7 of row 7 */
    near(find(&x, "dist.mean")->null[LRA_NULL_UNIFORM], 4, 1e-12);
    near(find(&x, "dist.q50")->value, 3, 0);
    near(find(&x, "self")->value, (0.25 + 1 + 1 / (1 + 1e-7)) / 3, 1e-12);
    near(find(&x, "self")->null[LRA_NULL_UNIFORM], 1 / 8.0, 1e-12);
    assert_int_equal(find(&x, "dist.mean")->undefined, 2);
    assert_int_equal(find(&x, "dist.q95")->undefined, 2);
    assert_int_equal(find(&x, "self")->undefined, 0);
    p = lra_profile_new(8, 0);
    lra_profile_begin(p, 8);
    lra_profile_row(p, 2, 0, 8, own);
    lra_profile_end(p);
    x = read(p);
    assert_true(isnan(find(&x, "dist.mean")->value) && isnan(find(&x, "dist.q50")->value));
    near(find(&x, "self")->value, 1, 0);
}

/* Measured values and baselines are both averaged over the rows of an example and then over
 * examples: equal weights have the direction of the baseline. */
TEST(direction)
{
    lra_profile *p = lra_profile_new(64, 0);
    add_equal(p, 64, 3, 1);
    add_equal(p, 4, 1, 3);
    add_equal(p, 9, 2, 0);
    numbers x = read(p);
    const lra_measurement *f = find(&x, "side");
    near(f->value, f->null[LRA_NULL_UNIFORM], 1e-12);
    assert_true(f->value > 0.05);
}

/* Kernels: lag 0 is the token itself; its weight does not change the distances. */
TEST(kernels)
{
    for (int k = 0; k < 2; k++) {
        double lag[16] = {0}, rest = 0, mean = 0;
        lra_measurement f[LRA_KERNEL_MEASUREMENTS];
        lag[0] = k ? 5 : 0.1;
        for (int d = 1; d < 16; d++) lag[d] = pow(0.7, d);
        for (int d = 1; d < 16; d++) rest += lag[d] * lag[d], mean += d * lag[d] * lag[d];
        int n = lra_kernel_measurements(&(lra_kernel){1, 0, 16, lag}, 0, NULL, f, NULL);
        near(lra_measurement_find(n, f, "dist.mean")->value, mean / rest, 1e-9);
        near(lra_measurement_find(n, f, "self")->value, lag[0] * lag[0] / (lag[0] * lag[0] + rest),
             1e-9);
        assert_non_null(lra_measurement_find(n, f, "dist.q50.p1"));
    }
}

/* ---- coverage -------------------------------------------------------------------------------- */

enum { N = 24, EXAMPLES = 40, SETS = 400 };

/* Adds a random example: the share of its own token, the decay and the length are drawn. */
static void add_drawn(lra_profile *p, lra_rng *rng)
{
    int length = 12 + (int)lra_rng_below(rng, N - 11);
    double tau = 1 + 8 * lra_rng_u01(rng), own = 4 * lra_rng_u01(rng), w[N];
    lra_profile_begin(p, length);
    for (int i = 0; i < length; i += 3) {
        for (int j = 0; j < length; j++) w[j] = j == i ? own : exp(-abs(i - j) / tau);
        lra_profile_row(p, i, 0, length, w);
    }
    lra_profile_end(p);
}

static numbers drawn(uint64_t set, int n)
{
    lra_rng rng = lra_rng_new(11, 5, set);
    lra_profile *p = lra_profile_new(N, 0);
    for (int b = 0; b < n; b++) add_drawn(p, &rng);
    return read(p);
}

TEST(coverage)
{
    if (sanitized) skip(); /* statistics of many profiles, whose code the other tests execute */
    static const char *const id[] = {"self", "dist.mean", "dist.mean.rel", "dist.q90"};
    enum { IDS = sizeof id / sizeof *id };
    int held[IDS] = {0}, wide[IDS] = {0};
    numbers truth = drawn(1 << 20, 10000);
    for (int s = 0; s < SETS; s++) {
        numbers x = drawn((uint64_t)s, EXAMPLES);
        for (int k = 0; k < IDS; k++) {
            const lra_measurement *f = find(&x, id[k]);
            double is = find(&truth, id[k])->value;
            held[k] += f->lo <= is && is <= f->hi;
            wide[k] += f->hi > f->lo;
        }
    }
    for (int k = 0; k < IDS; k++) {
        double share = held[k] / (double)SETS;
        if (!(share >= 0.92)) fail_msg("%s: %.3f of intervals hold", id[k], share);
        if (k < 3) assert_true(share <= 0.985 && wide[k] == SETS);
    }
}
