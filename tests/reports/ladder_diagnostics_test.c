/* Diagnostics of a ladder in addition to its index: reasons if there is no index, information,
 * training, baselines, failed seeds, the best rung; and the measured ladders that are stored with
 * the sources. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/ladder/ladder_views.h"
#include "reports/report.h"
#include "tests/fixtures/synthetic_result.h"

enum { N = MADE_ROWS, C = MADE_CLASSES, T = MADE_LENGTH };

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.6f, expected %.6f", value, expected);
}

/* Adds predictions: the validation rows are the test rows again, and a share `train` of the
 * training sample is right. */
static void add_answers(lra_result *r, double train)
{
    r->n_val = N, r->n_train = 1000, r->train_value = train, r->train_loss = 1;
    r->val_logits = lra_alloc_array(N * C, sizeof(float));
    r->val_label = lra_alloc_array(N, sizeof(int32_t));
    memcpy(r->val_logits, r->logits, N * C * sizeof(float));
    memcpy(r->val_label, r->label, N * sizeof(int32_t));
    r->train_correct = lra_alloc(1000);
    for (int i = 0; i < 1000; i++) r->train_correct[i] = i < 1000 * train;
}

static lra_ladder_view *view_of(lra_result *const *list, int n, const char *reference)
{
    lra_err e = {{0}};
    lra_ladder_view *v;
    const lra_ladder_scale scale = {.reference = reference};
    if (lra_ladder_views(list, n, &scale, &v, &e) != 1) fail_msg("%s", e.msg);
    return v;
}

/* Returns the table as printed; the caller frees it. */
static char *text_of(lra_result *const *list, int n)
{
    char *text = NULL;
    size_t size;
    lra_err e = {{0}};
    lra_report_input in = {.list = list, .n = n};
    FILE *f = open_memstream(&text, &size);
    OK(lra_report_ladder(f, &in, "text", &e));
    fclose(f);
    return text;
}

static void says(const char *text, const char *what)
{
    if (!strstr(text, what)) fail_msg("'%s' is not in:\n%s", what, text);
}

static void says_not(const char *text, const char *what)
{
    if (strstr(text, what)) fail_msg("'%s' is in:\n%s", what, text);
}

static void free_all(lra_result **list, int n)
{
    for (int i = 0; i < n; i++) lra_result_free(list[i]);
}

/* Four kernels at chance, as if the distance of a dependency were larger than their reach. */
TEST(models_at_chance)
{
    static const int kernel[] = {5, 13, 25, 49};
    lra_result *list[12];
    for (int i = 0; i < 12; i++)
        list[i] = made_result(kernel[i / 3], (kernel[i / 3] - 1) / 2, i % 3,
                              0.25 + 0.002 * (i % 4));
    char *text = text_of(list, 12);
    says(text, "undefined: the reference is not clearly above chance");
    says(text, "flag at-chance");
    says(text, "interval) than chance: 0 of 4");
    says_not(text, "LI.raw");
    says_not(text, "nan");
    says_not(text, "radius");
    lra_ladder_view *v = view_of(list, 12, NULL);
    assert_true(v->flags & LRA_FLAG_AT_CHANCE);
    lra_ladder_views_free(v, 1);
    free(text);
    free_all(list, 12);
}

TEST(a_single_rung)
{
    for (int reach = 10; reach <= T; reach += T - 10) {
        lra_result *list[] = {made_result(1, 0, 0, 0.4), made_result(65, reach, 0, 0.7)};
        char *text = text_of(list, 2);
        says(text, "undefined: one rung with R > 0");
        says_not(text, "nan");
        says_not(text, "radius");
        free(text);
        free_all(list, 2);
    }
}

TEST(bounds_are_bounds)
{
    lra_result *list[4];
    for (int i = 0; i < 4; i++) list[i] = made_result(i < 2 ? 5 : 33, i < 2 ? 8 : 30, i % 2, 0.7);
    char *text = text_of(list, 4);
    says(text, "LI[8..30]");
    says(text, "no rung sees all 64 tokens; flag span");
    says(text, "<= 8");
    says_not(text, "8.0 (8.0 to 8.0)");
    says(text, "not recorded");
    free(text);
    free_all(list, 4);
}

/* Returns the information ln C - H in nats of predictions that are right in a share p of the rows,
 * with calibrated temperature; it does not depend on the magnitude of the logits. */
static double information(double p)
{
    return log(C) + p * log(p) + (1 - p) * log((1 - p) / (C - 1));
}

TEST(information_of_answers)
{
    static const double share[] = {0.5, 0.6, 0.9};
    lra_result *list[6];
    for (int i = 0; i < 6; i++) {
        list[i] = made_result(5 + 2 * (i / 2), 4 << (2 * (i / 2)), i % 2, share[i / 2]);
        add_answers(list[i], 0.9);
    }
    lra_ladder_view *v = view_of(list, 6, NULL);
    assert_true(v->has_info);
    near(v->info.reference_minus_chance.value, information(0.9), 0.03);
    near(v->info.row[0].gain.value, information(0.5) / information(0.9), 0.02);
    near(v->info.li.value, (information(0.5) + information(0.6)) / 2 / information(0.9), 0.02);
    near(v->ladder.li.value, (0.25 + 0.35) / 2 / 0.65, 0.03);
    lra_ladder_views_free(v, 1);
    char *text = text_of(list, 6);
    says(text, "  gain (MI)  ");
    says(text, "bits per doubling of R");
    free(text);
    list[3]->n_val = 0; /* as in results of older programs: no validation rows */
    text = text_of(list, 6);
    says(text, "not recorded: the results have no predictions on the validation split");
    free(text);
    free_all(list, 6);
}

/* If every prediction is right with the same confidence, rows do not vary. */
TEST(rows_that_are_all_alike)
{
    lra_result *list[2];
    for (int i = 0; i < 2; i++) {
        list[i] = made_result(5 + 2 * i, 16 << (2 * i), 0, 1);
        add_answers(list[i], 1);
    }
    char *text = text_of(list, 2);
    says(text, "LI undefined: no interval, because all examples have the same value; ");
    says_not(text, "nan");
    free(text);
    free_all(list, 2);
}

/* The wide rung has memorized its training rows. */
TEST(overfitting)
{
    for (int fits = 0; fits < 2; fits++) {
        lra_result *list[6];
        for (int i = 0; i < 6; i++) {
            list[i] = made_result(i < 3 ? 5 : 65, i < 3 ? 8 : 64, i % 3, i < 3 ? 0.6 : 0.62);
            add_answers(list[i], i < 3 ? 0.62 : fits ? 0.63 : 0.8);
        }
        lra_ladder_view *v = view_of(list, 6, NULL);
        assert_true(v->has_gap);
        near(v->gap.value, fits ? -0.01 : 0.16, 0.02);
        assert_int_equal((v->flags & LRA_FLAG_OVERFIT) != 0, !fits);
        lra_ladder_views_free(v, 1);
        char *text = text_of(list, 6);
        says(text, fits ? "  63.00  " : "  80.00  ");
        says(text, "65000");
        free(text);
        free_all(list, 6);
    }
}

/* The training accuracy is half a point higher than the test accuracy, which may be chance. */
TEST(a_gap_within_its_interval)
{
    lra_result *list[6];
    for (int i = 0; i < 6; i++) {
        list[i] = made_result(i < 3 ? 5 : 65, i < 3 ? 8 : 64, i % 3, 0.6);
        add_answers(list[i], i < 3 ? 0.62 : 0.63);
    }
    lra_ladder_view *v = view_of(list, 6, NULL);
    assert_true(v->has_gap && v->gap.value > 0 && v->gap.lo < 0);
    assert_false(v->flags & LRA_FLAG_OVERFIT);
    lra_ladder_views_free(v, 1);
    free_all(list, 6);
}

/* A rung and a baseline are better than the widest rung; the validation split identifies the best
 * rung. */
TEST(a_weak_reference)
{
    lra_result *list[6];
    for (int i = 0; i < 6; i++)
        list[i] = made_result(5 + 2 * (i / 2), 4 << (2 * (i / 2)), i % 2, i / 2 == 1 ? 0.7 : 0.6);
    lra_ladder_view *v = view_of(list, 6, NULL);
    assert_true(v->flags & LRA_FLAG_REFERENCE_WEAK);
    assert_int_equal(v->best_rung, 1);
    assert_true(v->has_best && v->best.li.value < v->ladder.li.value);
    lra_ladder_views_free(v, 1);
    v = view_of(list, 6, "best");
    assert_string_equal(v->reference, "K = 7, the best rung on validation");
    near(v->ladder.reference, 0.7, 0.01);
    assert_false(v->flags & LRA_FLAG_REFERENCE_WEAK);
    assert_false(v->has_best);
    lra_ladder_views_free(v, 1);
    for (int i = 0; i < 6; i++) { /* the baseline is right in 80 % of the rows */
        list[i]->n_baselines = 1, list[i]->baseline_name[0] = lra_copy_text("oracle");
        list[i]->baseline[0] = lra_alloc_array(N, sizeof(int32_t));
        for (int k = 0; k < N; k++) list[i]->baseline[0][k] = k % 5 ? k % C : (k + 1) % C;
    }
    v = view_of(list, 6, "best");
    assert_true(v->flags & LRA_FLAG_REFERENCE_WEAK);
    assert_int_equal(v->n_rivals, 1);
    near(v->rival[0].above.value, 0.1, 0.01);
    near(v->rival[0].li, (0.35 + 0.45) / 2 / 0.55, 0.02);
    lra_ladder_views_free(v, 1);
    char *text = text_of(list, 6);
    says(text, "flag reference-weak");
    says(text, "K = 7 by 9.");
    says(text, "oracle by 2");
    free(text);
    for (int i = 4; i < 6; i++) list[i]->reach = T / 2; /* no model sees the entire input */
    v = view_of(list, 6, "best");
    assert_int_equal(v->n_rivals, 1);
    assert_true(isnan(v->rival[0].li));
    lra_ladder_views_free(v, 1);
    free_all(list, 6);
}

/* Bags of n-grams that are always right have rows in the table, and change nothing else. */
TEST(bags_of_ngrams_are_rows_alone)
{
    lra_result *list[6];
    for (int i = 0; i < 6; i++)
        list[i] = made_result(5 + 2 * (i / 2), 4 << (2 * (i / 2)), i % 2, 0.5 + 0.1 * (i / 2));
    lra_ladder_view *v = view_of(list, 6, NULL);
    lra_estimate li = v->ladder.li;
    lra_ladder_views_free(v, 1);
    for (int i = 0; i < 6; i++) {
        list[i]->n_baselines = 1, list[i]->baseline_name[0] = lra_copy_text("ngram-2");
        list[i]->baseline[0] = lra_alloc_array(N, sizeof(int32_t));
        for (int k = 0; k < N; k++) list[i]->baseline[0][k] = k % C;
    }
    v = view_of(list, 6, NULL);
    assert_false(v->flags & LRA_FLAG_REFERENCE_WEAK);
    assert_int_equal(v->n_rivals, 0);
    assert_true(v->ladder.li.value == li.value && v->ladder.li.lo == li.lo &&
                v->ladder.li.hi == li.hi);
    lra_ladder_views_free(v, 1);
    char *text = text_of(list, 6);
    says(text, "ngram-2 ");
    says(text, "  100.00  ");
    says_not(text, "reference-weak");
    free(text);
    free_all(list, 6);
}

TEST(seeds_that_failed)
{
    lra_result *list[6];
    for (int i = 0; i < 6; i++)
        list[i] = made_result(i < 3 ? 5 : 65, i < 3 ? 8 : 64, i % 3, i == 4 ? 0.25 : 0.7);
    char *text = text_of(list, 6);
    says(text, "2 of 3 learned");
    says(text, "failed-seeds");
    lra_ladder_view *v = view_of(list, 6, NULL);
    near(v->ladder.row[1].accuracy.value, 0.7, 0.01);
    assert_true(v->flags & LRA_FLAG_FAILED_SEEDS);
    lra_ladder_views_free(v, 1);
    free(text);
    free_all(list, 6);
}

/* Rungs may have different seeds, and a run that is given twice counts once. */
TEST(seeds_as_they_are)
{
    lra_result *list[] = {made_result(5, 8, 0, 0.6), made_result(5, 8, 1, 0.6),
                          made_result(65, 64, 0, 0.7), made_result(65, 64, 0, 0.7)};
    lra_ladder_view *v = view_of(list, 4, NULL);
    assert_int_equal(v->ladder.row[0].n_seeds, 2);
    assert_int_equal(v->ladder.row[1].n_seeds, 1);
    assert_int_equal(v->n_left_out, 1);
    assert_true(v->flags & LRA_FLAG_ONE_SEED);
    lra_ladder_views_free(v, 1);
    free_all(list, 4);
}

/* Chance is the accuracy of the most frequent training label, even if another label is more
 * frequent in the test rows. */
TEST(chance_is_of_training)
{
    lra_result *r = made_result(5, 8, 0, 0.6);
    for (int i = 0; i < N; i++) r->label[i] = i % 10 < 4 ? 0 : 1 + i % 10 % 3;
    near(lra_result_chance(r), 0.4, 1e-9);
    r->n_baselines = 1, r->baseline_name[0] = lra_copy_text("constant");
    r->baseline[0] = lra_alloc_array(N, sizeof(int32_t));
    for (int i = 0; i < N; i++) r->baseline[0][i] = 1;
    /* 0.2 is the share of label 1 in the test rows (i % 10 = 6 or 9) */
    near(lra_result_chance(r), 0.2, 1e-9);
    lra_result_free(r);
}

/* ---- measured ladders ------------------------------------------------------------------------ */

static lra_ladder_view *measured(const char *name, lra_result ***list, int *n)
{
    lra_err e = {{0}};
    const char *source = getenv("LRA_SOURCE");
    char *place = lra_format("%s/reports/measured/%s/runs", source ? source : ".", name);
    *n = lra_results_load(1, (const char *const *)&place, list, &e);
    if (*n < 0) fail_msg("%s", e.msg);
    lra_free(place);
    return view_of(*list, *n, NULL);
}

/* Reviews (task Text): the interval does not show that the narrow rung is better, whereas an
 * earlier version printed 0.24 to 3.19. */
TEST(text_small)
{
    lra_result **list;
    int n;
    lra_ladder_view *v = measured("text-small", &list, &n);
    const lra_estimate *growth = &v->ladder.widest_minus_narrowest;
    near(-100 * growth->value, 1.78, 0.01);
    near(-100 * growth->hi, -1.2, 0.05);
    near(-100 * growth->lo, 4.8, 0.05);
    assert_true(v->ladder.span && v->flags & LRA_FLAG_FEW_SEEDS);
    assert_int_equal(v->best_rung, 0);
    lra_ladder_views_free(v, 1);
    lra_results_free(list, n);
}

TEST(listops_small)
{
    lra_result **list;
    int n;
    lra_ladder_view *v = measured("listops-small", &list, &n);
    near(v->ladder.li.value, 1, 1e-9);
    near(100 * v->ladder.slope.value, -0.34, 0.01);
    assert_true(v->ladder.slope.lo < 0 && v->ladder.slope.hi > 0);
    assert_true(v->flags & LRA_FLAG_REFERENCE_WEAK);
    assert_int_equal(v->ladder.row[v->best_rung].kernel, 31);
    for (int i = 0; i < v->n_rivals; i++)
        if (strcmp(v->rival[i].name, "shallow-a-2") == 0) near(v->rival[i].li, 0.746, 0.001);
    assert_false(v->has_info || v->has_gap);
    lra_ladder_views_free(v, 1);
    lra_results_free(list, n);
}
