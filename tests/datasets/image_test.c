/* CIFAR-10 in grey levels, in colours and as bytes of three channels: records, split, inputs of
 * models, defects, the real images. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/formats/cifar.h"
#include "datasets/loader/batch.h"
#include "datasets/loader/grey.h"
#include "datasets/registry.h"
#include "tests/fixtures/make_archive.h"
#include "tests/fixtures/task_data.h"

enum { PIXELS = LRA_CIFAR_PIXELS, RECORD = LRA_CIFAR_RECORD };

/* Records first .. first + n - 1 of a generated set: the label and every byte follow from the
 * record's number. */
static uint8_t byte_of(int64_t record, int64_t plane, int64_t pixel)
{
    return (uint8_t)(record * 37 + plane * 101 + pixel * 7);
}

static void add_records(int64_t first, int64_t n, lra_text *to)
{
    for (int64_t i = first; i < first + n; i++) {
        uint8_t record[RECORD] = {(uint8_t)(i % 10)};
        for (int64_t c = 0; c < 3; c++)
            for (int64_t k = 0; k < PIXELS; k++) record[1 + c * PIXELS + k] = byte_of(i, c, k);
        lra_text_bytes(to, record, RECORD);
    }
}

/* Writes ten training records in two batches, and two test records. */
static void write_set(const char *name)
{
    static const struct {
        const char *file;
        int64_t first, n;
    } parts[] = {{"data_batch_2.bin", 4, 6}, {"data_batch_1.bin", 0, 4}, {"test_batch.bin", 10, 2}};
    for (int i = 0; i < 3; i++) {
        lra_text bytes = {0};
        char *path = lra_format("%s/%s", name, parts[i].file);
        add_records(parts[i].first, parts[i].n, &bytes);
        task_write(path, bytes.s, bytes.n);
        lra_free(path);
        lra_text_free(&bytes);
    }
}

static void check_image(const lra_sequences *r, int64_t i, int64_t record)
{
    lra_row row = lra_sequences_row(r, i);
    assert_int_equal(row.n, PIXELS);
    assert_int_equal(row.width, 3);
    assert_int_equal(row.label, record % 10);
    for (int64_t k = 0; k < PIXELS; k++)
        for (int64_t c = 0; c < 3; c++)
            assert_int_equal(row.token[3 * k + c], byte_of(record, c, k));
}

/* By PyTorch, the permutation of 10 with seed 42 is 2 6 1 8 4 5 0 9 3 7; 9 of the rows are for
 * training. */
TEST(order_and_split)
{
    static const int torch[10] = {2, 6, 1, 8, 4, 5, 0, 9, 3, 7};
    lra_err e = {{0}};
    write_set("set");
    lra_dataset *d = task_import(&lra_task_image, "set", "", &e);
    NOT_NULL(d);
    assert_int_equal(d->split[0].n, 9);
    assert_int_equal(d->split[1].n, 1);
    assert_int_equal(d->split[2].n, 2);
    for (int i = 0; i < 10; i++) check_image(&d->split[i / 9], i % 9, torch[i]);
    for (int i = 0; i < 2; i++) check_image(&d->split[2], i, 10 + i);
    assert_int_equal(lra_dataset_grid(d), 32);
    lra_dataset *few = task_import(&lra_task_image, "set", "rows=2 val-split=0.5", &e);
    for (int s = 0; s < LRA_N_SPLITS; s++) assert_int_equal(few->split[s].n, 2);
    check_image(&few->split[0], 1, torch[2]); /* evenly spaced: the first and the third of five */
    lra_dataset_free(few);
    lra_dataset_free(d);
}

/* The rows are the same for unpacked files, for the archive, and for compressed files. */
TEST(packings_do_not_matter)
{
    lra_err e = {{0}};
    lra_text part[3] = {{0}}, packed = {0};
    add_records(0, 4, &part[0]);
    add_records(4, 6, &part[1]);
    add_records(10, 2, &part[2]);
    const packed_file files[] = {{"cifar-10-batches-bin/data_batch_1.bin", part[0].s, part[0].n},
                                 {"cifar-10-batches-bin/batches.meta.txt", "airplane\n", 0},
                                 {"cifar-10-batches-bin/data_batch_2.bin", part[1].s, part[1].n},
                                 {"cifar-10-batches-bin/test_batch.bin", part[2].s, part[2].n}};
    pack_files(PACK_TAR_GZ, files, 4, &packed);
    task_write("tar/cifar-10-binary.tar.gz", packed.s, packed.n);
    static const char *const names[] = {"xz/data_batch_1.bin.xz", NULL, "xz/data_batch_2.bin.xz",
                                        "xz/test_batch.bin.xz"};
    for (int i = 0; i < 4; i++) {
        lra_text_free(&packed);
        if (!names[i]) continue;
        pack_files(PACK_XZ, &files[i], 1, &packed);
        task_write(names[i], packed.s, packed.n);
    }
    write_set("plain");
    char print[17] = "";
    static const char *const from[] = {"plain", "tar", "tar/cifar-10-binary.tar.gz", "xz"};
    for (int i = 0; i < 4; i++) {
        lra_dataset *d = task_import(&lra_task_image, from[i], "", &e);
        NOT_NULL(d);
        if (i) assert_string_equal(d->fingerprint, print);
        memcpy(print, d->fingerprint, sizeof print);
        lra_dataset_free(d);
    }
    for (int i = 0; i < 3; i++) lra_text_free(&part[i]);
    lra_text_free(&packed);
}

/* Grey levels by Pillow's Image.convert("L") and by the first pipeline differ by at most one. */
TEST(grey_levels)
{
    static const uint16_t known[][5] = {
        /* red, green, blue, grey level of Pillow, grey level of the first pipeline */
        {0, 0, 0, 0, 0},       {255, 255, 255, 255, 255}, {255, 0, 0, 76, 76},
        {0, 255, 0, 150, 149}, {0, 0, 255, 29, 29},       {1, 2, 3, 2, 1},
        {59, 62, 63, 61, 61},  {154, 177, 187, 171, 171}, {128, 128, 128, 128, 128}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uint16_t *k = known[i];
        assert_int_equal(lra_grey(k[0], k[1], k[2]), k[3]);
        assert_int_equal(lra_grey_first(k[0], k[1], k[2]), k[4]);
    }
    int64_t n = 0, differ = 0;
    for (unsigned r = 0; r < 256; r += 3)
        for (unsigned g = 0; g < 256; g += 3)
            for (unsigned b = 0; b < 256; b += 3) {
                int apart = lra_grey(r, g, b) - lra_grey_first(r, g, b);
                assert_in_range(apart + 1, 0, 2);
                n++, differ += apart != 0;
            }
    assert_true(fabs((double)differ / (double)n - 0.26) < 0.01);
}

static const lra_batch *first_batch(const lra_dataset *d, lra_loader **l)
{
    static lra_buckets buckets;
    buckets = lra_buckets_find(d);
    lra_loader_spec spec = {.data = d, .split = LRA_TEST_SPLIT, .buckets = &buckets, .batch = 2};
    *l = lra_loader_new(&spec);
    return lra_loader_get(*l, 0);
}

TEST(what_models_see)
{
    lra_err e = {{0}};
    lra_loader *l;
    write_set("see");
    lra_dataset *d = task_import(&lra_task_image, "see", "", &e);
    const lra_batch *b = first_batch(d, &l);
    assert_null(b->token);
    for (int64_t k = 0; k < PIXELS; k++) {
        const uint16_t *rgb = d->split[2].token + 3 * k;
        double level = lra_grey(rgb[0], rgb[1], rgb[2]);
        assert_true(fabs(b->value[k] - (level / 255 - 122.6 / 255) / (61.0 / 255)) < 1e-6);
    }
    lra_loader_free(l);
    lra_dataset_free(d);

    static const double mean[] = {.4914, .4822, .4465}, std[] = {.247, .243, .261};
    d = task_import(&lra_task_scifar, "see", "", &e);
    b = first_batch(d, &l);
    for (int64_t k = 0; k < 2 * 3 * PIXELS; k++) {
        double x = d->split[2].token[k] / 255.0;
        assert_true(fabs(b->value[k] - (x - mean[k % 3]) / std[k % 3]) < 1e-6);
    }
    lra_loader_free(l);
    lra_dataset_free(d);

    d = task_import(&lra_task_image_tokens, "see", "", &e);
    b = first_batch(d, &l);
    assert_null(b->value);
    for (int64_t k = 0; k < PIXELS; k++) {
        int level = lra_grey_first(byte_of(10, 0, k), byte_of(10, 1, k), byte_of(10, 2, k));
        assert_int_equal(b->token[k], level);
    }
    lra_loader_free(l);
    lra_dataset_free(d);
}

/* Settings of the augmentation do not change rows: all of them use the same file of prepared
 * data. */
TEST(prepared_data_are_shared)
{
    lra_err e = {{0}};
    write_set("share");
    lra_dataset *d = task_import(&lra_task_image, "share", "crop=0 policy=0", &e);
    lra_config *c = task_config(&lra_task_image, "flip=0");
    char *out = lra_format("%s/out", folder), *data = lra_format("%s/data", out), **names;
    int before = lra_folder_list(data, &names, &e);
    lra_names_free(names, before);
    assert_int_equal(lra_config_int(d->config, "crop"), 0);
    assert_int_equal(lra_config_int(d->config, "flip"), 1);
    lra_dataset *other = task_import(&lra_task_image, "share", "flip=0", &e);
    assert_int_equal(lra_config_int(other->config, "crop"), 1);
    assert_int_equal(lra_config_int(other->config, "flip"), 0);
    lra_dataset *found = lra_dataset_find(&lra_task_image, c, out, d->fingerprint);
    assert_non_null(found);
    assert_int_equal(lra_config_int(found->config, "flip"), 0);
    assert_string_equal(found->fingerprint, other->fingerprint);
    assert_int_equal(lra_folder_list(data, &names, &e), before);
    lra_names_free(names, before);
    lra_dataset_free(found);
    lra_dataset_free(other);
    lra_dataset_free(d);
    task_refuses_change(&lra_task_image, NULL, "crop=2", "'crop' is '2', expected 0 or 1");
    lra_config_free(c);
    lra_free(data);
    lra_free(out);
}

TEST(defects)
{
    lra_err e = {{0}};
    lra_text bytes = {0};
    lra_cifar c = {0};
    add_records(0, 3, &bytes);
    bytes.s[RECORD] = 10; /* an invalid label in the second record */
    assert_int_equal(lra_cifar_add(&c, "a/data_batch_3.bin", bytes.s, bytes.n - 5, &e), 0);
    assert_int_equal(c.file[2].n, 1);
    assert_int_equal(c.n_strange, 1);
    assert_int_equal(c.n_cut, RECORD - 5);
    assert_int_equal(lra_cifar_add(&c, "b/data_batch_3.bin", bytes.s, bytes.n - 5, &e), 0);
    assert_int_equal(c.n_strange, 1); /* the same file again, which must be counted once */
    assert_int_equal(lra_cifar_add(&c, "data_batch_3.bin", bytes.s, bytes.n, &e), -1);
    assert_string_equal(e.msg, "'data_batch_3.bin' occurs twice with different bytes");
    assert_int_equal(lra_cifar_add(&c, "data_batch_6.bin", bytes.s, bytes.n, &e), -1);
    assert_int_equal(lra_cifar_add(&c, "test_batch.bin", bytes.s, 100, &e), -1);
    assert_string_equal(e.msg, "'test_batch.bin' has 100 bytes, expected records of 3073");
    lra_cifar_free(&c);

    task_write("half/data_batch_1.bin", bytes.s, bytes.n);
    task_refuses(&lra_task_image, "half", "", "no test_batch.bin in");
    task_write("python/data_batch_1", "\x80\x02}", 3);
    task_refuses(&lra_task_image, "python", "", "found the Python version, which is not supported");
    task_refuses(&lra_task_image, "python", "", "cifar-10-binary.tar.gz");
    lra_text_free(&bytes);
    task_refuses_change(&lra_task_image, NULL, "val-split=0.95", "expected a number from 0.001");
    task_refuses_change(&lra_task_image, NULL, "rows=-1", "expected an integer from 0");
}

TEST(real_images)
{
    char *path = real_file("cifar10");
    if (!path) {
        print_message("no real CIFAR-10 images: set LRA_SHARED_DATA\n");
        skip();
    }
    static const int64_t train[] = {299, 287, 322, 285, 311, 279, 312, 297, 308, 300},
                         test[] = {73, 56, 67, 70, 59, 71, 83, 65, 73, 83};
    lra_err e = {{0}};
    lra_cifar c = {0};
    int64_t count[2][10] = {{0}};
    OK(lra_cifar_read(&c, path, &e));
    assert_int_equal(lra_cifar_n_train(&c), 3000);
    assert_int_equal(c.file[5].n, 700);
    for (int64_t i = 0; i < 3700; i++) count[i >= 3000][lra_cifar_record(&c, i)[0]]++;
    assert_memory_equal(count[0], train, sizeof train);
    assert_memory_equal(count[1], test, sizeof test);
    /* The first records are also available uncompressed. */
    char *sample = lra_format("%s/sample_100.bin", path);
    size_t n = 0;
    char *bytes = lra_file_read(sample, 1 << 20, &n, &e);
    assert_int_equal(n, 100 * RECORD);
    assert_memory_equal(bytes, c.file[0].record, n);
    lra_free_large(bytes);
    lra_free(sample);
    lra_cifar_free(&c);
    lra_free(path);
}

GROUP(make_folder, remove_folder);
