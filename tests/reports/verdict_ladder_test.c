/* labels: slow timeout: 200 */
/* Verdicts of ladders whose truth is known: at chance, weak, with failed seeds, saturated, one
 * seed. The sentences must be true for the simulated accuracies. */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "reports/ladder/ladder_views.h"
#include "reports/print/table.h"
#include "reports/verdict/verdict_ladder.h"
#include "tests/fixtures/synthetic_result.h"

enum { RUNGS = 4, SEEDS = 3, MOST = RUNGS * SEEDS };
static const int kernel[RUNGS] = {5, 9, 17, 33}, reach[RUNGS] = {8, 16, 32, MADE_LENGTH};

/* Makes a ladder with these accuracies of its rungs; the accuracies of runs have a standard
 * deviation of 0.3 points. */
static lra_ladder_view *ladder_of(const double *share, int n_seeds, int draw, lra_result **list)
{
    lra_err e = {{0}};
    lra_ladder_view *v;
    const lra_ladder_scale scale = {.reference = NULL};
    int n = 0;
    for (int r = 0; r < RUNGS; r++)
        for (int s = 0; s < n_seeds; s++) {
            int seed = draw * SEEDS + s;
            lra_rng rng = lra_rng_new((uint64_t)seed, 9, (uint64_t)r);
            double x, y;
            uint32_t first = lra_rng_u32(&rng);
            lra_normal2(first, lra_rng_u32(&rng), &x, &y);
            list[n++] = made_result(kernel[r], reach[r], seed, share[r] + 0.003 * x);
        }
    if (lra_ladder_views(list, n, &scale, &v, &e) != 1) fail_msg("%s", e.msg);
    return v;
}

static lra_verdict verdict_of(lra_ladder_view *v)
{
    lra_verdict to = {0};
    lra_verdict_of_ladder(v, &to);
    assert_in_range(to.n, 1, LRA_VERDICT_SENTENCES);
    return to;
}

static void close_ladder(lra_ladder_view *v, lra_result **list, int n, lra_verdict *to)
{
    lra_verdict_free(to);
    lra_ladder_views_free(v, 1);
    for (int i = 0; i < n; i++) lra_result_free(list[i]);
}

static void says(const lra_verdict *v, int i, const char *text)
{
    if (i >= v->n) fail_msg("no sentence %d: '%s'", i, v->sentence[0]);
    if (!strstr(v->sentence[i], text)) fail_msg("'%s' is not in '%s'", text, v->sentence[i]);
}

/* If no rung learns, the verdict contains no reach, in any draw. */
TEST(at_chance_no_reach_is_named)
{
    static const double share[RUNGS] = {0.25, 0.25, 0.25, 0.25};
    lra_result *list[MOST];
    for (int k = 0; k < 40; k++) {
        lra_ladder_view *v = ladder_of(share, SEEDS, k, list);
        lra_verdict to = verdict_of(v);
        says(&to, 0, "No model of this ladder is clearly above chance: ");
        says(&to, 1, "gives no information about the reach");
        assert_int_equal(to.n, 2);
        close_ladder(v, list, MOST, &to);
    }
}

/* Two seeds whose interval excludes chance, but is too wide for gains: the verdict does not say "at
 * chance". */
TEST(a_wide_interval_above_chance)
{
    static const double share[RUNGS] = {0.25, 0.27, 0.29, 0.29};
    lra_result *list[MOST];
    int found = 0;
    for (int k = 0; k < 200; k++) {
        lra_ladder_view *v = ladder_of(share, 2, k, list);
        lra_verdict to = verdict_of(v);
        double lo = v->ladder.reference_minus_chance.lo;
        if (strstr(to.sentence[0], "clearly above chance")) assert_true(!(lo > 0));
        if (strstr(to.sentence[0], "is too wide for gains")) {
            found++;
            says(&to, 0, "The reference is above chance, ");
            says(&to, to.n - 1, "gives no information about the reach");
            assert_true(lo > 0);
        }
        close_ladder(v, list, 2 * RUNGS, &to);
    }
    assert_in_range(found, 1, 199);
}

/* Only the reference is at chance: the first sentence must not say so of all models. */
TEST(only_a_narrow_rung_learns)
{
    static const double share[RUNGS] = {0.25, 0.6, 0.25, 0.25};
    lra_result *list[MOST];
    lra_ladder_view *v = ladder_of(share, SEEDS, 0, list);
    lra_verdict to = verdict_of(v);
    says(&to, 0, "The reference is not clearly above chance: ");
    says(&to, 1, "Clearly above chance: K = 9");
    close_ladder(v, list, MOST, &to);
}

/* Small gains: a reach that the verdict calls sufficient has an accuracy within a point of the
 * widest rung, except in 2.5 % of the draws. */
TEST(reaches_of_weak_ladders_are_true)
{
    static const double share[RUNGS] = {0.27, 0.283, 0.308, 0.32};
    lra_result *list[MOST];
    int wrong = 0, named = 0, n = 60;
    for (int k = 0; k < n; k++) {
        lra_ladder_view *v = ladder_of(share, SEEDS, k, list);
        lra_verdict to = verdict_of(v);
        int enough = 0;
        if (sscanf(to.sentence[0], "A reach of %d of", &enough) == 1) {
            named++;
            wrong += enough < MADE_LENGTH;
        }
        close_ladder(v, list, MOST, &to);
    }
    print_message("%d of %d verdicts name a reach, %d of them one that is too small\n", named, n,
                  wrong);
    assert_true(wrong <= 4);
}

TEST(failed_seeds_are_the_caveat)
{
    static const double share[RUNGS] = {0.4, 0.6, 0.7, 0.8};
    lra_result *list[MOST];
    lra_ladder_view *v = ladder_of(share, SEEDS, 0, list);
    lra_ladder_views_free(v, 1);
    lra_result_free(list[4]);
    list[4] = made_result(kernel[1], reach[1], 1, 0.25);
    lra_err e = {{0}};
    const lra_ladder_scale scale = {.reference = NULL};
    assert_int_equal(lra_ladder_views(list, MOST, &scale, &v, &e), 1);
    lra_verdict to = verdict_of(v);
    says(&to, 2,
         "1 of 12 runs did not learn and are excluded from all values; with 3 seeds per "
         "rung about half");
    close_ladder(v, list, MOST, &to);
}

TEST(saturated)
{
    static const double share[RUNGS] = {0.7, 0.99, 0.99, 0.99};
    lra_result *list[MOST];
    lra_ladder_view *v = ladder_of(share, SEEDS, 1, list);
    lra_verdict to = verdict_of(v);
    says(&to, 0,
         "A reach of 16 of 64 tokens is sufficient to be within 1 point of the widest "
         "rung");
    says(&to, 0, "the next smaller reach, 8, differs by -29");
    says(&to, 1, "More reach helps");
    says(&to, 2, "Wider rungs are larger models (5000 to 33000 parameters)");
    close_ladder(v, list, MOST, &to);
}

TEST(one_seed)
{
    static const double share[RUNGS] = {0.5, 0.6, 0.7, 0.8};
    lra_result *list[MOST];
    lra_ladder_view *v = ladder_of(share, 1, 2, list);
    lra_verdict to = verdict_of(v);
    says(&to, 0, "No reach below that of the reference, 64 of 64 tokens, is shown");
    says(&to, 2, "A rung has one seed");
    close_ladder(v, list, RUNGS, &to);
}

/* If reach has no effect on accuracy but on information, the sentence is about accuracy. */
TEST(an_effect_on_information_alone)
{
    static const double share[RUNGS] = {0.6, 0.6, 0.6, 0.6};
    lra_result *list[MOST];
    lra_ladder_view *v = ladder_of(share, SEEDS, 3, list);
    v->has_info = true, v->info.sufficient[0].unresolved = true;
    v->ladder.slope = (lra_estimate){0.01, -0.01, 0.03}, v->info.state = LRA_LI_GIVEN;
    v->info.slope = (lra_estimate){0.1, -0.1, 0.3};
    lra_verdict to = verdict_of(v);
    says(&to, 1, "An effect of reach is not shown: +1.00 points");
    lra_verdict_free(&to);
    v->info.slope = (lra_estimate){0.0693147, 0.0346574, 0.103972};
    to = verdict_of(v);
    says(&to, 1,
         "An effect of reach on accuracy is not shown: +1.00 points (-1.00 to +3.00) per "
         "doubling of reach, but an effect on mutual information is: +0.1000 bits (+0.0500 to "
         "+0.1500)");
    close_ladder(v, list, MOST, &to);
}

/* The verdict is printed before the rows in text and Markdown, as an array in JSON, and as a
 * comment in LaTeX. */
TEST(verdicts_lead)
{
    static const char *const format[] = {"text", "markdown", "latex", "json"};
    static const char *const head[] = {
        "Title\n\nFirst 1 * 2. Second.\n\na\n", "**Title**\n\nFirst 1 \\* 2. Second.\n\n| a |",
        "% First 1 * 2.\n% Second.\n", "\"verdict\": [\n    \"First 1 * 2.\",\n    \"Second.\"\n"};
    for (int i = 0; i < 4; i++) {
        char *text = NULL;
        size_t size;
        lra_err e;
        lra_table *t = lra_table_new("Title", 1, (const char *const[]){"a"});
        lra_verdict_add(&t->verdict, "first %d * 2.", 1);
        lra_verdict_add(&t->verdict, "Second.");
        FILE *f = open_memstream(&text, &size);
        assert_int_equal(lra_table_print(t, format[i], f, &e), 0);
        fclose(f);
        if (!strstr(text, head[i])) fail_msg("'%s' is not in:\n%s", head[i], text);
        free(text);
        lra_table_free(t);
    }
}
