/* Batches: every row occurs once, buckets equal those of a brute-force search, the state consists
 * of (epoch, index) only, augmentation. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "datasets/listops/tree.h"
#include "datasets/loader/batch.h"
#include "datasets/loader/permute.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "tests/fixtures/tiny_tasks.h"

enum { B = 64 };

static int make_data(void **state)
{
    lra_err e;
    lra_config *c = lra_task_config(&lra_task_listops, "quick", &e);
    lra_config_set(c, "train", "9000");
    lra_config_set(c, "val", "100");
    lra_config_set(c, "test", "107");
    *state = lra_dataset_make(&lra_task_listops, c, &e);
    lra_config_free(c);
    return *state ? 0 : -1;
}

static lra_loader *loader(const lra_dataset *d, int split, const lra_buckets *b, uint64_t seed,
                          bool training, bool augment)
{
    lra_loader_spec s = {.data = d,
                         .split = split,
                         .buckets = b,
                         .batch = B,
                         .seed = seed,
                         .training = training,
                         .augment = augment};
    return lra_loader_new(&s);
}

static int free_data(void **state)
{
    lra_dataset_free(*state);
    return 0;
}

static int64_t length_of(const lra_sequences *r, int64_t i)
{
    return r->start[i + 1] - r->start[i];
}

static void check_batch(const lra_sequences *r, const lra_batch *b, int64_t T, int *seen,
                        int64_t *n_seen)
{
    for (int k = 0; k < B; k++) {
        const int32_t *token = b->token + k * T;
        int64_t row = b->row[k], n = row < 0 ? 0 : length_of(r, row);
        for (int64_t t = n; t < T; t++) assert_int_equal(token[t], 0);
        if (row < 0) {
            assert_int_equal(b->label[k], -1);
            assert_int_equal(b->length[k], 1);
            continue;
        }
        assert_int_equal(seen[row]++, 0);
        assert_int_equal(b->label[k], r->label[row]);
        assert_int_equal(b->length[k], n);
        for (int64_t t = 0; t < n; t++) assert_int_equal(token[t], r->token[r->start[row] + t]);
        (*n_seen)++;
    }
}

TEST(every_row_once)
{
    const lra_dataset *d = *state;
    lra_buckets b = lra_buckets_find(d);
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        const lra_sequences *r = &d->split[s];
        bool training = s == LRA_TRAIN_SPLIT;
        lra_loader *l = loader(d, s, &b, 5, training, false);
        int *seen = lra_alloc_array((size_t)r->n, sizeof *seen);
        int64_t n_seen = 0;
        for (int64_t i = 0; i < lra_loader_batches(l); i++) {
            const lra_batch *batch = lra_loader_get(l, i);
            check_batch(r, batch, b.length[batch->bucket], seen, &n_seen);
        }
        assert_int_equal(n_seen, training ? r->n / B * B : r->n);
        if (training) assert_true(lra_loader_padding(l) < 0.06);
        lra_free(seen);
        lra_loader_free(l);
    }
}

/* Rows keep their tokens and get labels of other rows: a permutation that depends on the seed, but
 * neither on the epoch nor on the order of rows. */
TEST(labels_of_others)
{
    const lra_dataset *d = *state;
    const lra_sequences *r = &d->split[LRA_VAL_SPLIT];
    lra_buckets b = lra_buckets_find(d);
    int64_t *from = lra_label_permutation(r->n, 5, LRA_VAL_SPLIT), moved = 0;
    int64_t *other = lra_label_permutation(r->n, 6, LRA_VAL_SPLIT);
    int *taken = lra_alloc_array((size_t)r->n, sizeof *taken);
    for (int64_t i = 0; i < r->n; i++) moved += from[i] != i, taken[from[i]]++;
    for (int64_t i = 0; i < r->n; i++) assert_int_equal(taken[i], 1);
    assert_true(moved > r->n * 9 / 10);
    assert_memory_not_equal(from, other, (size_t)r->n * sizeof *from);
    for (int training = 0; training < 2; training++) {
        lra_loader *l = lra_loader_new(&(lra_loader_spec){.data = d,
                                                          .split = LRA_VAL_SPLIT,
                                                          .buckets = &b,
                                                          .batch = B,
                                                          .seed = 5,
                                                          .training = training == 1,
                                                          .augment = training == 1,
                                                          .permuted = true});
        lra_loader_epoch(l, 3);
        for (int64_t i = 0; i < lra_loader_batches(l); i++) {
            const lra_batch *batch = lra_loader_get(l, i);
            const int64_t T = b.length[batch->bucket];
            for (int k = 0; k < B && batch->row[k] >= 0; k++) {
                int64_t row = batch->row[k], first = r->start[row];
                assert_int_equal(batch->label[k], r->label[from[row]]);
                if (!training) assert_int_equal(batch->token[k * T + 1], r->token[first + 1]);
            }
        }
        lra_loader_free(l);
    }
    lra_free(from);
    lra_free(other);
    lra_free(taken);
}

TEST(epochs_differ_and_come_back)
{
    const lra_dataset *d = *state;
    lra_buckets b = lra_buckets_find(d);
    lra_loader *l = loader(d, 0, &b, 5, true, true);
    lra_loader *resumed = loader(d, 0, &b, 5, true, true);
    lra_loader *other = loader(d, 0, &b, 6, true, true);
    int same_epoch = 0, same_seed = 0;
    int64_t n = lra_loader_batches(l), first[B];
    memcpy(first, lra_loader_get(l, 3)->row, sizeof first);
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        lra_loader_epoch(l, epoch);
        for (int64_t i = 0; i < n; i++) lra_loader_get(l, i);
    }
    lra_loader_epoch(l, 1);
    lra_loader_epoch(resumed, 1);
    lra_loader_epoch(other, 1);
    for (int64_t i = n - 1; i >= 0; i -= 7) { /* batches are requested in another order */
        const lra_batch *x = lra_loader_get(l, i), *y = lra_loader_get(resumed, i);
        size_t tokens = (size_t)(B * b.length[x->bucket]);
        assert_int_equal(x->bucket, y->bucket);
        assert_memory_equal(x->row, y->row, B * sizeof *x->row);
        assert_memory_equal(x->token, y->token, tokens * sizeof *x->token);
        same_seed += memcmp(x->row, lra_loader_get(other, i)->row, B * sizeof *x->row) == 0;
    }
    same_epoch = memcmp(first, lra_loader_get(l, 3)->row, sizeof first) == 0;
    assert_int_equal(same_epoch, 0);
    assert_int_equal(same_seed, 0);
    lra_loader_free(l);
    lra_loader_free(resumed);
    lra_loader_free(other);
}

TEST(augmentation_keeps_labels)
{
    const lra_dataset *d = *state;
    const lra_sequences *r = &d->split[0];
    lra_buckets b = lra_buckets_find(d);
    lra_loader *l = loader(d, 0, &b, 5, true, true);
    int changed = 0;
    for (int64_t i = 0; i < 20; i++) {
        const lra_batch *batch = lra_loader_get(l, i);
        for (int k = 0; k < B; k++) {
            uint16_t row[32];
            lra_err e;
            for (int t = 0; t < batch->length[k]; t++)
                row[t] = (uint16_t)batch->token[k * b.length[batch->bucket] + t];
            int value = lra_listops_value(row, batch->length[k], LISTOPS_WHOLE, false, &e);
            assert_int_equal(value, batch->label[k]);
            size_t size = (size_t)batch->length[k] * sizeof *row;
            changed += memcmp(row, r->token + r->start[batch->row[k]], size) != 0;
        }
    }
    assert_true(changed > 20 * B / 2);
    lra_loader_free(l);
}

/* The length of a pair is that of the longer document, which may be the first or the second. */
TEST(the_longer_document_counts)
{
    lra_dataset *d = tiny_dataset(LRA_GOAL_PAIR);
    const lra_sequences *r = &d->split[LRA_TRAIN_SPLIT];
    int first_longer = 0, second_longer = 0;
    for (int64_t i = 0; i < r->n; i++) {
        int64_t first = r->middle[i], second = length_of(r, i) - first;
        assert_int_equal(lra_sequences_length(r, i), first > second ? first : second);
        first_longer += first > second, second_longer += first < second;
    }
    assert_true(first_longer > 5 && second_longer > 5);
    lra_dataset_free(d);
}

/* Returns the number of tokens after padding the rows to the lengths of these buckets. */
static int64_t padded(const lra_sequences *r, int n, const int64_t *length)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < r->n; i++) {
        int k = 0;
        while (k < n - 1 && length[k] < length_of(r, i)) k++;
        sum += length[k];
    }
    return sum;
}

/* Rows of 64 t tokens, t = 1..14: two lengths must share a bucket; the choice of the buckets has
 * the smallest amount of padding. */
TEST(buckets_are_the_best)
{
    enum { N = 14 };
    static uint16_t token[64 * N];
    for (uint64_t kind = 0; kind < 20; kind++) {
        lra_dataset d = {.task = &lra_task_listops, .max_length = (int64_t)64 * N};
        lra_sequences *r = &d.split[LRA_TRAIN_SPLIT];
        lra_rng rng = lra_rng_new(kind, 1, 1);
        for (int t = 1; t <= N; t++)
            for (uint32_t k = 0, n = 1 + lra_rng_below(&rng, 30); k < n; k++)
                lra_sequences_add_tokens(r, token, (int64_t)64 * t, 0);
        lra_buckets b = lra_buckets_find(&d);
        assert_int_equal(b.n, LRA_MAX_BUCKETS);
        assert_int_equal(b.length[b.n - 1], 64 * N);
        int64_t found = padded(r, b.n, b.length), best = INT64_MAX;
        for (int skip = 1; skip < N; skip++)
            for (int also = skip + 1; also < N; also++) {
                int64_t length[N];
                int n = 0;
                for (int t = 1; t <= N; t++)
                    if (t != skip && t != also) length[n++] = (int64_t)64 * t;
                int64_t sum = padded(r, n, length);
                if (sum < best) best = sum;
            }
        assert_int_equal(found, best);
        lra_sequences_free(r);
    }
}

/* Batches of long buckets are large enough for a helper thread; batches requested in reverse order
 * use no helper. The results are the same. */
TEST(a_helper_changes_nothing)
{
    const lra_dataset *d = *state;
    const lra_buckets longer = {1, {2048}};
    lra_loader *a = loader(d, 0, &longer, 5, true, true), *b = loader(d, 0, &longer, 5, true, true);
    int64_t n = lra_loader_batches(a);
    assert_true(B * 2048 >= 1 << 15);
    size_t size = (size_t)(B * 2048) * sizeof(int32_t);
    int32_t *tokens = lra_alloc_array((size_t)n, size);
    for (int epoch = 0; epoch < 2; epoch++) {
        lra_loader_epoch(a, epoch);
        lra_loader_epoch(b, epoch);
        for (int64_t i = 0; i < n; i++)
            memcpy((char *)tokens + (size_t)i * size, lra_loader_get(a, i)->token, size);
        for (int64_t i = n - 1; i >= 0; i--)
            assert_memory_equal(lra_loader_get(b, i)->token, (char *)tokens + (size_t)i * size,
                                size);
    }
    lra_free(tokens);
    lra_loader_free(a);
    lra_loader_free(b);
}

GROUP(make_data, free_data);
