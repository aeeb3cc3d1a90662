/* BIDMC: .ts files, the random split in two steps, real-valued targets, defects. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/bidmc.h"
#include "datasets/formats/bidmc_file.h"
#include "datasets/formats/bidmc_make.h"
#include "datasets/loader/batch.h"
#include "datasets/registry.h"
#include "tests/fixtures/make_archive.h"
#include "tests/fixtures/task_data.h"

enum { STEPS = 4000 };
static const char header[] =
    "# comment\n@problemName BIDMC32HR\n@timeStamps false\n@missing false\n"
    "@univariate false\n@dimensions 2\n@targetlabel true\n@data\n";

/* Returns a value of a generated series that both text with three decimals and float32 represent
 * exactly. */
static double value_of(int64_t series, int64_t step, int dimension)
{
    return (double)((series * 31 + step * 7 + dimension * 500) % 1000 - 500) / 8;
}

static double target_of(int64_t series)
{
    return 60 + (double)series / 4;
}

static void add_series(lra_text *to, int64_t series)
{
    for (int d = 0; d < 2; d++)
        for (int64_t t = 0; t < STEPS; t++)
            lra_text_add(to, "%g%s", value_of(series, t, d), t < STEPS - 1 ? "," : ":");
    lra_text_add(to, "%g\n", target_of(series));
}

static void add_file(lra_text *to, int64_t first, int64_t n)
{
    lra_text_add(to, "%s", header);
    for (int64_t i = first; i < first + n; i++) add_series(to, i);
}

/* Writes seven series for training and three for test. */
static void write_set(const char *name, const char *target)
{
    for (int p = 0; p < 2; p++) {
        lra_text text = {0};
        char *path = lra_format("%s/BIDMC32%s_%s.ts", name, target, p ? "TEST" : "TRAIN");
        add_file(&text, p ? 7 : 0, p ? 3 : 7);
        task_write(path, text.s, text.n);
        lra_free(path);
        lra_text_free(&text);
    }
}

static void check_series(const lra_sequences *r, int64_t row, int64_t series)
{
    lra_row found = lra_sequences_row(r, row);
    assert_int_equal(found.n, STEPS);
    assert_int_equal(found.width, 2);
    assert_int_equal(found.n_targets, 1);
    assert_true(found.target[0] == (float)target_of(series));
    for (int64_t t = 0; t < STEPS; t++)
        for (int d = 0; d < 2; d++)
            assert_true(found.value[2 * t + d] == (float)value_of(series, t, d));
}

/* By NumPy: the permutation of 10 with seed 0 is 2 8 4 9 1 6 7 3 0 5, of which the first three are
 * held out; that of 3 with seed 1 is 0 2 1. */
TEST(order_and_split)
{
    static const int expected[10] = {9, 1, 6, 7, 3, 0, 5, /* validation: */ 8, /* test: */ 2, 4};
    static const lra_task *const tasks[] = {&lra_task_bidmc_hr, &lra_task_bidmc_rr,
                                            &lra_task_bidmc_spo2};
    static const char *const targets[] = {"HR", "RR", "SpO2"};
    for (int k = 0; k < 3; k++) {
        lra_err e = {{0}};
        write_set("set", targets[k]);
        lra_dataset *d = task_import(tasks[k], "set", "", &e);
        NOT_NULL(d);
        assert_int_equal(d->split[0].n, 7);
        assert_int_equal(d->split[1].n, 1);
        assert_int_equal(d->split[2].n, 2);
        for (int i = 0; i < 10; i++)
            check_series(&d->split[i < 7   ? 0
                                   : i < 8 ? 1
                                           : 2],
                         i < 7   ? i
                         : i < 8 ? 0
                                 : i - 8,
                         expected[i]);
        lra_dataset_free(d);
    }
}

TEST(published_sizes)
{
    static const int64_t known[][7] = {{7949, 5564, 1192, 1193, 3402, 1454, 167},
                                       {7870, 5509, 1180, 1181, 5622, 4123, 2065}};
    for (int k = 0; k < 2; k++) {
        int64_t n = known[k][0], size[LRA_N_SPLITS];
        int64_t *order = lra_alloc_array((size_t)n, sizeof *order);
        bool *seen = lra_alloc_array((size_t)n, sizeof *seen),
             *held = lra_alloc_array((size_t)n, 1);
        lra_bidmc_divide(n, order, size);
        for (int s = 0; s < LRA_N_SPLITS; s++) assert_int_equal(size[s], known[k][1 + s]);
        for (int64_t i = 0; i < n; i++) {
            assert_false(seen[order[i]]);
            seen[order[i]] = true;
            held[order[i]] = i >= size[0];
        }
        /* The series that the first permutation places first are held out; the second permutation
         * (2276 .. and 56 ..) gives their order. */
        for (int i = 4; i < 7; i++) assert_true(held[known[k][i]]);
        lra_free(held);
        lra_free(seen);
        lra_free(order);
    }
}

/* The series of each split and their order: sums of (i + 1) series[i] for the results of
 * scikit-learn 1.9's train_test_split(test_size=0.3, random_state=0), and of another split of the
 * held-out series with (0.5, 1). */
TEST(splits_are_those_of_scikit_learn)
{
    static const struct {
        int64_t n, first[LRA_N_SPLITS];
        uint64_t sum[LRA_N_SPLITS];
    } known[] = {
        {7949, {4225, 1700, 1864}, {61719515079, 2787995644, 2885475654}},
        {7870, {2019, 2606, 651}, {59893913793, 2696287015, 2778458544}},
        {500, {141, 175, 171}, {15331985, 757063, 744844}},
        {13, {2, 6, 10}, {260, 28, 18}},
        {10, {9, 8, 2}, {107, 8, 10}},
        {4, {1, 3, 2}, {1, 3, 2}},
    };
    for (size_t c = 0; c < sizeof known / sizeof *known; c++) {
        int64_t n = known[c].n, size[LRA_N_SPLITS], at = 0;
        int64_t *order = lra_alloc_array((size_t)n, sizeof *order);
        lra_bidmc_divide(n, order, size);
        for (int s = 0; s < LRA_N_SPLITS; at += size[s++]) {
            uint64_t sum = 0;
            for (int64_t i = 0; i < size[s]; i++)
                sum += (uint64_t)(i + 1) * (uint64_t)order[at + i];
            assert_int_equal(order[at], known[c].first[s]);
            assert_int_equal(sum, known[c].sum[s]);
        }
        assert_int_equal(at, n);
        lra_free(order);
    }
}

TEST(what_models_see)
{
    lra_err e = {{0}};
    write_set("see", "HR");
    lra_dataset *d = task_import(&lra_task_bidmc_hr, "see", "", &e);
    lra_buckets buckets = lra_buckets_find(d);
    lra_loader_spec spec = {.data = d, .split = LRA_TEST_SPLIT, .buckets = &buckets, .batch = 2};
    lra_loader *l = lra_loader_new(&spec);
    const lra_batch *b = lra_loader_get(l, 0);
    assert_null(b->token);
    for (int i = 0; i < 2; i++) {
        int64_t T = buckets.length[b->bucket], series = b->row[i] == 0 ? 2 : 4;
        assert_true(b->target[i] == (float)target_of(series));
        assert_true(b->target_mask[i] == 1);
        for (int64_t t = 0; t < STEPS; t++)
            for (int c = 0; c < 2; c++)
                assert_true(b->value[(i * T + t) * 2 + c] == (float)value_of(series, t, c));
    }
    lra_loader_free(l);
    lra_dataset_free(d);
}

/* Results of the parser for short texts. */
TEST(texts)
{
    static const struct {
        const char *text;
        int64_t n, missing, damaged;
        const char *message; /* expected message; NULL: accepted */
    } cases[] = {
        {"@data\n1,2:3,4:5\n", 1, 0, 0, NULL},
        {"@Data\r\n1,2:3,4:5\r\n\r\n# comment\r\n 6, 7 : 8,9:-1e1", 2, 0, 0, NULL},
        {"@data\n1,2:3,4:5\n1,2:?,4:5\n1,2:3,4:?\n1,2:3,NaN:5\n", 1, 3, 0, NULL},
        {"@data\n1,2:3,4:5\n1,2:3:5\n1,2,3:4,5,6:7\n1,2:5\n1,2:3,4\n,:,:\n", 1, 0, 5, NULL},
        {"@data\n1,2:3,4:5\n1,2:3,x:5\n1,2:3,0x1:5\n1,2:3,inf:5\n1,2:3,1e999:5\n1,2:3,4:5:\n", 1, 0,
         5, NULL},
        {"@data\n?,2:3,4:5\n", 0, 1, 0, "contains no series: series 1 of 'x' has a missing value"},
        {"@data\n", 0, 0, 0, "'x' contains no series"},
        {"@data\n7\n", 0, 0, 1, "contains no series"},
        {"@missing false\n", 0, 0, 0, "'x' has no line '@data'"},
        {"", 0, 0, 0, "'x' has no line '@data'"},
        {"1,2:3,4:5\n", 0, 0, 0, "does not start with lines of '@'"},
        {"@timeStamps true\n@data\n(1,2):3\n", 0, 0, 0, "has time stamps"},
        {"@targetlabel false\n@data\n1,2:3\n", 0, 0, 0, "'x' has no targets"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lra_err e = {{0}};
        lra_ts t = {0};
        int rc = lra_ts_parse(cases[i].text, strlen(cases[i].text), "x", &t, &e);
        if (cases[i].message && !strstr(e.msg, cases[i].message))
            fail_msg("'%s' lacks '%s'", e.msg, cases[i].message);
        assert_int_equal(rc, cases[i].message ? -1 : 0);
        assert_int_equal(t.n, cases[i].n);
        assert_int_equal(t.n_missing, cases[i].missing);
        assert_int_equal(t.n_damaged, cases[i].damaged);
        if (rc == 0) {
            static const float first[4] = {1, 3, 2, 4}; /* values in the order of time steps */
            assert_memory_equal(t.value, first, sizeof first);
            assert_true(t.target[0] == 5);
            assert_int_equal(t.dimensions, 2);
            assert_int_equal(t.length, 2);
        }
        if (i == 1) assert_true(t.target[1] == -10 && t.value[4] == 6 && t.value[5] == 8);
        lra_ts_free(&t);
    }
}

TEST(defects)
{
    lra_text text = {0}, packed = {0};
    write_set("two", "HR");
    add_file(&text, 0, 7);
    pack_files(PACK_GZ, &(packed_file){"x", text.s, text.n}, 1, &packed);
    task_write("two/again/BIDMC32HR_TRAIN.ts.gz", packed.s, packed.n);
    lra_err e = {{0}};
    /* the same file again, which must be read once */
    lra_dataset *d = task_import(&lra_task_bidmc_hr, "two", "", &e);
    NOT_NULL(d);
    assert_int_equal(d->split[0].n, 7);
    lra_dataset_free(d);
    add_series(&text, 8);
    task_write("two/again/BIDMC32HR_TRAIN.ts", text.s, text.n);
    task_refuses(&lra_task_bidmc_hr, "two", "", "occurs twice with different bytes");
    task_write("short/BIDMC32RR_TRAIN.ts", "@data\n1,2:3,4:5\n", 16);
    task_refuses(&lra_task_bidmc_rr, "short", "", "series of 2 x 2 values, expected 2 x 4000");
    task_write("half/BIDMC32HR_TRAIN.ts", text.s, text.n);
    task_refuses(&lra_task_bidmc_hr, "half", "", "no BIDMC32HR_TEST.ts in");
    task_refuses(&lra_task_bidmc_spo2, "half", "", "no BIDMC32SpO2_TRAIN.ts in");
    task_write("signals/bidmc_01_Signals.csv", "Time [s], RESP\n", 15);
    task_refuses(&lra_task_bidmc_hr, "signals", "", "signals without targets");
    task_refuses(&lra_task_bidmc_hr, "signals", "", "tseregression.org");
    lra_text_free(&packed);
    lra_text_free(&text);
}

/* Returns the heart rate 60 (beats - 1) / (last beat - first beat); a beat is an upward crossing of
 * half of the height of a beat in the electrocardiogram. */
static double counted_rate(const float *value)
{
    int64_t first = -1, last = -1, beats = 0;
    for (int64_t t = 1; t < STEPS; t++) {
        if (value[2 * t - 1] >= 0.45f || value[2 * t + 1] < 0.45f || (beats && t - last < 30))
            continue;
        if (beats++ == 0) first = t;
        last = t;
    }
    return 60.0 * 125 * (double)(beats - 1) / (double)(last - first);
}

TEST(made_up_series_hold_their_targets)
{
    enum { N = 20 };
    lra_err e = {{0}};
    char *path = lra_format("%s/made", folder);
    assert_int_equal(lra_bidmc_make("HR", N, path, false, &e), 0);
    lra_bidmc b = {.target = "HR"};
    assert_int_equal(lra_bidmc_read(&b, path, &e), 0);
    assert_true(b.made_up);
    assert_int_equal(b.part[0].n, 14);
    assert_int_equal(b.part[1].n, 6);
    double least = 1e9, most = 0;
    for (int64_t i = 0; i < N; i++) {
        const lra_ts *t = &b.part[i >= 14];
        int64_t at = i >= 14 ? i - 14 : i;
        double rate = counted_rate(t->value + at * STEPS * 2), target = (double)t->target[at];
        if (fabs(rate - target) > 0.03 * target)
            fail_msg("series %d: %g, %g", (int)i, rate, target);
        least = fmin(least, target), most = fmax(most, target);
    }
    assert_true(least < 65 && most > 105);
    assert_int_equal(lra_bidmc_make("HR", N, path, false, &e), LRA_FAILED);
    assert_non_null(strstr(e.msg, "BIDMC32HR_TRAIN.ts' already exists; --force replaces it"));
    lra_digest before = {0}, after = {0};
    assert_int_equal(lra_bidmc_hash("HR", path, &before, &e), 0);
    assert_int_equal(lra_bidmc_make("HR", N, path, true, &e), 0);
    assert_int_equal(lra_bidmc_hash("HR", path, &after, &e), 0);
    assert_true(before.hash == after.hash);
    lra_bidmc_free(&b);
    lra_free(path);
}

TEST(real_signals_have_no_targets)
{
    char *path = real_file("bidmc");
    if (!path) {
        print_message("no real BIDMC signals: set LRA_SHARED_DATA\n");
        skip();
    }
    lra_err e = {{0}};
    assert_null(task_open(&lra_task_bidmc_hr, path, "", &e));
    assert_non_null(strstr(e.msg, "bidmc_NN_Signals.csv"));
    lra_free(path);
}

GROUP(make_folder, remove_folder);
