/* Arrays of npz and safetensors files as columns of examples; files of other formats are
 * detected. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/formats/array_columns.h"
#include "datasets/formats/npz.h"
#include "kernels/base/formats/safetensors.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/make_npz.h"

GROUP(make_folder, remove_folder);

/* ---- helpers ------------------------------------------------------------------------------- */

static const int32_t counting[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const float halves[12] = {0, .5f, 1, 1.5f, 2, 2.5f, 3, 3.5f, 4, 4.5f, 5, 5.5f};

static npz_member array(const char *name, const char *descr, const char *shape, const void *data,
                        size_t n)
{
    return (npz_member){.name = name, .bytes = make_npy(descr, false, shape, data, n)};
}

static char *write_bytes(const char *name, const void *bytes, size_t n)
{
    lra_err e = {{0}};
    char *path = lra_format("%s/%s", folder, name);
    OK(lra_file_write(path, bytes, n, &e));
    return path;
}

static int read_members(npz_member *m, int n, npz_form form, lra_data_columns *c, lra_err *e)
{
    lra_text t = {0};
    make_npz(m, n, form, &t);
    char *path = write_bytes("x.npz", t.s, t.n);
    int rc = lra_data_columns_read(path, NULL, c, e);
    lra_free(path);
    lra_text_free(&t);
    return rc;
}

static lra_data_columns read_npz(npz_member *m, int n, npz_form form)
{
    lra_err e = {{0}};
    lra_data_columns c;
    OK(read_members(m, n, form, &c, &e));
    return c;
}

/* Returns the message without the path, which contains a folder of this process. */
static const char *after_path(const char *message)
{
    const char *at = strstr(message, ".npz'");
    return at ? at + 5 : message;
}

static void refuses(npz_member *m, int n, const char *message)
{
    lra_err e = {{0}};
    lra_data_columns c;
    assert_int_equal(read_members(m, n, NPZ_PLAIN, &c, &e), LRA_FAILED);
    assert_string_equal(after_path(e.msg), message);
    assert_null(c.column);
    assert_int_equal(c.n, 0);
    lra_data_columns_free(&c);
}

static const lra_data_column *get(const lra_data_columns *c, const char *name,
                                  lra_data_column_kind kind)
{
    lra_err e = {{0}};
    const lra_data_column *column = lra_data_columns_find(c, name, "x", &e);
    NOT_NULL(column);
    assert_int_equal(column->kind, kind);
    return column;
}

static void is_refused(const lra_data_columns *c, const char *name, const char *reason)
{
    for (int i = 0; i < c->n_columns; i++)
        if (strcmp(c->column[i].name, name) == 0) {
            assert_int_equal(c->column[i].kind, LRA_DATA_COLUMN_REFUSED);
            assert_string_equal(c->column[i].reason, reason);
            return;
        }
    fail_msg("no column '%s'", name);
}

/* ---- shapes and types ---------------------------------------------------------------------- */

static void check_forms(const lra_data_columns *c)
{
    assert_int_equal(c->n, 2);
    assert_int_equal(c->n_columns, 6);
    const lra_data_column *ids = get(c, "ids", LRA_DATA_COLUMN_IDS);
    for (int i = 0; i < 6; i++) assert_int_equal(ids->id[i], i);
    assert_int_equal(ids->start[1], 3);
    assert_int_equal(ids->start[2], 6);
    const lra_data_column *x = get(c, "x", LRA_DATA_COLUMN_VALUES);
    assert_int_equal(x->width, 1);
    assert_memory_equal(x->value, halves, 6 * sizeof *halves);
    const lra_data_column *xf = get(c, "xf", LRA_DATA_COLUMN_VALUES);
    assert_int_equal(xf->width, 2);
    assert_int_equal(xf->start[2], 6);
    for (int i = 0; i < 12; i++) assert_true(xf->value[i] == (float)i);
    const lra_data_column *label = get(c, "label", LRA_DATA_COLUMN_NUMBER);
    assert_true(label->number[0] == 0 && label->number[1] == 1 && label->integral);
    assert_true(get(c, "y", LRA_DATA_COLUMN_NUMBER)->number[1] == 0.5);
    const lra_data_column *split = get(c, "split", LRA_DATA_COLUMN_TEXT);
    assert_int_equal(split->start[2], 5);
    assert_memory_equal(split->text,
                        "ab\xC3\xA9"
                        "c",
                        5);
}

TEST(npz_stored_deflated_and_zip64)
{
    static const uint32_t text[6] = {'a', 'b', 0xE9, 'c', 0, 0};
    for (int form = 0; form < 6; form++) {
        npz_member m[] = {
            array("ids", "<i4", "2, 3", counting, 24),   array("x", "<f4", "2, 3", halves, 24),
            array("xf", "<i4", "2, 3, 2", counting, 48), array("label", "<i4", "2,", counting, 8),
            array("y", "<f4", "2, 1", halves, 8),        array("split", "<U3", "2,", text, 24),
            array("scalar", "<i4", "", counting, 4),     {.name = "meta.json"}};
        lra_text_add(&m[7].bytes, "{}");
        for (int i = 0; i < 8; i++) m[i].deflated = form >= 3;
        lra_data_columns c = read_npz(m, 8, (npz_form)(form % 3));
        check_forms(&c);
        assert_true(c.hash != 0);
        lra_data_columns_free(&c);
    }
}

TEST(npz_types)
{
    static const uint8_t u8[2] = {255, 1}, bools[2] = {1, 0}, big[4] = {0xFF, 0xFE, 0, 2};
    static const uint16_t f16[2] = {0x3C00, 0xC100}; /* the numbers 1 and -2.5 in float16 */
    static const uint64_t u64[2] = {UINT64_MAX, 7};
    static const double f64[2] = {0.1, (double)INFINITY};
    static const int16_t transposed[4] = {1, 3, 2, 4};
    npz_member m[] = {array("u8", "|u1", "2,", u8, 2),      array("b", "|b1", "2,", bools, 2),
                      array("big", ">i2", "2,", big, 4),    array("f16", "<f2", "2,", f16, 4),
                      array("u64", "<u8", "2,", u64, 16),   array("f64", "<f8", "2,", f64, 16),
                      array("bt", "|b1", "2, 1", bools, 2), {.name = "fortran"}};
    m[7].bytes = make_npy("<i2", true, "2, 2", transposed, 8);
    lra_data_columns c = read_npz(m, 8, NPZ_LOCAL64);
    assert_true(get(&c, "u8", LRA_DATA_COLUMN_NUMBER)->number[0] == 255);
    assert_true(get(&c, "b", LRA_DATA_COLUMN_NUMBER)->number[0] == 1);
    assert_true(get(&c, "big", LRA_DATA_COLUMN_NUMBER)->number[0] == -2);
    assert_true(get(&c, "big", LRA_DATA_COLUMN_NUMBER)->number[1] == 2);
    assert_true(get(&c, "f16", LRA_DATA_COLUMN_NUMBER)->number[1] == -2.5);
    assert_false(get(&c, "f16", LRA_DATA_COLUMN_NUMBER)->integral);
    assert_true(get(&c, "u64", LRA_DATA_COLUMN_NUMBER)->number[0] == 18446744073709551616.);
    assert_true(get(&c, "f64", LRA_DATA_COLUMN_NUMBER)->number[0] == 0.1);
    assert_false(get(&c, "f64", LRA_DATA_COLUMN_NUMBER)->integral);
    const lra_data_column *fortran = get(&c, "fortran", LRA_DATA_COLUMN_IDS);
    for (int i = 0; i < 4; i++) assert_int_equal(fortran->id[i], i + 1);
    lra_data_columns_free(&c);
}

TEST(npz_bytes_are_utf8)
{
    npz_member m[] = {array("s", "|S3", "2,",
                            "\xC3\xA9x"
                            "a\0\0",
                            6),
                      array("t", "|S2", "2,",
                            "\xC3x"
                            "a\0",
                            4)};
    lra_data_columns c = read_npz(m, 2, NPZ_PLAIN);
    assert_memory_equal(get(&c, "s", LRA_DATA_COLUMN_TEXT)->text, "\xC3\xA9xa", 4);
    is_refused(&c, "t", "'t': element 0 is not valid text");
    lra_data_columns_free(&c);
}

TEST(npz_columns_refused)
{
    static const uint64_t u64[4] = {1, UINT64_MAX, 0, 0};
    static const uint8_t bools[4] = {0, 1, 2, 0};
    npz_member m[] = {array("label", "<i4", "2,", counting, 8),
                      array("object", "|O", "2,", counting, 16),
                      array("rank4", "<i4", "2, 1, 2, 1", counting, 16),
                      array("mean", "<f4", "3,", halves, 12),
                      array("texts", "<U1", "2, 2", counting, 16),
                      array("c", "<c8", "2,", halves, 16),
                      array("u64", "<u8", "2, 2", u64, 32),
                      array("b", "|b1", "2, 2", bools, 4),
                      array("f0", "<f4", "2, 2, 0", halves, 0)};
    lra_data_columns c = read_npz(m, 9, NPZ_PLAIN);
    assert_int_equal(c.n, 2);
    is_refused(&c, "object",
               "'object' has element type '|O': pickled objects are never read; save numbers of "
               "one type, rows of different length padded, with their lengths");
    is_refused(&c, "rank4",
               "its shape is (2,1,2,1), expected (n), (n,T) or (n,T,F); images are "
               "reshaped to (n,H*W,channels)");
    is_refused(&c, "mean",
               "it has 3 examples, the other arrays have 2; one file holds one set of "
               "examples");
    is_refused(&c, "texts", "its shape is (2,2), expected (n)");
    is_refused(&c, "c", "'c' holds C64, expected real numbers of at least 16 bits or integers");
    is_refused(&c, "u64", "'u64': element 1 is 18446744073709551615, at most 2^63 - 1 is accepted");
    is_refused(&c, "b", "'b': BOOL byte 2 is 2, expected 0 or 1");
    is_refused(&c, "f0", "it has 0 numbers in each step");
    get(&c, "label", LRA_DATA_COLUMN_NUMBER);
    lra_data_columns_free(&c);
}

/* ---- lengths ------------------------------------------------------------------------------- */

TEST(lengths_cut_padding)
{
    static const int32_t lengths[3] = {2, 0, 4};
    npz_member m[] = {
        array("ids", "<i4", "3, 4", counting, 48), array("x", "<f4", "3, 4, 1", halves, 48),
        array("pair", "<i4", "3, 2", counting, 24), array("lengths", "<i4", "3,", lengths, 12)};
    lra_data_columns c = read_npz(m, 4, NPZ_PLAIN);
    const lra_data_column *ids = get(&c, "ids", LRA_DATA_COLUMN_IDS),
                          *x = get(&c, "x", LRA_DATA_COLUMN_VALUES);
    static const int64_t kept[6] = {0, 1, 8, 9, 10, 11}, start[4] = {0, 2, 2, 6};
    for (int i = 0; i < 6; i++) assert_int_equal(ids->id[i], kept[i]);
    for (int i = 0; i < 6; i++) assert_true(x->value[i] == (float)kept[i] / 2);
    assert_memory_equal(ids->start, start, sizeof start);
    assert_memory_equal(x->start, start, sizeof start);
    assert_int_equal(ids->missing, 1);
    assert_int_equal(get(&c, "pair", LRA_DATA_COLUMN_IDS)->start[3],
                     6); /* the array is shorter than the lengths require */
    lra_data_columns_free(&c);
}

TEST(lengths_that_do_not_fit)
{
    static const int32_t longer[2] = {4, 5}, negative[2] = {1, -1};
    npz_member a[] = {array("ids", "<i4", "2, 4", counting, 32),
                      array("length", "<i4", "2,", longer, 8)};
    refuses(a, 2, ": 'length' of example 2 is 5, the arrays have 4 steps");
    npz_member b[] = {array("ids", "<i4", "2, 4", counting, 32),
                      array("length", "<i4", "2,", negative, 8)};
    refuses(b, 2, ": 'length' of example 2 is -1, expected the number of its steps");
    npz_member d[] = {array("y", "<i4", "2,", counting, 8),
                      array("length", "<i4", "2,", longer, 8)};
    /* there are no sequences, so the array is an ordinary column */
    lra_data_columns c = read_npz(d, 2, NPZ_PLAIN);
    lra_data_columns_free(&c);
}

/* ---- archives that are wrong --------------------------------------------------------------- */

TEST(npz_refusals)
{
    npz_member size[] = {array("a", "<i4", "2,", counting, 8)};
    size[0].more = 4;
    refuses(size, 1, ": member 'a.npy' is stored, and its two sizes differ");
    npz_member lying[] = {array("a", "<i4", "2,", counting, 8)};
    lying[0].deflated = true, lying[0].more = 100;
    refuses(lying, 1, ": array 'a' is damaged: it cannot be inflated");
    npz_member bomb[] = {array("a", "<i4", "2,", counting, 8)};
    bomb[0].deflated = true, bomb[0].more = 1 << 30;
    refuses(bomb, 1, ": member 'a.npy' states a size that deflate cannot reach");
    npz_member crc[] = {array("a", "<i4", "2,", counting, 8)};
    crc[0].crc = 1;
    refuses(crc, 1, ": array 'a' is damaged: its CRC-32 differs");
    npz_member twice[] = {array("a", "<i4", "2,", counting, 8),
                          array("a", "<i4", "2,", counting, 8)};
    refuses(twice, 2, " has two arrays 'a'");
    npz_member secret[] = {array("a", "<i4", "2,", counting, 8)};
    secret[0].flags = 1;
    refuses(secret, 1, ": member 'a.npy' is encrypted");
    npz_member method[] = {array("a", "<i4", "2,", counting, 8)};
    method[0].method = 12;
    refuses(method, 1, ": member 'a.npy' is compressed in another way than by deflate");
    npz_member nested[] = {array("b", "<i4", "2,", counting, 8),
                           array("a.zip", "<i4", "2,", counting, 8)};
    refuses(nested, 2,
            ": member 'a.zip' is no array, expected NAME.npy; arrays are saved by "
            "numpy.savez(FILE, NAME=ARRAY, ...)");
    npz_member up[] = {array("../a.npy", "<i4", "2,", counting, 8)};
    lra_err e = {{0}};
    lra_data_columns c;
    assert_int_equal(read_members(up, 1, NPZ_PLAIN, &c, &e), LRA_FAILED);
    refuses(NULL, 0, " has no arrays of examples");
    npz_member none[] = {array("a", "<i4", "0, 3", counting, 0)};
    refuses(none, 1, " has no examples: the first dimension of its arrays is 0");
    npz_member only[] = {array("a", "<f16", "2,", counting, 32)};
    refuses(only, 1,
            " has no arrays of examples: 'a' has element type '<f16': expected one of f2 f4 "
            "f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 c8 c16");
}

/* A header that announces 4 TB is rejected before memory is allocated or data are unpacked. */
TEST(npz_claims)
{
    lra_err e = {{0}};
    lra_data_columns c;
    npz_member m[] = {array("a", "<f8", "1000000000, 512", counting, 48),
                      array("b", "<i4", "2,", counting, 8)};
    m[0].deflated = true;
    OK(read_members(m, 2, NPZ_PLAIN, &c, &e));
    is_refused(&c, "a", "'a' holds 48 bytes of data, its header says 4096000000000");
    lra_data_columns_free(&c);
}

/* An archive that is truncated anywhere, or has one changed byte, is read or rejected with a
 * message. */
static void damage(const lra_text *t)
{
    for (size_t at = 0; at < t->n; at++) {
        for (int way = 0; way < 5; way++) {
            static const int change[] = {0, 1, 0x80, 0xFF, 0x55};
            size_t n = way ? t->n : at;
            char *copy = lra_alloc(n);
            memcpy(copy, t->s, n);
            if (way) copy[at] = (char)(copy[at] ^ change[way]);
            lra_err e = {{0}};
            lra_npz z;
            lra_ndarray a;
            int rc = lra_npz_parse(copy, n, "x", &z, &e);
            for (int i = 0; rc == 0 && i < z.n; i++) {
                if (z.member[i].reason) continue;
                if (lra_npz_unpack(&z, i, &a, &e) != 0) rc = LRA_FAILED;
            }
            assert_true(rc == 0 || *e.msg);
            lra_npz_free(&z);
            lra_free(copy);
        }
    }
}

TEST(npz_damaged)
{
    for (int form = 0; form < 3; form++) {
        lra_text t = {0};
        npz_member m[] = {array("ids", "<i4", "2, 3", counting, 24),
                          array("y", "<f4", "2,", halves, 8)};
        m[1].deflated = true;
        make_npz(m, 2, (npz_form)form, &t);
        damage(&t);
        lra_text_free(&t);
    }
}

/* ---- safetensors --------------------------------------------------------------------------- */

TEST(safetensors_columns)
{
    /* 1, -2.5, infinity and 2 in bfloat16 */
    static const uint16_t bf16[4] = {0x3F80, 0xC020, 0x7F80, 0x4000};
    static const int64_t ids[4] = {1, 2, 3, 4}, label[2] = {0, 1};
    const lra_safetensor tensors[] = {
        {"x", {.dtype = LRA_DTYPE_BF16, .rank = 2, .dims = {2, 2}, .bytes = bf16}},
        {"tokens", {.dtype = LRA_DTYPE_I64, .rank = 2, .dims = {2, 2}, .bytes = ids}},
        {"label", {.dtype = LRA_DTYPE_I64, .rank = 1, .dims = {2}, .bytes = label}}};
    lra_err e = {{0}};
    lra_data_columns c;
    char *path = lra_format("%s/x.safetensors", folder);
    OK(lra_safetensors_write(path, 3, tensors, NULL, &e));
    OK(lra_data_columns_read(path, NULL, &c, &e));
    assert_int_equal(c.n, 2);
    const lra_data_column *x = get(&c, "x", LRA_DATA_COLUMN_VALUES);
    assert_true(x->value[0] == 1 && x->value[1] == -2.5f && isinf(x->value[2]));
    assert_int_equal(get(&c, "tokens", LRA_DATA_COLUMN_IDS)->id[3], 4);
    assert_true(get(&c, "label", LRA_DATA_COLUMN_NUMBER)->integral);
    lra_data_columns_free(&c);
    lra_free(path);
}

/* ---- other formats ------------------------------------------------------------------------- */

TEST(other_formats_are_named)
{
    static const struct {
        const char *name, *bytes;
        size_t n;
        const char *what;
    } known[] = {{"a.csv", "PAR1\x15\0\x15", 7,
                  "a Parquet file; convert it: python3 -c \"import pandas; "
                  "pandas.read_parquet('IN').to_json('OUT.jsonl', "
                  "orient='records', lines=True)\""},
                 {"a.parquet", "PAR1\x15\0\x15", 7, "a Parquet file"},
                 {"a.csv.gz", "\x1F\x8B\x08\0", 4, "compressed by gzip; unpack it: gunzip -k FILE"},
                 {"a.pt", "PK\3\4\0\0model/data.pkl\x80", 22, "a PyTorch file"},
                 {"a.npz", "PK\3\4\0\0model/data.pkl\x80", 22, "a PyTorch file"},
                 {"a.xlsx", "PK\3\4\0\0[Content_Types].xml", 26, "an Excel workbook"},
                 {"a.csv", "PK\3\4\0\0a.npy", 11, "an npz file; its name has to end in .npz"},
                 {"a.zip", "PK\3\4\0\0a.txt", 11, "a zip archive; unpack it"},
                 {"a.pkl", "\x80\4\x95", 3, "a Python pickle"},
                 {"a.npy", "\x93NUMPY\1\0", 8, "one array without a name (npy)"},
                 {"a.h5", "\x89HDF\r\n\x1A\n\0", 9, "an HDF5 file"},
                 {"a.csv", "version https://git-lfs.github.com/spec/v1\n", 43, "a Git LFS pointer"},
                 {"a.csv", "<!DOCTYPE html>\n", 16, "an HTML page"},
                 {"a.jsonl", "\x40\0\0\0\0\0\0\0{\"a\":", 13,
                  "a safetensors file; its name has to end in .safetensors"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lra_err e = {{0}};
        lra_data_columns c;
        char *path = write_bytes(known[i].name, known[i].bytes, known[i].n);
        char *message = lra_format("'%s' is %s", path, known[i].what);
        assert_int_equal(lra_data_columns_read(path, NULL, &c, &e), LRA_FAILED);
        if (strncmp(e.msg, message, strlen(message)) != 0) fail_msg("%s", e.msg);
        lra_free(message);
        lra_free(path);
    }
}

TEST(extensions)
{
    lra_err e = {{0}};
    lra_data_columns c;
    static const char *const names[] = {"a.csv", "A.CSV", "b.json", "c.ndjson", "d.tsv"};
    static const char *const texts[] = {"x,y\n1,2\n", "x,y\n1,2\n", "{\"x\":1}\n", "{\"x\":1}",
                                        "x\ty\n1\t2\n"};
    for (int i = 0; i < 5; i++) {
        char *path = write_bytes(names[i], texts[i], strlen(texts[i]));
        OK(lra_data_columns_read(path, NULL, &c, &e));
        assert_true(get(&c, "x", LRA_DATA_COLUMN_NUMBER)->number[0] == 1);
        lra_data_columns_free(&c);
        OK(lra_data_columns_read(path, (const char *const[]){"x", NULL}, &c, &e));
        assert_int_equal(c.column[0].kind, names[i][2] == 'j' || names[i][2] == 'n'
                                               ? LRA_DATA_COLUMN_NUMBER
                                               : LRA_DATA_COLUMN_TEXT);
        lra_data_columns_free(&c);
        lra_free(path);
    }
    char *path = write_bytes("a.txt", "x,y\n1,2\n", 8);
    assert_int_equal(lra_data_columns_read(path, NULL, &c, &e), LRA_FAILED);
    assert_non_null(strstr(e.msg, "a.txt' has no known extension, expected .csv, "
                                  ".tsv, .jsonl, .ndjson, .npz or .safetensors"));
    lra_free(path);
    path = write_bytes("text.npz", "x,y\n1,2\nthat is no archive at all", 33);
    assert_int_equal(lra_data_columns_read(path, NULL, &c, &e), LRA_FAILED);
    assert_string_equal(after_path(e.msg), " is not a readable npz file: the end of a zip "
                                           "archive is missing (an incomplete file?)");
    lra_free(path);
    assert_int_equal(lra_data_columns_read(folder, NULL, &c, &e), LRA_FAILED);
    assert_int_equal(lra_data_columns_read("none.csv", NULL, &c, &e), LRA_FAILED);
    assert_string_equal(e.msg, "cannot open 'none.csv': No such file or directory");
}
