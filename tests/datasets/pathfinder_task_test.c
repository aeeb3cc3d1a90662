/* The Pathfinder tasks: splits, the three sets, official files, levels as numbers, symmetries of
 * the square, baselines. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "datasets/loader/augment.h"
#include "datasets/loader/batch.h"
#include "datasets/loader/split.h"
#include "datasets/pathfinder/image.h"
#include "datasets/pathfinder/pathfinder.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/refused_parameters.h"

enum { IMAGES = 100, PIXELS = 32 * 32 };

static lra_config *config(const lra_task *t, const char *change)
{
    lra_err e;
    lra_config *c = lra_keys_config(t->keys);
    t->data.resize(c, IMAGES);
    if (change && lra_keys_assign(t->keys, c, change, "the test", &e) != 0) fail_msg("%s", e.msg);
    return c;
}

static void make(const lra_task *t, const char *change, lra_sequences split[LRA_N_SPLITS])
{
    lra_err e;
    lra_config *c = config(t, change);
    for (int s = 0; s < LRA_N_SPLITS; s++) split[s] = (lra_sequences){0};
    OK(t->data.make(c, split, &e));
    lra_config_free(c);
}

static void free_splits(lra_sequences split[LRA_N_SPLITS])
{
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&split[s]);
}

static void same_rows(const lra_sequences *a, int64_t from, const lra_sequences *b, int64_t n)
{
    assert_memory_equal(a->token + from * PIXELS, b->token, (size_t)(n * PIXELS) * 2);
    assert_memory_equal(a->label + from, b->label, (size_t)n * sizeof *a->label);
}

/* ---- splits ---------------------------------------------------------------------------------- */

TEST(splits_are_those_of_torch)
{
    lra_sequences split[LRA_N_SPLITS];
    int64_t order[IMAGES], at = 0;
    make(&lra_task_pathfinder_easy, NULL, split);
    assert_int_equal(split[LRA_TRAIN_SPLIT].n, 80);
    assert_int_equal(split[LRA_VAL_SPLIT].n, 10);
    assert_int_equal(split[LRA_TEST_SPLIT].n, 10);
    lra_split_torch(42, IMAGES, order);
    lra_pathfinder *g = lra_pathfinder_new(lra_pathfinder_size_find(32), LRA_PATHFINDER_EASY, -1,
                                           false);
    lra_pathfinder_sheet *s = lra_pathfinder_sheet_new(g);
    for (int p = 0; p < LRA_N_SPLITS; p++)
        for (int64_t i = 0; i < split[p].n; i++) {
            uint8_t pixel[PIXELS];
            int32_t label = lra_pathfinder_image(g, s, 0, (uint64_t)order[at++], pixel, NULL);
            assert_int_equal(label, split[p].label[i]);
            for (int k = 0; k < PIXELS; k++)
                assert_int_equal(pixel[k], split[p].token[i * PIXELS + k]);
        }
    lra_pathfinder_sheet_free(s);
    lra_pathfinder_free(g);
    free_splits(split);
}

/* floor(n / 10) rows each for validation and test, the others for training. */
TEST(parts_are_tenths_rounded_down)
{
    static const int64_t known[][4] = {{15, 13, 1, 1}, {19, 17, 1, 1}, {20, 16, 2, 2}};
    for (int k = 0; k < 3; k++) {
        lra_sequences split[LRA_N_SPLITS];
        char change[32];
        snprintf(change, sizeof change, "images=%d", (int)known[k][0]);
        make(&lra_task_pathfinder_easy, change, split);
        for (int p = 0; p < LRA_N_SPLITS; p++) assert_int_equal(split[p].n, known[k][1 + p]);
        free_splits(split);
    }
}

/* Training rows come from all levels, those for model selection and test from the hard level. */
TEST(three_sets)
{
    lra_sequences all[LRA_N_SPLITS], one[LRA_N_SPLITS];
    const lra_task *const task[] = {&lra_task_pathfinder_easy, &lra_task_pathfinder_intermediate,
                                    &lra_task_pathfinder};
    make(&lra_task_pathfinder, "sets=three", all);
    assert_int_equal(all[LRA_TRAIN_SPLIT].n, 240);
    assert_int_equal(all[LRA_TEST_SPLIT].n, 10);
    for (int k = 0; k < 3; k++) {
        make(task[k], NULL, one);
        same_rows(&all[LRA_TRAIN_SPLIT], 80 * k, &one[LRA_TRAIN_SPLIT], 80);
        if (k == 2)
            for (int p = LRA_VAL_SPLIT; p < LRA_N_SPLITS; p++) same_rows(&all[p], 0, &one[p], 10);
        free_splits(one);
    }
    free_splits(all);
}

TEST(workers_do_not_matter)
{
    lra_sequences one[LRA_N_SPLITS], more[LRA_N_SPLITS];
    omp_set_num_threads(1);
    make(&lra_task_pathfinder, NULL, one);
    omp_set_num_threads(3);
    make(&lra_task_pathfinder, NULL, more);
    for (int p = 0; p < LRA_N_SPLITS; p++) same_rows(&one[p], 0, &more[p], one[p].n);
    free_splits(one);
    free_splits(more);
}

TEST(bad_parameters)
{
    task_refuses_change(&lra_task_pathfinder_easy, NULL, "size=33",
                        "'size' is '33', expected 32, 64, 128 or 256");
    task_refuses_change(&lra_task_pathfinder_easy, NULL, "images=9",
                        "'images' is '9', expected an integer from 10 to 16777216");
    task_refuses_change(&lra_task_pathfinder_easy, NULL, "level=hardest",
                        "'level' is 'hardest', expected easy, intermediate or hard");
    task_refuses_change(&lra_task_pathfinder_easy, NULL, "sets=two",
                        "'sets' is 'two', expected one or three");
    task_refuses_change(&lra_task_pathfinder_easy, NULL, "sets=three",
                        "sets is 'three' with level 'easy', expected level 'hard'");
    task_refuses_change(&lra_task_pathfinder_easy, NULL, "seeding=none",
                        "'seeding' is 'none', expected reference or uniform");
    task_refuses_change(&lra_task_pathfinder_easy, NULL, "distractors=101",
                        "'distractors' is '101', expected an integer from -1 to 100");
}

/* ---- files ----------------------------------------------------------------------------------- */

TEST(made_files_are_imported)
{
    lra_err e = {{0}};
    const lra_task *t = &lra_task_pathfinder;
    char *files = lra_format("%s/files", folder);
    lra_sequences made[LRA_N_SPLITS];
    lra_dataset read = {.task = t};
    lra_config *c = config(t, "sets=three");
    make(t, "sets=three", made);
    assert_int_equal(t->files.make_files(c, files, false, &e), 0);
    /* Existing files are kept, missing ones are generated again. */
    char *gone = lra_format("%s/pathfinder32/curv_baseline/metadata/0.npy", files);
    remove(gone);
    assert_int_equal(t->files.make_files(c, files, false, &e), 0);
    assert_true(lra_file_exists(gone));
    OK(t->files.import(c, files, &read, &e));
    for (int p = 0; p < LRA_N_SPLITS; p++) {
        assert_int_equal(made[p].n, read.split[p].n);
        same_rows(&made[p], 0, &read.split[p], made[p].n);
    }
    free_splits(read.split);
    /* One image is missing: the other images are split. */
    char *image = lra_format("%s/pathfinder32/curv_contour_length_14/imgs/0/sample_0.png", files);
    lra_digest before = {0}, after = {0};
    assert_int_equal(t->files.import_hash(c, files, &before, &e), 0);
    assert_int_equal(lra_file_write(image, "", 0, &e), 0);
    assert_int_equal(t->files.import_hash(c, files, &after, &e), 0);
    assert_true(before.hash != after.hash);
    assert_int_equal(t->files.import(c, files, &read, &e), 0);
    assert_int_equal(read.split[LRA_TRAIN_SPLIT].n, 80 + 80 + 81);
    assert_int_equal(read.split[LRA_TEST_SPLIT].n, 9);
    free_splits(read.split);
    free_splits(made);
    lra_config_set(c, "size", "64");
    assert_int_equal(t->files.import(c, files, &read, &e), LRA_ABSENT);
    assert_non_null(strstr(e.msg, "no 'curv_baseline/metadata' of pathfinder64"));
    lra_config_free(c);
    lra_free(image);
    lra_free(gone);
    lra_free(files);
}

TEST(prepared_data_are_read_again)
{
    lra_err e = {{0}};
    lra_config *c = config(&lra_task_pathfinder_easy, NULL);
    char *out = lra_format("%s/out", folder);
    lra_dataset *a = lra_dataset_open(&lra_task_pathfinder_easy, c, out, NULL, &e);
    lra_dataset *b = lra_dataset_open(&lra_task_pathfinder_easy, c, out, NULL, &e);
    assert_non_null(a);
    assert_non_null(b);
    assert_string_equal(a->fingerprint, b->fingerprint);
    assert_int_equal(lra_dataset_grid(a), 32);
    same_rows(&a->split[0], 0, &b->split[0], a->split[0].n);
    lra_dataset_free(a);
    lra_dataset_free(b);
    lra_config_free(c);
    lra_free(out);
}

/* ---- what models see ------------------------------------------------------------------------- */

TEST(batches_hold_numbers)
{
    lra_err e;
    lra_config *c = config(&lra_task_pathfinder_easy, NULL);
    lra_dataset *d = lra_dataset_make(&lra_task_pathfinder_easy, c, &e);
    const lra_sequences *test = &d->split[LRA_TEST_SPLIT];
    const lra_buckets buckets = {1, {PIXELS}};
    lra_loader_spec spec = {
        .data = d, .split = LRA_TEST_SPLIT, .buckets = &buckets, .batch = 4, .augment = true};
    lra_loader *l = lra_loader_new(&spec);
    for (int64_t i = 0; i < lra_loader_batches(l); i++) {
        const lra_batch *b = lra_loader_get(l, i);
        assert_null(b->token);
        for (int k = 0; k < 4; k++)
            for (int t = 0; t < PIXELS; t++) {
                float x = b->value[k * PIXELS + t];
                int64_t row = b->row[k];
                if (row < 0) {
                    assert_true(x == 0);
                } else if (t % 97 == 0) {
                    assert_true(x >= -1 && x <= 1);
                    int32_t level = (int32_t)lrintf((x + 1) * 127.5f);
                    /* With augmentation only pixels that no symmetry moves are known: all corners
                     * have the same level. */
                    if (t == 0) assert_int_equal(level, test->token[row * PIXELS]);
                }
            }
    }
    lra_loader_free(l);
    lra_dataset_free(d);
    lra_config_free(c);
}

TEST(symmetries_of_the_square)
{
    uint16_t image[LRA_D4][9], again[9];
    for (int k = 0; k < LRA_D4; k++) {
        for (int i = 0; i < 9; i++) image[k][i] = (uint16_t)i;
        lra_image_turn(image[k], 9, k);
        assert_int_equal(image[k][4], 4);
        for (int j = 0; j < k; j++) assert_memory_not_equal(image[j], image[k], sizeof again);
    }
    static const uint16_t mirrored[9] = {2, 1, 0, 5, 4, 3, 8, 7, 6};
    static const uint16_t swapped[9] = {0, 3, 6, 1, 4, 7, 2, 5, 8};
    assert_memory_equal(image[1], mirrored, sizeof mirrored);
    assert_memory_equal(image[4], swapped, sizeof swapped);
    /* Four quarter turns (each an exchange of the axes and a reflection) are the identity. */
    memcpy(again, image[0], sizeof again);
    for (int k = 0; k < 4; k++) lra_image_turn(again, 9, 5);
    assert_memory_equal(again, image[0], sizeof again);
    int count[LRA_D4] = {0};
    lra_rng rng = lra_rng_new(1, 2, 3);
    for (int n = 0; n < 8000; n++) {
        memcpy(again, image[0], sizeof again);
        lra_row row = {.n = 9, .width = 1, .token = again};
        lra_augment_d4(NULL, &rng, &row);
        for (int k = 0; k < LRA_D4; k++) count[k] += memcmp(again, image[k], sizeof again) == 0;
    }
    for (int k = 0; k < LRA_D4; k++) assert_in_range(count[k], 880, 1120);
}

TEST(baselines_stand_beside)
{
    lra_err e;
    lra_sequences split[LRA_N_SPLITS] = {{0}};
    const lra_task *t = &lra_task_pathfinder_easy;
    lra_config *c = config(t, "images=6000");
    assert_int_equal(t->data.make(c, split, &e), 0);
    int32_t predicted[600];
    assert_string_equal(t->baseline(0, &split[0], &split[LRA_TEST_SPLIT], predicted), "constant");
    assert_int_equal(predicted[0], predicted[599]);
    const char *name = t->baseline(1, &split[0], &split[LRA_TEST_SPLIT], predicted);
    assert_string_equal(name, "marker-distance");
    double right = 0;
    for (int i = 0; i < 600; i++) right += predicted[i] == split[LRA_TEST_SPLIT].label[i];
    assert_true(fabs(right / 600 - 0.587) < 4 * 0.5 / sqrt(600));
    assert_null(t->baseline(2, &split[0], &split[LRA_TEST_SPLIT], predicted));
    free_splits(split);
    lra_config_free(c);
}

GROUP(make_folder, remove_folder);
