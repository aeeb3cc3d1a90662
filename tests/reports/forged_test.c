/* Complete files with valid checksums, whose numbers no run can have written: each is rejected, and
 * the message names the number. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/formats/h5_impl.h"
#include "kernels/base/core/mem.h"
#include "tests/fixtures/format_files.h"

static char *image[FORMAT_KINDS]; /* the files as written, without seal */
static size_t size[FORMAT_KINDS];

static int set_up(void **state)
{
    (void)state;
    format_files_make();
    for (int k = 0; k < FORMAT_KINDS; k++) {
        lra_err e = {{0}};
        image[k] = lra_file_read(format_files_path(k), 1 << 20, &size[k], &e);
        if (!image[k]) return -1;
        size[k] -= LRA_H5_SEAL;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int k = 0; k < FORMAT_KINDS; k++) lra_free_large(image[k]);
    format_files_remove();
    return 0;
}

static void write_bytes(int kind, const char *bytes, size_t n, bool sealed)
{
    FILE *f = fopen(format_files_path(kind), "wb");
    assert_non_null(f);
    if (sealed)
        assert_int_equal(format_files_seal(f, bytes, n), 0);
    else
        assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void seal_again(int kind)
{
    lra_err e;
    size_t n;
    char *bytes = lra_file_read(format_files_path(kind), 1 << 20, &n, &e);
    assert_non_null(bytes);
    write_bytes(kind, bytes, n, true);
    lra_free_large(bytes);
}

/* Sets element `at` of a dataset, or (at -1) an attribute of the root, to `value`. */
static void forge(int kind, const char *name, int at, double value)
{
    double table[64];
    write_bytes(kind, image[kind], size[kind], false);
    hid_t file = H5Fopen(format_files_path(kind), H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    if (at < 0) {
        hid_t a = H5Aopen(file, name, H5P_DEFAULT);
        assert_true(a >= 0 && H5Awrite(a, H5T_NATIVE_DOUBLE, &value) >= 0);
        H5Aclose(a);
    } else {
        hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
        assert_true(set >= 0 && H5Sget_simple_extent_npoints(space) <= 64);
        assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, table) >= 0);
        table[at] = value;
        assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, table) >= 0);
        H5Sclose(space);
        H5Dclose(set);
    }
    H5Fclose(file);
    seal_again(kind);
}

TEST(numbers_that_cannot_be)
{
    static const struct {
        int kind;
        const char *name;
        int at;
        double value;
        const char *says;
    } forged[] = {
        {FORMAT_DATA, "/val/label", 0, 10, "rows, positions, targets and labels are inconsistent"},
        {FORMAT_DATA, "/val/label", 0, -1, "rows, positions, targets and labels are inconsistent"},
        {FORMAT_DATA, "/val/start", 1, 0, "rows, positions, targets and labels are inconsistent"},
        {FORMAT_CHECKPOINT, "epoch", -1, -1, "'epoch' is -1, expected 0 to 2^60"},
        {FORMAT_CHECKPOINT, "batch", -1, -5, "'batch' is -5, expected 0 to 2^60"},
        {FORMAT_CHECKPOINT, "log_bytes", -1, -1, "'log_bytes' is -1"},
        {FORMAT_CHECKPOINT, "best_epoch", -1, -2, "'best_epoch' is -2, expected 0 to 2^60"},
        {FORMAT_CHECKPOINT, "best_epoch", -1, 3,
         "best epoch 3 and 2 epochs of history are inconsistent"},
        {FORMAT_CHECKPOINT, "epoch", -1, 7, "epoch 7, best epoch 2 and 2 epochs of history"},
        {FORMAT_CHECKPOINT, "/history", 9, NAN, "'/history': step nan of epoch 2"},
        {FORMAT_CHECKPOINT, "/history", 1, -1, "'/history': step -1 of epoch 1"},
        {FORMAT_RESULT, "max_length", -1, 0, "'max_length' is 0, expected 1 to 2^60"},
        {FORMAT_RESULT, "reach", -1, -2, "'reach' is -2, expected -1 to 2^60"},
        {FORMAT_RESULT, "kernel", -1, -3, "'kernel' is -3"},
        {FORMAT_RESULT, "/test/label", 5, 10, "'/test/label': 10, expected 0 to 9"},
        {FORMAT_RESULT, "/baseline/constant", 2, 10, "'/baseline/constant': 10, expected 0 to 9"},
        {FORMAT_RESULT, "/baseline/majority", 2, -1, "'/baseline/majority': -1, expected 0 to 9"},
        {FORMAT_RESULT, "/test/logits", 13, NAN, "'/test/logits': row 2 of"},
        {FORMAT_RESULT, "/test/logits", 0, -INFINITY, "row 1 of"},
        {FORMAT_RESULT, "/val/logits", 29, INFINITY, "'/val/logits': row 3 of"},
        {FORMAT_RESULT, "seconds", -1, NAN, "'seconds' is nan, expected 0 to"},
        {FORMAT_RESULT, "padding", -1, -5, "'padding' is -5, expected 0 to 1"},
        {FORMAT_RESULT, "train_value", -1, 7, "'train_value' is 7, expected 0 to 1"},
        {FORMAT_RESULT, "chance", -1, NAN, "'chance' is nan, expected 0 to 1"},
        {FORMAT_RESULT, "chance", -1, INFINITY, "'chance' is inf, expected 0 to 1"},
        {FORMAT_RESULT, "chance", -1, -0.5, "'chance' is -0.5, expected 0 to 1"},
        {FORMAT_RESULT, "train_loss", -1, INFINITY, "'train_loss' is inf, expected a number"},
        {FORMAT_RESULT, "train_loss", -1, -1, "'train_loss' is -1, expected a number"},
        {FORMAT_RESULT, "/history", 2, -1, "'/history': epoch 1 has a loss of -1"},
        {FORMAT_RESULT, "/history", 4, -2, "'/history': epoch 1 has a loss of -2"},
        {FORMAT_PROBE, "max_length", -1, 0, "'max_length' is 0, expected 1 to 2^60"},
        {FORMAT_PROBE, "/finding/values", 0, 9,
         "'range.mean': 9 lies outside of its interval 1 to 2"},
        {FORMAT_PROBE, "/finding/values", 1, 4, "'range.mean': 1.5 lies outside of its interval"},
        {FORMAT_PROBE, "/finding/values", 7, -1, "examples is -1, expected a count"},
        {FORMAT_PROBE, "/finding/values", 18, 1.5, "seeds is 1.5, expected a count"},
        {FORMAT_PROBE, "/finding/values", 9, NAN, "undefined is nan, expected a count"},
    };
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        lra_err e = {{0}};
        uint64_t hash;
        forge(forged[i].kind, forged[i].name, forged[i].at, forged[i].value);
        if (format_files_read(forged[i].kind, &hash, &e) == 0)
            fail_msg("%s = %g is accepted", forged[i].name, forged[i].value);
        if (!strstr(e.msg, forged[i].says)) fail_msg("'%s' lacks '%s'", e.msg, forged[i].says);
    }
}

/* Changing a number to a possible one gives a file that can be read. */
TEST(numbers_that_can_be)
{
    lra_err e = {{0}};
    uint64_t hash;
    forge(FORMAT_RESULT, "max_length", -1, 33);
    forge(FORMAT_CHECKPOINT, "batch", -1, 2);
    forge(FORMAT_DATA, "/val/label", 0, 3);
    forge(FORMAT_PROBE, "/finding/values", 10, -8);
    assert_int_equal(format_files_read(FORMAT_PROBE, &hash, &e), 0);
    assert_int_equal(format_files_read(FORMAT_RESULT, &hash, &e), 0);
    assert_int_equal(format_files_read(FORMAT_CHECKPOINT, &hash, &e), 0);
    assert_int_equal(format_files_read(FORMAT_DATA, &hash, &e),
                     -1); /* rejected: the fingerprint does not match the changed rows */
    assert_non_null(strstr(e.msg, "fingerprint is"));
}

GROUP(set_up, tear_down);
