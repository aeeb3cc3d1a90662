/* Tasks with a dependency distance: labels agree with the definition, no two marks are closer than
 * the distance, every row has the same marks, positions are uniform, training rows are new in every
 * epoch, and neither counts of tokens nor closer pairs reveal the label. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/loader/batch.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "tests/fixtures/refused_parameters.h"

enum { A0 = 1, A1, B0, B1, FILLER };

static lra_dataset *data_of(const lra_task *t, const char *changes)
{
    lra_err e = {{0}};
    lra_config *c = lra_task_config(t, "quick", &e), *change = lra_config_parse(changes, &e);
    assert_non_null(change);
    for (int i = 0; lra_config_key(change, i); i++)
        lra_config_set(c, lra_config_key(change, i), lra_config_value(change, i));
    lra_dataset *d = lra_dataset_make(t, c, &e);
    NOT_NULL(d);
    lra_config_free(c);
    lra_config_free(change);
    return d;
}

/* Stores the positions of the tokens that are not fillers; returns their number. */
static int marks_of(const uint16_t *token, int64_t n, int64_t *at, int most)
{
    int found = 0;
    for (int64_t t = 0; t < n; t++) {
        if (token[t] >= FILLER) continue;
        assert_true(found < most);
        at[found++] = t;
    }
    return found;
}

/* ---- xor ------------------------------------------------------------------------------------- */

/* Checks one group with two pairs: only combinations of marks at the distance or farther determine
 * the label. */
static void check_group(const uint16_t *token, int64_t n, int32_t label, int64_t distance)
{
    int64_t at[4];
    assert_int_equal(marks_of(token, n, at, 4), 4);
    assert_true(at[0] >= distance);
    for (int i = 0; i < 4; i += 2) {
        assert_int_equal(at[i + 1] - at[i], distance);
        assert_int_equal((token[at[i]] - A0) ^ (token[at[i + 1]] - B0), label);
    }
    assert_true(at[2] - at[1] >= distance);
}

/* Checks rows with several groups: every A has its B, and all rows have the same marks. */
static void check_xor(const uint16_t *token, int64_t n, int32_t label, int64_t distance,
                      int64_t copies)
{
    int64_t at[256], count[FILLER] = {0};
    int n_marks = marks_of(token, n, at, 256);
    assert_int_equal(n_marks, 4 * copies);
    for (int i = 0; i < n_marks; i++) {
        count[token[at[i]]]++;
        if (token[at[i]] >= B0) continue;
        int64_t b = at[i] + distance;
        assert_true(b < n && token[b] >= B0 && token[b] <= B1);
        assert_int_equal((token[at[i]] - A0) ^ (token[b] - B0), label);
    }
    for (int v = A0; v <= B1; v++) assert_int_equal(count[v], copies);
}

TEST(xor_is_what_it_says)
{
    static const int distances[] = {1, 7, 16}, copies[] = {1, 2};
    for (int k = 0; k < 6; k++) {
        int distance = distances[k / 2], n_copies = copies[k % 2];
        char *changes = lra_format("distance=%d copies=%d length=90 train=300 val=40 test=40",
                                   distance, n_copies);
        lra_dataset *d = data_of(&lra_task_xor, changes);
        for (int s = 0; s < LRA_N_SPLITS; s++)
            for (int64_t i = 0; i < d->split[s].n; i++) {
                lra_row row = lra_sequences_row(&d->split[s], i);
                if (n_copies == 1) check_group(row.token, row.n, row.label, distance);
                check_xor(row.token, row.n, row.label, distance, n_copies);
                /* labels alternate, so that chance is exactly one half */
                assert_int_equal(row.label, i % 2);
            }
        lra_dataset_free(d);
        lra_free(changes);
    }
}

/* ---- select-at ------------------------------------------------------------------------------- */

enum { S0 = 1, S3 = 4, QUERY, NONE };

/* Checks that every value of the row has a mark at the distance: the value of the label has the
 * query after it, the others have none. */
static void check_select(const uint16_t *token, int64_t n, int32_t label, int64_t distance,
                         int64_t copies)
{
    int64_t count[NONE + 1] = {0};
    for (int64_t t = 0; t < n; t++) {
        if (token[t] <= NONE) count[token[t]]++;
        if (token[t] < S0 || token[t] > S3) continue;
        assert_true(t >= distance && t + distance < n);
        assert_int_equal(token[t + distance], token[t] - S0 == label ? QUERY : NONE);
    }
    for (int v = S0; v <= S3; v++) assert_int_equal(count[v], copies);
    assert_int_equal(count[QUERY], copies);
    assert_int_equal(count[NONE], 3 * copies);
}

TEST(select_is_what_it_says)
{
    for (int copies = 1; copies <= 2; copies++) {
        char *changes = lra_format("distance=9 copies=%d length=130 train=300 val=40 test=40",
                                   copies);
        lra_dataset *d = data_of(&lra_task_select_at, changes);
        for (int64_t i = 0; i < d->split[0].n; i++) {
            int64_t at[8];
            lra_row row = lra_sequences_row(&d->split[0], i);
            check_select(row.token, row.n, row.label, 9, copies);
            assert_int_equal(row.label, i % 4);
            if (copies > 1) continue;
            int n = 0;
            for (int64_t t = 0; t < row.n; t++)
                if (row.token[t] <= NONE) at[n++] = t;
            for (int k = 1; k < n; k++) assert_true(at[k] - at[k - 1] >= 9);
        }
        lra_dataset_free(d);
        lra_free(changes);
    }
}

/* ---- recall ---------------------------------------------------------------------------------- */

enum { K0 = 1, K1, V0, V1, Q0, Q1 };

/* Checks that every query finds its key in one of the two pairs that end one distance before it,
 * and that the pair's value is the label. */
static int check_queries(const uint16_t *token, int64_t n, int32_t label, int64_t distance)
{
    int queries = 0;
    for (int64_t t = 0; t < n; t++) {
        if (token[t] != Q0 && token[t] != Q1) continue;
        int64_t last = t - distance, first = last - 2, found = -1;
        assert_true(first >= distance);
        for (int64_t k = first; k <= last; k += 2) {
            assert_true(token[k] == K0 || token[k] == K1);
            assert_true(token[k + 1] == V0 || token[k + 1] == V1);
            if (token[k] - K0 == token[t] - Q0) found = token[k + 1] - V0;
        }
        assert_int_not_equal(token[first], token[last]);
        assert_int_not_equal(token[first + 1], token[last + 1]);
        assert_int_equal(found, label);
        queries++;
    }
    return queries;
}

TEST(recall_is_what_it_says)
{
    for (int copies = 1; copies <= 2; copies++) {
        char *changes = lra_format("distance=9 copies=%d length=130 train=300 val=40 test=40",
                                   copies);
        lra_dataset *d = data_of(&lra_task_recall, changes);
        for (int64_t i = 0; i < d->split[0].n; i++) {
            lra_row row = lra_sequences_row(&d->split[0], i);
            int64_t count[Q1 + 1] = {0};
            assert_int_equal(check_queries(row.token, row.n, row.label, 9), 2 * copies);
            for (int64_t t = 0; t < row.n; t++)
                if (row.token[t] <= Q1) count[row.token[t]]++;
            for (int v = K0; v <= Q1; v++) assert_int_equal(count[v], v < Q0 ? 2 * copies : copies);
        }
        lra_dataset_free(d);
        lra_free(changes);
    }
}

/* Chi-square test of the position of the first A: all gaps are equally likely. If the row has r
 * free positions for two gaps, the first gap is g in r - g + 1 of (r + 1)(r + 2) / 2 cases. */
TEST(places_are_uniform)
{
    enum { DISTANCE = 4, ROOM = 9, LENGTH = 4 * DISTANCE + 1 + ROOM, ROWS = 20000 };
    char *changes = lra_format("distance=%d copies=1 length=%d train=%d val=1 test=1", DISTANCE,
                               LENGTH, ROWS);
    lra_dataset *d = data_of(&lra_task_xor, changes);
    double count[ROOM + 1] = {0}, chi = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t at[4];
        lra_row row = lra_sequences_row(&d->split[0], i);
        marks_of(row.token, row.n, at, 4);
        assert_in_range(at[0], DISTANCE, DISTANCE + ROOM);
        count[at[0] - DISTANCE]++;
    }
    for (int g = 0; g <= ROOM; g++) {
        double expected = ROWS * (ROOM - g + 1) / (0.5 * (ROOM + 1) * (ROOM + 2));
        chi += (count[g] - expected) * (count[g] - expected) / expected;
    }
    assert_true(chi < 27.9); /* quantile of chi-square with 9 degrees of freedom for p = 0.001 */
    lra_dataset_free(d);
    lra_free(changes);
}

/* Training rows are new in every epoch, and the same for the same (seed, epoch, row); validation
 * rows do not change. */
TEST(training_rows_are_fresh)
{
    enum { ROWS = 64, LENGTH = 40, DISTANCE = 5 };
    lra_dataset *d = data_of(&lra_task_xor, "distance=5 length=40 copies=2 train=64 val=8 test=8");
    lra_buckets b = lra_buckets_find(d);
    assert_true(lra_task_xor.data.fresh);
    static int32_t kept[2][ROWS][LENGTH];
    int different = 0, ones = 0;
    for (int pass = 0; pass < 3; pass++) { /* epoch 0, then 1, then 0 again */
        lra_loader_spec s = {
            .data = d, .buckets = &b, .batch = 8, .seed = 3, .training = true, .augment = true};
        lra_loader *l = lra_loader_new(&s);
        lra_loader_epoch(l, pass % 2);
        for (int64_t i = 0; i < lra_loader_batches(l); i++) {
            const lra_batch *batch = lra_loader_get(l, i);
            int64_t T = b.length[batch->bucket];
            for (int k = 0; k < 8; k++) {
                uint16_t token[LENGTH];
                int32_t *keep = kept[pass % 2][batch->row[k]];
                for (int t = 0; t < LENGTH; t++) token[t] = (uint16_t)batch->token[k * T + t];
                check_xor(token, LENGTH, batch->label[k], DISTANCE, 2);
                ones += batch->label[k];
                if (pass == 2) assert_memory_equal(keep, batch->token + k * T, sizeof kept[0][0]);
                memcpy(keep, batch->token + k * T, sizeof kept[0][0]);
            }
        }
        lra_loader_free(l);
    }
    for (int i = 0; i < ROWS; i++)
        different += memcmp(kept[0][i], kept[1][i], sizeof kept[0][0]) != 0;
    assert_int_equal(different, ROWS);
    assert_in_range(ones, 3 * ROWS / 4, 9 * ROWS / 4);
    lra_dataset_free(d);
}

/* ---- baselines ------------------------------------------------------------------------------- */

static double accuracy_of(const lra_dataset *d, int b, const char **name)
{
    const lra_sequences *test = &d->split[LRA_TEST_SPLIT];
    int32_t *predicted = lra_alloc_array((size_t)test->n, sizeof *predicted);
    *name = d->task->baseline(b, &d->split[LRA_TRAIN_SPLIT], test, predicted);
    int64_t right = 0;
    for (int64_t i = 0; i < test->n; i++) right += predicted[i] == test->label[i];
    lra_free(predicted);
    return (double)right / (double)test->n;
}

TEST(counts_tell_nothing)
{
    enum { ROWS = 4000, TASKS = 3 };
    static const lra_task *const tasks[TASKS] = {&lra_task_xor, &lra_task_select_at,
                                                 &lra_task_recall};
    for (int k = 0; k < TASKS; k++) {
        lra_dataset *d = data_of(tasks[k],
                                 "distance=9 copies=2 length=130 train=4096 val=1 test=4000");
        double chance = 1.0 / tasks[k]->n_classes, noise = 4 * sqrt(chance * (1 - chance) / ROWS);
        const char *name;
        double bag = accuracy_of(d, 0, &name);
        assert_string_equal(name, "bag-of-tokens");
        double below = accuracy_of(d, 1, &name);
        assert_string_equal(name, "pairs-below");
        double oracle = accuracy_of(d, 2, &name);
        assert_string_equal(name, "oracle");
        accuracy_of(d, 3, &name);
        assert_null(name);
        if (fabs(bag - chance) > noise || fabs(below - chance) > noise || oracle < 0.99)
            fail_msg("%s: bag %.4f, pairs %.4f, oracle %.4f", tasks[k]->name, bag, below, oracle);
        lra_dataset_free(d);
    }
}

TEST(bad_parameters_are_refused)
{
    static const char *const bad[][2] = {
        {"distance=0", "'distance' is '0', expected an integer from 1 to 65536"},
        {"distance=80", "8 copies at distance 80 need rows of 349 tokens; length is 320"},
        {"copies=1000", "1000 copies at distance 16 need rows of"},
        {"length=0", "'length' is '0'"},
        {"fillers=17", "'fillers' is '17', expected an integer from 1 to 16"},
        {"val=0", "'val' is '0', expected"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        task_refuses_change(&lra_task_xor, NULL, bad[i][0], bad[i][1]);
}

/* The fillers of rows at one distance are independent of those at another distance: if both rows
 * have a filler at a position, the fillers agree as often as by chance. */
TEST(fillers_differ_between_distances)
{
    static const char *const changes[2] = {
        "distance=8 length=300 copies=1 train=200 val=40 test=40 fillers=8",
        "distance=16 length=300 copies=1 train=200 val=40 test=40 fillers=8"};
    lra_dataset *d[2] = {data_of(&lra_task_xor, changes[0]), data_of(&lra_task_xor, changes[1])};
    double both = 0, same = 0;
    for (int64_t i = 0; i < d[0]->split[0].start[200]; i++) {
        uint16_t a = d[0]->split[0].token[i], b = d[1]->split[0].token[i];
        if (a < FILLER || b < FILLER) continue;
        both++, same += a == b;
    }
    double p = 1.0 / 8;
    assert_true(both > 50000);
    if (fabs(same - p * both) > 5 * sqrt(p * (1 - p) * both))
        fail_msg("%g of %g fillers are the same, expected %g", same, both, p * both);
    for (int k = 0; k < 2; k++) lra_dataset_free(d[k]);
}
