/* Kinds of rows (values with targets, pairs of documents, streams, large vocabularies), written to
 * files, read again, and in batches. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/loader/batch.h"
#include "datasets/loader/cache.h"
#include "kernels/base/core/mem.h"

static char *folder;

static int make_folder(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    folder = lra_format("%s/lra-rows-XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char *path = lra_format("%s/data.h5", folder);
    remove(path);
    remove(folder);
    lra_free(path);
    lra_free(folder);
    return 0;
}

static lra_dataset *dataset_of(const lra_task *t)
{
    lra_dataset *d = lra_alloc(sizeof *d);
    d->task = t, d->vocab = t->input.vocab, d->config = lra_config_new();
    return d;
}

/* Returns the data set after it was written to a file and read again. */
static lra_dataset *through_a_file(lra_dataset *d)
{
    lra_err e;
    char *path = lra_format("%s/data.h5", folder);
    lra_cache_fingerprint(d);
    OK(lra_cache_write(d, path, &e));
    lra_dataset *again = dataset_of(d->task);
    OK(lra_cache_read(again, path, &e));
    assert_string_equal(again->fingerprint, d->fingerprint);
    assert_int_equal(again->vocab, d->vocab);
    lra_free(path);
    return again;
}

static lra_loader *loader_of(const lra_dataset *d, const lra_buckets *b, int64_t batch,
                             bool training)
{
    lra_loader_spec s = {.data = d, .buckets = b, .batch = batch, .seed = 3, .training = training};
    return lra_loader_new(&s);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void times_ten(const lra_dataset *d, const lra_row *row, float *out)
{
    (void)d;
    for (int64_t t = 0; t < row->n; t++) out[t] = 10 * row->value[2 * t];
}

/* Makes rows i of i + 1 steps with the values (i, t); the target of every step but the first is i +
 * t. */
static void fill_steps(lra_dataset *d)
{
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int i = 0; i < 3; i++) {
            float value[8], target[4];
            lra_row row = {.n = i + 1,
                           .width = 2,
                           .n_targets = 1,
                           .step_targets = true,
                           .value = value,
                           .target = target};
            for (int t = 0; t <= i; t++) {
                value[2 * t] = (float)i, value[2 * t + 1] = (float)t;
                target[t] = t ? (float)(i + t) : NAN;
            }
            lra_sequences_add(&d->split[s], &row);
        }
}

TEST(targets_at_steps)
{
    const lra_task task = {.name = "steps",
                           .goal = LRA_GOAL_TOKENS,
                           .n_targets = 1,
                           .input.channels = 1,
                           .input.values = times_ten};
    lra_dataset *made = dataset_of(&task);
    fill_steps(made);
    lra_dataset *d = through_a_file(made);
    const lra_buckets buckets = {1, {4}};
    lra_loader *l = loader_of(d, &buckets, 4, false);
    assert_int_equal(lra_loader_batches(l), 1);
    const lra_batch *b = lra_loader_get(l, 0);
    assert_null(b->token);
    for (int k = 0; k < 4; k++)
        for (int t = 0; t < 4; t++) {
            bool inside = k < 3 && t <= k, target_mask = inside && t > 0;
            assert_true(b->value[4 * k + t] == (inside ? 10.0f * (float)k : 0));
            assert_true(b->target_mask[4 * k + t] == (float)target_mask);
            assert_true(b->target[4 * k + t] == (target_mask ? (float)(k + t) : 0));
        }
    assert_int_equal(b->length[2], 3);
    assert_int_equal(b->label[3], -1);
    lra_loader_free(l);
    lra_dataset_free(d);
    lra_dataset_free(made);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

TEST(documents_side_by_side)
{
    const lra_task task = {
        .name = "pairs", .goal = LRA_GOAL_PAIR, .n_classes = 2, .input.vocab = 50};
    lra_dataset *made = dataset_of(&task);
    uint16_t token[6] = {11, 12, 13, 21, 22, 23};
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int i = 1; i <= 3; i++) {
            lra_row row = {.n = 5, .width = 1, .token = token, .label = i % 2, .middle = i};
            lra_sequences_add(&made->split[s], &row);
        }
    lra_dataset *d = through_a_file(made);
    const lra_buckets buckets = {1, {4}};
    lra_loader *l = loader_of(d, &buckets, 4, false);
    const lra_batch *b = lra_loader_get(l, 0);
    assert_int_equal(b->n, 8);
    for (int k = 0; k < 3;
         /* rows in the order of their longer document: 1 (lengths 2, 3), 2 (3, 2), 0 (1, 4) */
         k++) {
        int64_t i = b->row[k] + 1;
        assert_int_equal(b->length[k], i);
        assert_int_equal(b->length[4 + k], 5 - i);
        for (int64_t t = 0; t < 4; t++) {
            assert_int_equal(b->token[4 * k + t], t < i ? token[t] : 0);
            assert_int_equal(b->token[4 * (4 + k) + t], t < 5 - i ? token[i + t] : 0);
        }
        assert_int_equal(b->label[k], i % 2);
    }
    assert_int_equal(b->row[2], 0);
    assert_int_equal(b->label[3], -1);
    assert_true(fabs(lra_loader_padding(l) - (1 - 15.0 / 32)) < 1e-12);
    lra_loader_free(l);
    lra_dataset_free(d);
    lra_dataset_free(made);
}

/* ---- streams --------------------------------------------------------------------------------- */

enum { WORDS = 103, FIRST = 70000 };

/* Makes a stream of the tokens FIRST + i, which need more than 16 bits. */
static lra_dataset *stream(const lra_task *t)
{
    lra_dataset *d = dataset_of(t);
    uint16_t halves[2 * WORDS];
    for (int i = 0; i < WORDS; i++) {
        halves[2 * i] = (uint16_t)(FIRST + i);
        halves[2 * i + 1] = (uint16_t)((FIRST + i) >> 16);
    }
    lra_row row = {.n = WORDS, .width = 2, .token = halves};
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_add(&d->split[s], &row);
    d->max_length = 10;
    return d;
}

TEST(every_token_is_asked_once)
{
    const lra_task task = {.name = "words", .goal = LRA_GOAL_NEXT, .input.vocab = FIRST + WORDS};
    lra_dataset *made = stream(&task), *d = through_a_file(made);
    d->max_length = 10;
    lra_buckets buckets = lra_buckets_find(d);
    assert_int_equal(buckets.n, 1);
    lra_loader *l = loader_of(d, &buckets, 4, false);
    int target_mask[WORDS] = {0};
    assert_int_equal(lra_loader_rows(l), 11);
    assert_int_equal(lra_loader_batches(l), 3);
    for (int64_t i = 0; i < 3; i++) {
        const lra_batch *b = lra_loader_get(l, i);
        for (int k = 0; k < 40; k++) {
            if (b->label[k] < 0) continue;
            assert_int_equal(b->label[k], b->token[k] + 1);
            target_mask[b->label[k] - FIRST]++;
        }
    }
    for (int i = 0; i < WORDS; i++) assert_int_equal(target_mask[i], i > 0);
    lra_loader_free(l);
    lra_dataset_free(d);
    lra_dataset_free(made);
}

TEST(parts_are_rotated)
{
    const lra_task task = {.name = "words", .goal = LRA_GOAL_NEXT, .input.vocab = FIRST + WORDS};
    lra_dataset *d = stream(&task);
    lra_buckets buckets = lra_buckets_find(d);
    lra_loader *l = loader_of(d, &buckets, 4, true), *resumed = loader_of(d, &buckets, 4, true);
    int32_t first[2][4];
    assert_int_equal(lra_loader_batches(l), 2); /* two batches of 25 rows are an epoch */
    for (int epoch = 0; epoch < 2; epoch++) {
        lra_loader_epoch(l, epoch);
        for (int64_t i = 0; i < 2; i++) {
            const lra_batch *b = lra_loader_get(l, i);
            for (int k = 0; k < 40; k++) {
                int64_t part = k / 10, at = b->token[k] - FIRST - 25 * part;
                assert_in_range(at, 0, 24);
                assert_int_equal(b->label[k], FIRST + 25 * part + (at + 1) % 25);
                if (k % 10) assert_int_equal(b->token[k], b->label[k - 1]);
                if (i == 0 && k % 10 == 0) first[epoch][part] = b->token[k];
            }
        }
    }
    assert_memory_not_equal(first[0], first[1], sizeof first[0]);
    lra_loader_epoch(resumed, 1);
    for (int k = 0; k < 4; k++)
        assert_int_equal(lra_loader_get(resumed, 0)->token[10 * k], first[1][k]);
    lra_loader_free(l);
    lra_loader_free(resumed);
    lra_dataset_free(d);
}

/* ---- subsets and levels ---------------------------------------------------------------------- */

TEST(a_fraction_of_the_rows)
{
    const lra_task task = {.name = "levels",
                           .n_classes = 1,
                           .input.vocab = 256,
                           .input.channels = 1,
                           .input.level_scale = 2,
                           .input.level_shift = -1};
    lra_dataset *d = dataset_of(&task);
    float scale[2] = {2, 4}, shift[2] = {-1, -2};
    for (int i = 0; i < 10; i++) {
        uint16_t token[2] = {(uint16_t)i, (uint16_t)(10 + i)};
        lra_sequences_add_tokens(&d->split[0], token, 2, 0);
    }
    d->scale = lra_alloc(sizeof scale), d->shift = lra_alloc(sizeof shift);
    memcpy(d->scale, scale, sizeof scale);
    memcpy(d->shift, shift, sizeof shift);
    const lra_buckets buckets = {1, {2}};
    lra_loader_spec s = {.data = d, .buckets = &buckets, .batch = 2, .training = true};
    s.fraction = 0.5, s.levels = true;
    lra_loader *l = lra_loader_new(&s);
    int sum = 0;
    assert_int_equal(lra_loader_rows(l), 5);
    for (int epoch = 0; epoch < 20; epoch++) {
        lra_loader_epoch(l, epoch);
        for (int64_t i = 0; i < lra_loader_batches(l); i++) {
            const lra_batch *b = lra_loader_get(l, i);
            for (int k = 0; k < 2; k++) {
                /* numpy.random.RandomState(42).permutation(10) begins with 8 1 5 0 7, the training
                 * rows */
                assert_true(strchr("81507", '0' + (int)b->row[k]) != NULL);
                sum |= 1 << b->row[k];
                assert_true(b->value[2 * k] == 2.0f * (float)b->token[2 * k] - 1);
                assert_true(b->value[2 * k + 1] == 4.0f * (float)b->token[2 * k + 1] - 2);
            }
        }
    }
    assert_int_equal(sum, 1 << 8 | 1 << 1 | 1 << 5 | 1 << 0 | 1 << 7);
    lra_loader_free(l);
    lra_dataset_free(d);
}

/* A fraction of 0.58 of 100 rows has 58 rows, although 0.58 times 100 is less than 58 in double
 * precision. */
TEST(a_fraction_is_exact)
{
    const lra_task task = {.name = "words", .n_classes = 1, .input.vocab = 256};
    lra_dataset *d = dataset_of(&task);
    for (int i = 0; i < 100; i++)
        lra_sequences_add_tokens(&d->split[0], &(uint16_t){(uint16_t)i}, 1, 0);
    const lra_buckets buckets = {1, {1}};
    static const struct {
        double share;
        int rows;
    } cases[] = {{0.58, 58}, {0.29, 29}, {0.07, 7}, {0.999, 99}, {1, 100}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        lra_loader_spec s = {.data = d, .buckets = &buckets, .batch = 1, .training = true};
        s.fraction = cases[k].share;
        lra_loader *l = lra_loader_new(&s);
        assert_int_equal(lra_loader_rows(l), cases[k].rows);
        lra_loader_free(l);
    }
    lra_dataset_free(d);
}

GROUP(make_folder, remove_folder);
