/* Rows that occur in several splits, and the share of the published rows that are available. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "datasets/loader/published.h"
#include "datasets/loader/repeats.h"
#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/warnings.h"

static void free_splits(lra_dataset *d)
{
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&d->split[s]);
}

static void add(lra_dataset *d, int split, const char *text, int64_t middle, int32_t label)
{
    uint16_t token[16];
    lra_row row = {.n = (int64_t)strlen(text), .width = 1, .token = token};
    for (int64_t i = 0; i < row.n; i++) token[i] = (uint16_t)text[i];
    row.middle = middle, row.label = label;
    lra_sequences_add(&d->split[split], &row);
}

/* Rows that differ only in their label are repeats; pairs whose first document ends elsewhere are
 * not. */
TEST(rows)
{
    static const lra_task task = {.name = "words", .input.vocab = 256, .goal = LRA_GOAL_PAIR};
    lra_dataset d = {.task = &task};
    lra_repeats r;
    add(&d, 0, "abc", 1, 0), add(&d, 0, "abd", 1, 0), add(&d, 0, "abc", 1, 1);
    add(&d, 1, "abd", 1, 0), add(&d, 1, "abx", 1, 0);
    add(&d, 2, "abc", 1, 0), add(&d, 2, "abc", 2, 0), add(&d, 2, "abx", 1, 1);
    add(&d, 2, "ab", 1, 0);
    lra_repeats_count(&d, &r);
    assert_int_equal(r.in_train[LRA_TRAIN_SPLIT], 1);
    assert_int_equal(r.in_train[LRA_VAL_SPLIT], 1);
    assert_int_equal(r.in_train[LRA_TEST_SPLIT], 1);
    assert_int_equal(r.in_val, 1);
    lra_text said = {0}, *before = lra_warn_into(&said);
    lra_repeats_report(&d);
    lra_warn_into(before);
    assert_non_null(said.s);
    assert_non_null(
        strstr(said.s, "words: 1 of 2 validation and 1 of 4 test rows also occur in training"));
    lra_text_free(&said);
    free_splits(&d);
}

TEST(values)
{
    static const lra_task task = {.name = "series", .goal = LRA_GOAL_VALUE, .input.channels = 2};
    lra_dataset d = {.task = &task};
    lra_repeats r;
    float x[3][4] = {{1, 2, 3, 4}, {1, 2, 3, 5}, {1, 2, 3, 4}}, target = 0;
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        lra_row row = {.n = 2, .width = 2, .value = x[s], .target = &target, .n_targets = 1};
        lra_sequences_add(&d.split[s], &row);
    }
    lra_repeats_count(&d, &r);
    assert_int_equal(r.in_train[LRA_VAL_SPLIT], 0);
    assert_int_equal(r.in_train[LRA_TEST_SPLIT], 1);
    free_splits(&d);
}

/* Windows of a stream are found at any offset in another stream. */
TEST(windows)
{
    for (int wide = 0; wide < 2; wide++) {
        lra_err e;
        const lra_task task = {.name = "stream", .input.vocab = 256, .goal = LRA_GOAL_NEXT};
        lra_dataset d = {.task = &task, .config = lra_config_parse("context=4", &e)};
        static const char *const text[] = {"the quick brown fox jumps", "uickfox ", "abcd brown"};
        for (int s = 0; s < LRA_N_SPLITS; s++) {
            int64_t n = (int64_t)strlen(text[s]);
            uint16_t *to = lra_sequences_extend(&d.split[s], 1, n, 1 + wide, &e);
            for (int64_t i = 0; i < n; i++) {
                to[i * (1 + wide)] = (uint16_t)text[s][i];
                if (wide) to[2 * i + 1] = 1;
            }
        }
        lra_repeats r;
        lra_repeats_count(&d, &r);
        assert_int_equal(r.n[LRA_VAL_SPLIT], 2);
        assert_int_equal(r.in_train[LRA_VAL_SPLIT], 2); /* the windows are "uick" and "fox " */
        /* the windows are "abcd" and " bro"; the tokens after them are less than a window */
        assert_int_equal(r.n[LRA_TEST_SPLIT], 2);
        assert_int_equal(r.in_train[LRA_TEST_SPLIT], 1);
        assert_int_equal(r.in_val, 0);
        free_splits(&d);
        lra_config_free(d.config);
    }
}

static void check_text(const lra_task *t, int64_t train, int64_t val, int64_t test,
                       const char *expected)
{
    lra_dataset d = {.task = t, .n_official = {train, val, test}};
    char *text = lra_published_text(&d);
    if (expected)
        assert_string_equal(text ? text : "nothing", expected);
    else
        assert_null(text);
    lra_free(text);
}

TEST(sizes)
{
    check_text(&lra_task_listops, 96000, 2000, 2000, NULL);
    /* generated data, or data that cannot be compared */
    check_text(&lra_task_listops, 0, 0, 0, NULL);
    check_text(&lra_task_listops, 2400, 2000, 20,
               "2,400 of 96,000 training, 2,000 of 2,000 "
               "validation and 20 of 2,000 test rows");
    check_text(&lra_task_text, 25000, 0, 1000007,
               "25,000 of 25,000 training and 1,000,007 instead of 25,000 test rows");
    check_text(&lra_task_path_x, 24, 0, 0, "24 of 200,000 rows");
    check_text(&lra_task_enwik8, 41, 0, 0, "41 of 100,000,000 tokens");
}

/* Every task that can import files has numbers of published rows. */
TEST(every_task_knows)
{
    for (int i = 0; lra_task_at(i); i++)
        if (lra_task_at(i)->files.import && !lra_task_at(i)->resolve &&
            lra_task_at(i)->files.published[LRA_TRAIN_SPLIT] < 1000)
            fail_msg("'%s' does not know its published rows", lra_task_at(i)->name);
}
