/* Masked inputs: how often positions are selected, what replaces their tokens, which targets they
 * have; loaders of masked, repeated and grouped batches. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/loader/batch.h"
#include "kernels/base/core/mem.h"

enum { VOCAB = 20, FIRST = 3, N = 60000 };
static const lra_task words = {.name = "words", .input.vocab = VOCAB, .input.first_word = FIRST};
static const lra_task with_mask = {
    .name = "m", .input.vocab = VOCAB, .input.first_word = FIRST, .input.mask = 7};
static const lra_task colours = {.name = "colours", .input.vocab = 256, .input.channels = 3};
static const lra_task levels = {
    .name = "l", .input.vocab = 256, .input.channels = 1, .input.predicts_levels = true};

/* Checks a count of n draws with probability p, to four standard deviations. */
static void assert_share(double count, double n, double p)
{
    double tolerance = 4 * sqrt(p * (1 - p) * n);
    if (fabs(count - p * n) > tolerance)
        fail_msg("%g of %g, expected %g +- %g", count, n, p * n, tolerance);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void draw_tokens(const lra_task *t, lra_masking m, uint64_t index, int32_t *token,
                        int32_t *word)
{
    lra_dataset d = {.task = t, .vocab = t->input.vocab};
    lra_rng rng = lra_rng_new(1, 2, index);
    for (int i = 0; i < N; i++) token[i] = i % VOCAB;
    lra_mask_tokens(&d, m, &rng, N, token, word);
}

TEST(denoising)
{
    int32_t *token = lra_alloc_array(N, sizeof *token), *word = lra_alloc_array(N, sizeof *word);
    const lra_task *const tasks[] = {&words, &with_mask};
    for (int k = 0; k < 2; k++) {
        int mask = k ? 7 : VOCAB, n_words = VOCAB - FIRST - k;
        double open = 0, value_mask = 0, masked = 0, became[VOCAB + 1] = {0};
        draw_tokens(tasks[k], (lra_masking){LRA_MASK_DENOISE, 0.3}, 5, token, word);
        for (int i = 0; i < N; i++) {
            int was = i % VOCAB;
            if (was < FIRST || was == mask) {
                assert_int_equal(token[i], was);
                assert_int_equal(word[i], -1);
                continue;
            }
            open++;
            if (word[i] < 0) {
                assert_int_equal(token[i], was);
                continue;
            }
            assert_int_equal(word[i], was);
            value_mask++;
            masked += token[i] == mask;
            became[token[i]]++;
        }
        assert_share(value_mask, open, 0.3);
        assert_share(masked, value_mask, 2.0 / 3);
        for (int v = 0; v <= VOCAB; v++) {
            if (v < FIRST) assert_true(became[v] == 0);
            if (v >= FIRST && v < VOCAB && v != mask)
                assert_share(became[v], value_mask - masked, 1.0 / n_words);
        }
    }
    lra_free(token);
    lra_free(word);
}

TEST(masking)
{
    int32_t *token = lra_alloc_array(N, sizeof *token), *word = lra_alloc_array(N, sizeof *word);
    double value_mask = 0, special = 0;
    draw_tokens(&words, (lra_masking){LRA_MASK_MASKED, 0.15}, 6, token, word);
    for (int i = 0; i < N; i++) {
        assert_int_equal(token[i], word[i] < 0 ? i % VOCAB : VOCAB);
        if (word[i] >= 0) assert_int_equal(word[i], i % VOCAB);
        value_mask += word[i] >= 0;
        special += word[i] >= 0 && word[i] < FIRST;
    }
    assert_share(value_mask, N, 0.15);
    assert_share(special, (double)N * FIRST / VOCAB, 0.15);
    draw_tokens(&words, (lra_masking){LRA_MASK_NEXT, 0.15}, 6, token, word);
    for (int i = 0; i < N; i++) {
        assert_int_equal(token[i], i % VOCAB);
        assert_int_equal(word[i], i + 1 < N ? (i + 1) % VOCAB : -1);
    }
    lra_free(token);
    lra_free(word);
}

/* ---- values ---------------------------------------------------------------------------------- */

TEST(values)
{
    enum { M = 5000, C = 3 };
    lra_dataset d = {.task = &colours, .vocab = 256};
    lra_masking m = {LRA_MASK_MASKED, 0.5};
    static float value_target[M * C], value[M * (C + 1)], value_mask[M * C];
    double n_picked = 0;
    for (int i = 0; i < M * C; i++) value_target[i] = (float)(i + 1);
    lra_rng rng = lra_rng_new(1, 2, 3);
    assert_int_equal(lra_mask_channels(&d, m), C + 1);
    lra_mask_values(&d, m, &rng, M, value_target, value, value_mask, NULL, NULL);
    for (int t = 0; t < M; t++) {
        bool masked = value[t * (C + 1) + C] == 1.0f;
        n_picked += masked;
        if (!masked) assert_true(value[t * (C + 1) + C] == 0.0f);
        for (int c = 0; c < C; c++) {
            float was = (float)(t * C + c + 1);
            assert_true(value[t * (C + 1) + c] == (masked ? 0.0f : was));
            assert_true(value_target[t * C + c] == (masked ? was : 0.0f));
            assert_true(value_mask[t * C + c] == (masked ? 1.0f : 0.0f));
        }
    }
    assert_share(n_picked, M, 0.5);
}

TEST(next_values_and_levels)
{
    lra_dataset d = {.task = &levels, .vocab = 256};
    lra_masking m = {LRA_MASK_NEXT, 0};
    float value_target[4] = {1, 2, 3, 4}, value[4], value_mask[4];
    const int32_t level[4] = {10, 20, 30, 40};
    int32_t word[4];
    lra_rng rng = lra_rng_new(1, 2, 3);
    assert_int_equal(lra_mask_channels(&d, m), 1);
    assert_int_equal(lra_mask_classes(&d), 256);
    lra_mask_values(&d, m, &rng, 4, value_target, value, value_mask, level, word);
    assert_memory_equal(value, ((float[]){1, 2, 3, 4}), sizeof value);
    assert_memory_equal(value_target, ((float[]){2, 3, 4, 0}), sizeof value_target);
    assert_memory_equal(value_mask, ((float[]){1, 1, 1, 0}), sizeof value_mask);
    assert_memory_equal(word, ((int32_t[]){20, 30, 40, -1}), sizeof word);
}

/* A position is selected if the random number drawn for it is below p, for any p and any offset in
 * the random stream. */
TEST(picks_are_drawn_step_by_step)
{
    enum { STEPS = 700 };
    static const double shares[] = {0, 1e-9, 0.15, 0.3, 0.5, 1};
    lra_dataset tokens = {.task = &words, .vocab = VOCAB}, one = {.task = &levels, .vocab = 256};
    for (int k = 0; k < 12; k++) {
        const lra_masking m = {LRA_MASK_MASKED, shares[k % 6]};
        lra_rng a = lra_rng_new(1, 2, (uint64_t)k), b, expected;
        /* the position does not use the first of the four words of a block */
        if (k >= 6) lra_rng_u32(&a);
        b = expected = a;
        int32_t token[STEPS], word[STEPS], level[STEPS], found[STEPS];
        float value_target[STEPS], value[2 * STEPS], value_mask[STEPS];
        for (int t = 0; t < STEPS; t++) token[t] = level[t] = FIRST, value_target[t] = 1;
        lra_mask_tokens(&tokens, m, &a, STEPS, token, word);
        lra_mask_values(&one, m, &b, STEPS, value_target, value, value_mask, level, found);
        for (int t = 0; t < STEPS; t++) {
            bool target_mask = lra_rng_u01(&expected) < m.p;
            assert_int_equal(word[t] >= 0, target_mask);
            assert_int_equal(found[t] >= 0, target_mask);
            assert_true(value_mask[t] == (float)target_mask);
        }
        assert_int_equal(lra_rng_u32(&a), lra_rng_u32(&b));
    }
}

TEST(refused)
{
    lra_err e;
    const lra_task stream = {.name = "stream", .goal = LRA_GOAL_NEXT, .input.vocab = 5};
    lra_dataset d = {.task = &stream, .vocab = 5};
    assert_int_equal(lra_mask_check(&d, (lra_masking){LRA_MASK_MASKED, 0.1}, &e), LRA_USAGE);
    assert_non_null(strstr(e.msg, "next token"));
    d.task = &colours;
    assert_int_equal(lra_mask_check(&d, (lra_masking){LRA_MASK_DENOISE, 0.1}, &e), LRA_USAGE);
    assert_int_equal(lra_mask_check(&d, (lra_masking){LRA_MASK_MASKED, 0.1}, &e), 0);
}

/* ---- loaders --------------------------------------------------------------------------------- */

/* Fills rows i = 0..n-1 with 5 + i % 7 tokens 3 + (i + t) % 17. */
static void fill_rows(lra_dataset *d, const lra_task *task, int n)
{
    *d = (lra_dataset){.task = task, .vocab = task->input.vocab};
    for (int i = 0; i < n; i++) {
        uint16_t token[12];
        for (int t = 0; t < 12; t++) token[t] = (uint16_t)(FIRST + (i + t) % (VOCAB - FIRST));
        lra_row row = {.n = 5 + i % 7, .width = 1, .token = token, .label = 1};
        if (task->goal == LRA_GOAL_PAIR) row.middle = 2;
        lra_sequences_add(&d->split[0], &row);
    }
    d->max_length = 12;
}

static lra_loader *loader(const lra_dataset *d, const lra_buckets *b, lra_masking m, int64_t batch)
{
    lra_loader_spec s = {.data = d, .buckets = b, .batch = batch, .seed = 9, .training = true};
    s.masking = m;
    return lra_loader_new(&s);
}

TEST(masks_are_fresh_and_keyed)
{
    lra_dataset d;
    const lra_buckets b = {1, {12}};
    fill_rows(&d, &words, 40);
    lra_loader *l = loader(&d, &b, (lra_masking){LRA_MASK_MASKED, 0.5}, 40);
    static int32_t seen[2][40][12];
    for (int epoch = 0; epoch < 3; epoch++) { /* the third epoch is the first one again */
        lra_loader_epoch(l, epoch % 2);
        const lra_batch *x = lra_loader_get(l, 0);
        for (int k = 0; k < 40; k++) {
            int64_t row = x->row[k], n = d.split[0].start[row + 1] - d.split[0].start[row];
            const int32_t *word = x->word + k * 12;
            for (int64_t t = n; t < 12; t++) assert_int_equal(word[t], -1);
            for (int64_t t = 0; t < n; t++)
                assert_true(x->token[k * 12 + t] == VOCAB ? word[t] >= FIRST : word[t] == -1);
            if (epoch == 2) assert_memory_equal(seen[0][row], word, 12 * sizeof *word);
            if (epoch < 2) memcpy(seen[epoch][row], word, 12 * sizeof *word);
        }
    }
    int same = 0;
    for (int i = 0; i < 40; i++) same += !memcmp(seen[0][i], seen[1][i], sizeof seen[0][i]);
    assert_true(same < 6);
    lra_loader_free(l);
    lra_sequences_free(&d.split[0]);
}

/* Records which positions of the 12-token rows of a split are masked in an epoch: one bit for each
 * position, one word for each row. */
static void picks_of(const lra_dataset *d, int split, int64_t epoch, uint32_t picks[40])
{
    const lra_buckets b = {1, {12}};
    lra_loader_spec s = {.data = d, .buckets = &b, .batch = 40, .seed = 9, .split = split};
    s.masking = (lra_masking){LRA_MASK_MASKED, 0.5};
    s.training = split == LRA_TRAIN_SPLIT;
    lra_loader *l = lra_loader_new(&s);
    lra_loader_epoch(l, epoch);
    const lra_batch *x = lra_loader_get(l, 0);
    memset(picks, 0, 40 * sizeof *picks);
    for (int k = 0; k < 40; k++)
        for (int t = 0; t < 12; t++) picks[x->row[k]] |= (uint32_t)(x->word[k * 12 + t] >= 0) << t;
    lra_loader_free(l);
}

/* The rows are the same in every split, but their masks differ, and so do those of the next
 * epoch. */
TEST(masks_differ_between_splits_and_epochs)
{
    lra_dataset d;
    uint32_t picks[2 * LRA_N_SPLITS][40];
    fill_rows(&d, &words, 40);
    for (int s = 1; s < LRA_N_SPLITS; s++) d.split[s] = d.split[0];
    for (int k = 0; k < 2 * LRA_N_SPLITS; k++) picks_of(&d, k / 2, k % 2, picks[k]);
    for (int a = 0; a < 2 * LRA_N_SPLITS; a++)
        for (int b = 0; b < a; b++) {
            int same = 0;
            for (int i = 0; i < 40; i++) same += picks[a][i] == picks[b][i];
            if (same > 10) fail_msg("%d of 40 masks of %d and %d are the same", same, a, b);
        }
    lra_sequences_free(&d.split[0]);
}

/* Both documents of a pair are masked; the position after the first document does not belong to the
 * second. */
TEST(pairs)
{
    const lra_task pair = {
        .name = "p", .input.vocab = VOCAB, .input.first_word = FIRST, .goal = LRA_GOAL_PAIR};
    lra_dataset d;
    const lra_buckets b = {1, {12}};
    fill_rows(&d, &pair, 8);
    lra_loader *l = loader(&d, &b, (lra_masking){LRA_MASK_NEXT, 0}, 8);
    const lra_batch *x = lra_loader_get(l, 0);
    assert_int_equal(x->n, 16);
    for (int k = 0; k < 8; k++) {
        const int32_t *word = x->word + k * 12, *token = x->token + k * 12;
        assert_int_equal(word[0], token[1]);
        assert_int_equal(word[1], -1);
        word += (ptrdiff_t)8 * 12, token += (ptrdiff_t)8 * 12;
        assert_int_equal(word[0], token[1]);
        assert_int_equal(word[x->length[8 + k] - 1], -1);
    }
    lra_loader_free(l);
    lra_sequences_free(&d.split[0]);
}

/* A tenth of the rows with the same number of batches: every row occurs equally often, each time
 * with a new mask. */
TEST(a_fraction_with_the_same_steps)
{
    lra_dataset d;
    const lra_buckets b = {1, {12}};
    fill_rows(&d, &words, 200);
    lra_loader_spec s = {.data = &d, .buckets = &b, .batch = 10, .seed = 9, .training = true};
    s.fraction = 0.1, s.masking = (lra_masking){LRA_MASK_MASKED, 0.5};
    lra_loader *few = lra_loader_new(&s);
    assert_int_equal(lra_loader_batches(few), 2);
    s.same_steps = true;
    lra_loader *l = lra_loader_new(&s);
    assert_int_equal(lra_loader_rows(l), 20);
    assert_int_equal(lra_loader_batches(l), 20);
    int times[200] = {0}, changes = 0;
    static int32_t last[200][12];
    for (int i = 0; i < 20; i++) {
        const lra_batch *x = lra_loader_get(l, i);
        for (int k = 0; k < 10; k++) {
            int64_t row = x->row[k];
            if (times[row]++) changes += memcmp(last[row], x->word + k * 12, sizeof last[row]) != 0;
            memcpy(last[row], x->word + k * 12, sizeof last[row]);
        }
    }
    int n_rows = 0;
    for (int i = 0; i < 200; i++) {
        assert_true(times[i] == 0 || times[i] == 10);
        n_rows += times[i] > 0;
    }
    assert_int_equal(n_rows, 20);
    assert_true(changes > 150); /* 180 masks are compared with the previous one of the same row */
    lra_loader_free(few);
    lra_loader_free(l);
    lra_sequences_free(&d.split[0]);
}

/* If the batches are not a whole number of passes over the rows, some rows occur once more than
 * others. */
TEST(a_pass_more_than_the_steps_need)
{
    lra_dataset d;
    const lra_buckets b = {1, {12}};
    fill_rows(&d, &words, 100);
    lra_loader_spec s = {.data = &d, .buckets = &b, .batch = 16, .training = true};
    s.fraction = 0.3, s.same_steps = true;
    lra_loader *l = lra_loader_new(&s);
    assert_int_equal(lra_loader_batches(l), 6);
    int times[100] = {0}, n_rows = 0;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 16; k++) times[lra_loader_get(l, i)->row[k]]++;
    for (int i = 0; i < 100; i++) {
        assert_true(times[i] == 0 || times[i] == 3 || times[i] == 4);
        n_rows += times[i] > 0;
    }
    assert_int_equal(n_rows, 30);
    lra_loader_free(l);
    lra_sequences_free(&d.split[0]);
}

/* The number of rows is not rounded down because of floating-point errors: 0.58 times 100 is
 * 57.99999999999999 in double precision, but there are 58 rows. */
TEST(fractions_are_not_cut_short)
{
    lra_dataset d;
    const lra_buckets b = {1, {12}};
    fill_rows(&d, &words, 100);
    for (int percent = 1; percent <= 100; percent++) {
        lra_loader_spec s = {.data = &d, .buckets = &b, .batch = 1, .training = true};
        s.fraction = percent / 100.0;
        lra_loader *l = lra_loader_new(&s);
        assert_int_equal(lra_loader_rows(l), percent);
        lra_loader_free(l);
    }
    lra_sequences_free(&d.split[0]);
}

/* Four batches of 5 rows have the same content as one batch of 20. */
TEST(groups)
{
    lra_dataset d;
    const lra_buckets b = {1, {12}};
    fill_rows(&d, &words, 210);
    lra_loader_spec s = {.data = &d, .buckets = &b, .batch = 20, .seed = 9, .training = true};
    lra_loader *large = lra_loader_new(&s);
    s.batch = 5, s.group = 4;
    lra_loader *small = lra_loader_new(&s);
    assert_int_equal(lra_loader_batches(large), 10);
    assert_int_equal(lra_loader_batches(small), 40);
    for (int epoch = 0; epoch < 2; epoch++) {
        lra_loader_epoch(large, epoch);
        lra_loader_epoch(small, epoch);
        for (int i = 0; i < 40; i++) {
            const lra_batch *x = lra_loader_get(large, i / 4), *y = lra_loader_get(small, i);
            const int32_t *from = x->token + (ptrdiff_t)(i % 4) * 5 * 12;
            assert_memory_equal(from, y->token, 5 * 12 * sizeof *from);
        }
    }
    lra_loader_free(large);
    lra_loader_free(small);
    lra_sequences_free(&d.split[0]);
}

/* The same holds for streams; a fraction of a stream is its beginning. */
TEST(streams)
{
    const lra_task stream = {.name = "s", .input.vocab = 65000, .goal = LRA_GOAL_NEXT};
    lra_dataset d = {.task = &stream, .vocab = 65000, .max_length = 4};
    uint16_t token[400];
    for (int i = 0; i < 400; i++) token[i] = (uint16_t)i;
    lra_sequences_add_tokens(&d.split[0], token, 400, 0);
    const lra_buckets b = {1, {4}};
    lra_loader_spec s = {.data = &d, .buckets = &b, .batch = 6, .seed = 9, .training = true};
    s.fraction = 0.5;
    lra_loader *large = lra_loader_new(&s);
    s.batch = 2, s.group = 3;
    lra_loader *small = lra_loader_new(&s);
    assert_int_equal(lra_loader_batches(small), 3 * lra_loader_batches(large));
    for (int i = 0; i < lra_loader_batches(small); i++) {
        const lra_batch *x = lra_loader_get(large, i / 3), *y = lra_loader_get(small, i);
        for (int k = 0; k < 8; k++) {
            assert_int_equal(y->token[k], x->token[i % 3 * 8 + k]);
            assert_true(y->token[k] < 200);
        }
    }
    lra_loader_free(large);
    lra_loader_free(small);
    lra_sequences_free(&d.split[0]);
}
