/* Parts of influence that measure inside of a model: distance limits on an entire split, for each
 * layer, and Jacobians by gradients, for networks whose reach is known. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/philox.h"
#include "analysis/profile.h"
#include "kernels/base/core/mem.h"
#include "probes/influence/distance_ablation.h"
#include "probes/shared/jacobian.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/subject.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/tiny_run.h"

/* Trains a network of two layers with 7 taps, whose reach is 6 positions. */
static int set_up(void **state)
{
    return make_folder(state) != 0 ||
                   tiny_train(folder, "layers=2 width=4 hidden=6 kernel=7", 2) != 0
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    tiny_forget();
    return remove_folder(state);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static bool rows_equal(const lra_ablation *c, int curve, int point, const lra_sums *other)
{
    const lra_sums *row = c->curve[curve].row + point * c->n;
    for (int64_t i = 0; i < c->n; i++)
        if (row[i].loss != other[i].loss || row[i].right != other[i].right) return false;
    return true;
}

/* Kernels of 7 taps reach 3 positions: the limit r = 4 has no effect, r = 2 changes outputs, in
 * each layer alone and in both. */
TEST(cuts_of_a_convolution)
{
    lra_err e = {{0}};
    lra_ablation c;
    OK(lra_ablation_measure(&trained.run.spec, &trained.device, 0, 0, NULL, &c, &e));
    assert_int_equal(c.n, TINY_ROWS);
    assert_int_equal(c.n_curves, 3);
    assert_int_equal(lra_ablation_curves(&trained.run.spec, &trained.device, 0), 3);
    assert_null(c.curve[0].name);
    assert_string_equal(c.curve[1].name, "layer0");
    assert_string_equal(c.curve[2].name, "layer1");
    assert_false(c.attention);
    assert_int_equal(c.depth, 2); /* number of consecutive layers that mix positions */
    assert_true(c.r[0] == 0 && c.r[2] == 2 && c.r[3] == 4);
    assert_true(c.r[c.n_points - 1] == (double)trained.run.data->max_length);
    for (int i = 0; i < TINY_ROWS; i++) {
        assert_int_equal(c.index[i], i);
        assert_true(c.full[i].loss == trained.report.row[i].loss);
    }
    for (int k = 0; k < 3; k++)
        for (int p = 0; p < c.n_points; p++)
            assert_int_equal(rows_equal(&c, k, p, c.full), c.r[p] >= 3);
    /* a limit in one layer gives other results than in the other layer or in both */
    for (int p = 0; p < 3; p++)
        assert_false(rows_equal(&c, 1, p, c.curve[0].row + p * c.n) ||
                     rows_equal(&c, 1, p, c.curve[2].row + p * c.n));
    assert_true(lra_ablation_runs(3, trained.run.data->max_length) ==
                1 + c.n_points + 2 * (c.n_points - 1));
    lra_ablation_free(&c);
}

/* A sample reports the indices of its rows, and their results are those of the entire split. */
TEST(cuts_of_a_sample)
{
    lra_err e = {{0}};
    lra_ablation c;
    OK(lra_ablation_measure(&trained.run.spec, &trained.device, 0, 3, NULL, &c, &e));
    assert_int_equal(c.n, 3);
    for (int i = 0; i < 3; i++) assert_true(c.full[i].loss == trained.report.row[c.index[i]].loss);
    lra_ablation_free(&c);
}

TEST(cuts_that_are_undefined)
{
    lra_err e = {{0}};
    lra_ablation c;
    lra_train_spec spec = trained.run.spec;
    lra_model lstm = lra_model_resconv;
    lstm.name = "lstm", lstm.no_limit_reason = "its state comes from all steps before";
    spec.model = &lstm;
    assert_int_equal(lra_ablation_measure(&spec, &trained.device, 0, 0, NULL, &c, &e), LRA_USAGE);
    assert_non_null(strstr(e.msg, "is undefined for model 'lstm'"));
    lra_ablation_free(&c);
}

/* ---- Jacobians ------------------------------------------------------------------------------- */

/* Statistics of the rows that were visited: the reach of each, and sums of squares by distance. */
typedef struct {
    int64_t rows, examples, reach, T;
    double square[64]; /* sum for each distance */
    bool ends[2];
    int middle; /* number of rows at the position lra_jacobian_middle(T, 4) */
} seen;

static void look(void *context, const lra_jacobian_row *r)
{
    seen *s = context;
    s->rows++;
    s->examples += r->first;
    s->middle += r->i == r->T / 4 / 2 * 4 + 2;
    if (r->i == 0) s->ends[0] = true;
    if (r->i == r->T - 1) s->ends[1] = true;
    for (int64_t j = 0; j < r->T; j++) {
        int64_t d = j > r->i ? j - r->i : r->i - j;
        double mean = 0;
        for (int64_t k = 0; k < r->draws; k++) mean += r->by_draw[k * r->T + j] / (double)r->draws;
        assert_true(fabs(mean - r->square[j]) <= 1e-12 * mean);
        if (r->square[j] > 0 && d > s->reach) s->reach = d;
        if (d < 64) s->square[d] += r->square[j];
    }
}

static const lra_jacobian_spec usual = {
    .positions = 8, .draws = 4, .weights = LRA_TRAINED_WEIGHTS, .seed = 1};

static int measure(const lra_train_spec *run, const lra_jacobian_spec *ask, seen *s,
                   lra_jacobian_report *r, lra_err *e)
{
    lra_subject subject = subject_of(run, &trained.device);
    int rc = lra_jacobian_measure(&subject, ask, NULL, look, s, r, e);
    close_subject(&subject);
    return rc;
}

/* All entries within the reach of 6 positions are nonzero, and all entries beyond are exactly 0. */
TEST(a_convolution_sees_its_reach)
{
    lra_err e = {{0}};
    seen s = {.reach = -1};
    lra_jacobian_report r;
    OK(measure(&trained.run.spec, &usual, &s, &r, &e));
    assert_int_equal(s.reach, 6);
    for (int d = 0; d <= 6; d++) assert_true(s.square[d] > 0);
    assert_true(s.ends[0] && s.ends[1]);
    assert_int_equal(r.examples, TINY_ROWS);
    assert_int_equal(s.examples, TINY_ROWS);
    assert_int_equal(r.rows, s.rows);
    assert_true(r.leak == 0);
}

/* The reach declared by this model is smaller than its true reach. */
static int64_t short_reach(const lra_config *c)
{
    (void)c;
    return 5;
}
static bool says_causal(const lra_config *c)
{
    (void)c;
    return true;
}

static lra_tensor *encode_open(const lra_build *b, lra_tensor *x)
{
    lra_build own = *b;
    own.causal = false;
    return lra_model_resconv.encode(&own, x);
}

TEST(false_declarations_are_found)
{
    lra_err e = {{0}};
    seen s = {0};
    lra_jacobian_report r;
    lra_train_spec spec = trained.run.spec;
    lra_model wrong = lra_model_resconv;
    spec.model = &wrong;
    wrong.reach = short_reach;
    assert_int_equal(measure(&spec, &usual, &s, &r, &e), -1);
    assert_non_null(strstr(e.msg, "but the model declares a reach of 5"));
    wrong.reach = lra_model_resconv.reach, wrong.causal = says_causal;
    wrong.encode = encode_open;
    assert_int_equal(measure(&spec, &usual, &s, &r, &e), -1);
    assert_non_null(
        strstr(e.msg, "depends on later positions, but the model declares that it is causal"));
}

/* Entries of later tokens are exactly 0 for attention and convolutions, and at most rounding errors
 * for a Fourier transform. */
TEST(causal_models_see_the_past)
{
    lra_err e = {{0}};
    const struct {
        const lra_model *model;
        const char *variant;
        double leak;
    } cases[] = {{&lra_model_resconv, "causal=1 kernel=3", 0},
                 {&lra_model_transformer, "causal=1", 0},
                 {&lra_model_s4d, "causal=1", 1e-5}};
    for (int i = 0; i < 3; i++) {
        lra_train_spec spec = trained.run.spec;
        lra_config *c = model_tiny(cases[i].model, cases[i].variant);
        lra_jacobian_spec ask = usual;
        seen s = {0};
        lra_jacobian_report r;
        ask.weights = LRA_RESET_WEIGHTS;
        spec.model = cases[i].model, spec.model_config = c;
        if (measure(&spec, &ask, &s, &r, &e) != 0) fail_msg("%s: %s", spec.model->name, e.msg);
        assert_true(r.leak <= cases[i].leak);
        assert_true(s.reach > 2);
        lra_config_free(c);
    }
}

/* With many draws, the estimates of ||J||_F^2 for two seeds agree within their standard errors. */
TEST(draws_agree)
{
    lra_err e = {{0}};
    lra_jacobian_report r;
    double sum[2] = {0};
    for (int k = 0; k < 2; k++) {
        lra_jacobian_spec ask = {
            .positions = 4, .draws = 64, .weights = LRA_TRAINED_WEIGHTS, .seed = (uint64_t)k + 9};
        seen s = {0};
        OK(measure(&trained.run.spec, &ask, &s, &r, &e));
        for (int d = 0; d < 7; d++) sum[k] += s.square[d];
    }
    assert_true(sum[0] != sum[1]);
    assert_true(fabs(sum[0] / sum[1] - 1) < 0.25);
}

/* For squares with 1, 2 and 8 degrees of freedom and mean 1, averaged over 8 draws: the size has
 * the expected value 1, whereas the root of the mean is smaller. */
TEST(sizes_are_unbiased)
{
    enum { DRAWS = 8, N = 4000 };
    lra_rng r = lra_rng_new(5, 5, 0);
    for (int freedom = 1; freedom <= 8; freedom *= freedom == 2 ? 4 : 2) {
        double size = 0, root = 0, none = 0;
        for (int k = 0; k < N; k++) {
            double draw[DRAWS] = {0}, square = 0;
            for (int i = 0; i < DRAWS * freedom; i++) {
                double x[2];
                uint32_t a = lra_rng_u32(&r);
                lra_normal2(a, lra_rng_u32(&r), &x[0], &x[1]);
                draw[i % DRAWS] += x[0] * x[0] / freedom;
                square += x[0] * x[0] / freedom / DRAWS;
            }
            lra_jacobian_row row = {.T = 1, .draws = DRAWS, .by_draw = draw, .square = &square};
            size += lra_jacobian_size(&row, 0) / N, root += sqrt(square) / N;
        }
        if (fabs(size - 1) > 0.015) fail_msg("%d: %g, root %g", freedom, size, root);
        assert_true(freedom > 2 || (1 - root > 0.01 && fabs(size - 1) < (1 - root) / 2));
        lra_jacobian_row zero = {.T = 1, .draws = 1, .by_draw = &none, .square = &none};
        assert_true(lra_jacobian_size(&zero, 0) == 0);
    }
}

/* In an image of 4 rows of 5 pixels, the middle is the third pixel of the third row. */
TEST(the_middle_of_an_image)
{
    assert_int_equal(lra_jacobian_middle(21, 0), 10);
    assert_int_equal(lra_jacobian_middle(20, 5), 12);
    assert_int_equal(lra_jacobian_middle(784, 28), 14 * 28 + 14);
    lra_err e = {{0}};
    seen s = {.reach = -1};
    lra_jacobian_report r;
    lra_jacobian_spec ask = usual;
    ask.middle = true, ask.grid = 4;
    OK(measure(&trained.run.spec, &ask, &s, &r, &e));
    assert_int_equal(s.rows, TINY_ROWS);
    assert_true(s.middle == TINY_ROWS);
}

TEST(positions_are_spread)
{
    for (int64_t T = 1; T < 70; T += 17)
        for (int64_t n = 1; n < 40; n += 6) {
            int64_t last = -1;
            for (int64_t p = 0; p < n && p < T; p++) {
                int64_t at = lra_jacobian_position(4, 11, n, p, T);
                assert_true(at > last && at < T);
                last = at;
            }
            if (n >= T) assert_int_equal(last, T - 1);
        }
    int ends = 0;
    for (int64_t example = 0; example < 400; example++) {
        for (int64_t p = 0; p < 8; p++) { /* position p is drawn from part p of 8 */
            int64_t at = lra_jacobian_position(4, example, 8, p, 200);
            assert_true(at >= 25 * p && at < 25 * (p + 1));
        }
        ends += lra_jacobian_position(4, example, 8, 7, 200) == 199;
    }
    assert_in_range(ends, 4, 40); /* the last position is expected in 16 of 400 examples */
}

/* Profiles of rows at random positions: intervals over examples contain the value of all positions
 * of all examples. Rows at the ends have larger distances, so that the intervals would fail if the
 * ends were always included. */
TEST(intervals_hold_the_sampling_of_positions)
{
    enum { T = 120, ROWS = 6, EXAMPLES = 24, SETS = 300 };
    double truth = 0;
    int held = 0;
    for (int s = -1; s < SETS; s++) {
        lra_profile *p = lra_profile_new(T, 0);
        int n = s < 0 ? 2000 : EXAMPLES, rows = s < 0 ? T : ROWS;
        for (int b = 0; b < n; b++) {
            lra_rng rng = lra_rng_new(9, 2, (uint64_t)(s + 1) * 4096 + (uint64_t)b);
            double own = 2 * lra_rng_u01(&rng);
            lra_profile_begin(p, T);
            for (int r = 0; r < rows; r++) {
                double w[T];
                int64_t i = lra_jacobian_position((uint64_t)s + 5, b, rows, r, T);
                double tau = (i < 6 || i >= T - 6 ? 40 : 3) + own;
                for (int j = 0; j < T; j++) w[j] = exp(-fabs((double)(i - j)) / tau);
                lra_profile_row(p, i, 0, T, w);
            }
            lra_profile_end(p);
        }
        lra_measurement list[LRA_PROFILE_MEASUREMENTS];
        int k = lra_profile_measurements(p, &(lra_profile_options){.key = 3}, list);
        const lra_measurement *f = lra_measurement_find(k, list, "dist.mean");
        if (s < 0) truth = f->value;
        held += s >= 0 && f->lo <= truth && truth <= f->hi;
        lra_profile_free(p);
    }
    if (held < 0.91 * SETS) fail_msg("%d of %d intervals hold %g", held, (int)SETS, truth);
}

GROUP(set_up, tear_down);
