/* MNIST pixel by pixel: IDX files, split, both orders of the pixels, defects, the real digits. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/formats/idx.h"
#include "datasets/formats/mnist_file.h"
#include "datasets/loader/batch.h"
#include "datasets/mnist.h"
#include "datasets/registry.h"
#include "tests/fixtures/make_archive.h"
#include "tests/fixtures/task_data.h"

enum { PIXELS = LRA_MNIST_PIXELS };

static uint8_t byte_of(int64_t image, int64_t pixel)
{
    return (uint8_t)(image * 31 + pixel);
}

static void add_header(lra_text *to, int rank, uint8_t n)
{
    const uint8_t head[] = {0, 0, 8, (uint8_t)rank, 0, 0, 0, n, 0, 0, 0, 28, 0, 0, 0, 28};
    lra_text_bytes(to, head, rank == 3 ? 16 : 8);
}

static void add_images(lra_text *to, uint8_t n)
{
    add_header(to, 3, n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < PIXELS; k++) lra_text_bytes(to, &(uint8_t){byte_of(i, k)}, 1);
}

static void add_labels(lra_text *to, uint8_t n)
{
    add_header(to, 1, n);
    for (int i = 0; i < n; i++) lra_text_bytes(to, &(uint8_t){(uint8_t)(i % 10)}, 1);
}

/* Writes ten training images and three test images; gz: compressed, as published. */
static void write_set(const char *name, bool gz)
{
    static const char *const files[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    for (int i = 0; i < 4; i++) {
        lra_text bytes = {0}, packed = {0};
        uint8_t n = i < 2 ? 10 : 3;
        i % 2 ? add_labels(&bytes, n) : add_images(&bytes, n);
        if (gz) pack_files(PACK_GZ, &(packed_file){"x", bytes.s, bytes.n}, 1, &packed);
        char *path = lra_format("%s/%s%s", name, files[i], gz ? ".gz" : "");
        task_write(path, gz ? packed.s : bytes.s, gz ? packed.n : bytes.n);
        lra_free(path);
        lra_text_free(&bytes);
        lra_text_free(&packed);
    }
}

TEST(order_and_split)
{
    static const int torch[10] = {2, 6, 1, 8, 4, 5, 0, 9, 3, 7};
    char print[17] = "";
    for (int gz = 0; gz < 2; gz++) {
        lra_err e = {{0}};
        write_set(gz ? "gz" : "plain", gz);
        lra_dataset *d = task_import(&lra_task_smnist, gz ? "gz" : "plain", "", &e);
        NOT_NULL(d);
        assert_int_equal(d->split[0].n, 9);
        assert_int_equal(d->split[1].n, 1);
        assert_int_equal(d->split[2].n, 3);
        for (int i = 0; i < 10; i++) {
            lra_row row = lra_sequences_row(&d->split[i / 9], i % 9);
            assert_int_equal(row.label, torch[i]);
            for (int k = 0; k < PIXELS; k++) assert_int_equal(row.token[k], byte_of(torch[i], k));
        }
        assert_int_equal(lra_dataset_grid(d), 28);
        if (gz) assert_string_equal(print, d->fingerprint);
        memcpy(print, d->fingerprint, sizeof print);
        lra_dataset_free(d);
    }
}

/* Values printed by NumPy; the bit reversal is its own inverse for the numbers below 1024. */
TEST(orders_of_the_pixels)
{
    static const int64_t bits[] = {0, 512, 256, 768, 128, 640, 384, 64};
    static const int64_t numpy[] = {319, 576, 323, 107, 355, 716, 197, 20};
    lra_err e = {{0}};
    int64_t order[PIXELS];
    bool seen[PIXELS] = {0};
    lra_mnist_reversed_bits(order);
    assert_memory_equal(order, bits, sizeof bits);
    for (int i = 0; i < PIXELS; i++) {
        assert_in_range(order[i], 0, PIXELS - 1);
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
    write_set("orders", false);
    for (int k = 0; k < 2; k++) {
        lra_dataset *d = task_import(&lra_task_pmnist, "orders",
                                     k ? "permutation=numpy" : "permutation=bits", &e);
        NOT_NULL(d);
        for (int i = 0; i < 8; i++)
            assert_int_equal(d->split[2].token[i], byte_of(0, k ? numpy[i] : bits[i]));
        assert_int_equal(lra_dataset_grid(d), 0);
        lra_buckets buckets = lra_buckets_find(d);
        lra_loader_spec spec = {
            .data = d, .split = LRA_TEST_SPLIT, .buckets = &buckets, .batch = 1};
        lra_loader *l = lra_loader_new(&spec);
        const lra_batch *b = lra_loader_get(l, 0);
        for (int i = 0; i < PIXELS; i++)
            assert_true(fabsf(b->value[i] - (float)d->split[2].token[i] / 255) < 1e-6f);
        lra_loader_free(l);
        lra_dataset_free(d);
    }
    task_refuses_change(&lra_task_pmnist, NULL, "permutation=none", "expected bits or numpy");
}

TEST(headers)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *message; /* expected message; NULL: accepted */
    } cases[] = {
        {"\0\0\10\1\0\0\0\2\7\7", 10, NULL},
        {"\0\0\10\1\0\0\0\2\7", 9, NULL}, /* announces two labels, contains one */
        {"\0\0\10\1\0\0\0\2", 8, NULL},
        {"\0\0\10\1\0\0\0\2\7\7\7", 11, NULL}, /* announces two labels, has one byte more */
        {"\0\0\10\1\0\0\0\0", 8, "dimension 0 is 0"},
        {"\0\0\10\1\377\377\377\377", 8, "dimension 0 is 4294967295"},
        {"\0\0\10\3\0\0\0\1\4\0\0\0\4\0\0\0", 16, "dimension 2 is 67108864"},
        {"\0\0\10\4\0\0\0\1", 8, "does not start like an IDX file"},
        {"\0\0\15\1\0\0\0\1", 8, "does not start like an IDX file"},
        {"\0\0\10\3\0\0\0\1", 8, "ends within its header"},
        {"", 0, "does not start like an IDX file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lra_err e = {{0}};
        lra_idx out;
        int rc = lra_idx_parse(cases[i].bytes, cases[i].n, "x", &out, &e);
        assert_int_equal(rc, cases[i].message ? -1 : 0);
        if (cases[i].message && !strstr(e.msg, cases[i].message))
            fail_msg("'%s' lacks '%s'", e.msg, cases[i].message);
        if (rc == 0) assert_int_equal(out.n, i == 0 || i == 3 ? 2 : i == 1 ? 1 : 0);
        if (rc == 0) assert_int_equal(out.n_extra, i == 3);
    }
}

TEST(defects)
{
    lra_err e = {{0}};
    lra_text images = {0}, labels = {0};
    add_images(&images, 5);
    add_labels(&labels, 4);
    labels.s[8 + 1] = 10;
    write_set("bad", false);
    /* announces 5 images, contains 4 */
    task_write("bad/train-images-idx3-ubyte", images.s, images.n - 100);
    task_write("bad/train-labels-idx1-ubyte", labels.s, labels.n);
    lra_mnist m = {0};
    char *path = lra_format("%s/bad", folder);
    OK(lra_mnist_read(&m, path, &e));
    assert_int_equal(m.part[0].n, 3);
    assert_int_equal(m.n_missing, 1);
    assert_int_equal(m.n_strange, 1);
    assert_int_equal(m.n_unpaired, 0);
    assert_int_equal(m.n_extra, 28 * 28 - 100);
    assert_string_equal(m.extra, "train-images-idx3-ubyte");
    static const uint8_t kept[] = {0, 2, 3};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(m.part[0].label[i], kept[i]);
        assert_int_equal(m.part[0].image[i * PIXELS + 5], byte_of(kept[i], 5));
    }
    lra_mnist_free(&m);
    task_write("bad/more/t10k-labels-idx1-ubyte", labels.s, labels.n);
    task_refuses(&lra_task_smnist, "bad", "", "occurs twice with different bytes");
    task_write("kind/train-labels-idx1-ubyte", images.s, images.n);
    task_refuses(&lra_task_smnist, "kind", "", "expected a list of labels");
    lra_free(path);
    task_write("some/train-images-idx3-ubyte", images.s, images.n);
    task_refuses(&lra_task_smnist, "some", "", "no train-labels-idx1-ubyte in");
    task_refuses(&lra_task_smnist, "some", "", "yann.lecun.com/exdb/mnist");
    lra_text_free(&images);
    lra_text_free(&labels);
}

TEST(real_digits)
{
    char *path = real_file("mnist");
    if (!path) {
        print_message("no real MNIST: set LRA_SHARED_DATA\n");
        skip();
    }
    static const int64_t expected[2][10] = {
        {1994, 2281, 1929, 2076, 1945, 1775, 1971, 2093, 1922, 2014},
        {451, 591, 501, 511, 480, 458, 499, 519, 466, 524}};
    lra_err e = {{0}};
    lra_mnist m = {0};
    OK(lra_mnist_read(&m, path, &e));
    assert_int_equal(m.part[0].n, 20000);
    assert_int_equal(m.part[1].n, 5000);
    for (int p = 0; p < 2; p++) {
        int64_t count[10] = {0};
        for (int64_t i = 0; i < m.part[p].n; i++) count[m.part[p].label[i]]++;
        assert_memory_equal(count, expected[p], sizeof count);
    }
    lra_mnist_free(&m);
    lra_free(path);
}

GROUP(make_folder, remove_folder);
