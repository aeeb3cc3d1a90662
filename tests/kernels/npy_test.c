/* npy: golden bytes, every element type, and files that must be rejected. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/formats/npy.h"

/* Makes a file image from a header and data, of version 1.0 unless `major` is given. Returns its
 * size. */
static size_t image(char *to, int major, const char *header, const void *data, size_t n)
{
    size_t length = strlen(header), at = major == 1 ? 10 : 12;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (char)major, to[7] = 0;
    for (size_t i = 8; i < at; i++) to[i] = (char)(length >> 8 * (i - 8));
    memcpy(to + at, header, length);
    if (n) memcpy(to + at + length, data, n);
    return at + length + n;
}

/* The bytes that numpy 1.24 writes for numpy.arange(12, dtype='f4').reshape(3, 4). */
TEST(golden_bytes)
{
    static const char start[] =
        "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
    lra_err e = {{0}};
    lra_ndarray a;
    char bytes[128 + 48];
    float v[12], got[12];
    for (int i = 0; i < 12; i++) v[i] = (float)i;
    memset(bytes, ' ', 128);
    memcpy(bytes, start, sizeof start - 1);
    bytes[127] = '\n';
    memcpy(bytes + 128, v, sizeof v);
    OK(lra_npy_parse(bytes, sizeof bytes, "x", false, &a, &e));
    assert_int_equal(a.dtype, LRA_DTYPE_F32);
    assert_true(a.rank == 2 && a.dims[0] == 3 && a.dims[1] == 4);
    OK(lra_ndarray_get_f32(&a, "x", got, &e));
    assert_memory_equal(got, v, sizeof v);
}

/* Every type of npy except strings, also scalars and empty arrays. */
TEST(types_and_shapes)
{
    static const struct {
        lra_dtype dtype;
        const char *descr;
    } types[] = {{LRA_DTYPE_BOOL, "|b1"}, {LRA_DTYPE_U8, "|u1"},   {LRA_DTYPE_I8, "|i1"},
                 {LRA_DTYPE_U16, "<u2"},  {LRA_DTYPE_I16, "<i2"},  {LRA_DTYPE_F16, "<f2"},
                 {LRA_DTYPE_U32, "<u4"},  {LRA_DTYPE_I32, "<i4"},  {LRA_DTYPE_F32, "<f4"},
                 {LRA_DTYPE_U64, "<u8"},  {LRA_DTYPE_I64, "<i8"},  {LRA_DTYPE_F64, "<f8"},
                 {LRA_DTYPE_C64, "<c8"},  {LRA_DTYPE_C128, "<c16"}};
    static const struct {
        const char *text;
        int rank;
        int64_t n;
    } shapes[] = {
        {"()", 0, 1}, {"(0,)", 1, 0}, {"(5,)", 1, 5}, {"(2, 1, 3)", 3, 6}, {"(4, 0)", 2, 0}};
    unsigned char data[96];
    char m[256];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i % 2);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            lra_err e = {{0}};
            lra_ndarray a;
            char *header = lra_format("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n",
                                      types[t].descr, shapes[s].text);
            size_t size = (size_t)shapes[s].n * lra_dtype_bytes(types[t].dtype);
            size_t n = image(m, 1, header, data, size);
            OK(lra_npy_parse(m, n, "x", false, &a, &e));
            assert_int_equal(a.dtype, types[t].dtype);
            assert_int_equal(a.rank, shapes[s].rank);
            assert_int_equal(a.n, shapes[s].n);
            assert_memory_equal(a.bytes, data, size);
            lra_free(header);
        }
}

TEST(values_of_every_kind)
{
    lra_err e = {{0}};
    char m[256];
    lra_ndarray a;
    float v[6];
    const uint8_t half[] = {0x00, 0x3C, 0x00, 0xC0, 0x01, 0x00, 0xFF, 0x7B, 0x00, 0x7C};
    size_t n = image(m, 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (5,)}\n", half, 10);
    assert_int_equal(lra_npy_parse(m, n, "h", false, &a, &e), 0);
    assert_int_equal(lra_ndarray_get_f32(&a, "h", v, &e), 0);
    assert_true(v[0] == 1 && v[1] == -2 && v[2] == ldexp(1, -24) && v[3] == 65504 && isinf(v[4]));

    /* Big-endian data, column-major order, version 3.0, double quotes, keys in another order,
     * Python 2's suffix L. */
    const uint8_t big[] = {0, 1, 0, 2, 0, 3, 0, 4, 255, 251, 0, 6};
    n = image(m, 3, "{\"shape\":(2L,3L,),\"fortran_order\":True,\"descr\":\">i2\"}\n", big, 12);
    OK(lra_npy_parse(m, n, "b", false, &a, &e));
    assert_int_equal(lra_ndarray_get_f32(&a, "b", v, &e), 0);
    const float expected[] = {1, 3, -5, 2, 4, 6};
    assert_memory_equal(v, expected, sizeof expected);

    const uint8_t bools[] = {1, 0, 2};
    n = image(m, 2, "{'descr': '|b1', 'fortran_order': False, 'shape': (3, )}  \n", bools, 3);
    assert_int_equal(lra_npy_parse(m, n, "t", false, &a, &e), 0);
    assert_int_equal(lra_ndarray_get_f32(&a, "t", v, &e), -1);
    assert_string_equal(e.msg, "'t': BOOL byte 2 is 2, expected 0 or 1");
}

/* Versions 1.0 to 3.0 are accepted, others are rejected. */
TEST(versions)
{
    char m[256] = {0};
    const uint8_t data[12] = {0};
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}\n";
    for (int major = 0; major <= 4; major++)
        for (int minor = 0; minor <= 2; minor++) {
            lra_err e = {{0}};
            lra_ndarray a;
            size_t n = image(m, major > 1 ? 2 : 1, header, data, sizeof data);
            m[6] = (char)major, m[7] = (char)minor;
            bool good = major >= 1 && major <= 3 && minor == 0;
            assert_int_equal(lra_npy_parse(m, n, "s", false, &a, &e), good ? 0 : -1);
            if (!good && !strstr(e.msg, "expected 1.0, 2.0 or 3.0")) fail_msg("%s", e.msg);
        }
}

/* A file with one byte too many is rejected like one with a missing byte. */
TEST(the_size_is_exact)
{
    char m[256] = {0};
    const uint8_t data[13] = {0};
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}\n";
    for (size_t n = 11; n <= 13; n++) {
        lra_err e = {{0}};
        lra_ndarray a;
        int rc = lra_npy_parse(m, image(m, 1, header, data, n), "s", false, &a, &e);
        assert_int_equal(rc, n == 12 ? 0 : -1);
        if (n != 12 && !strstr(e.msg, "'s'")) fail_msg("%s", e.msg);
    }
}

/* Tables of strings, as in the metadata of the Pathfinder sets. */
TEST(texts)
{
    lra_err e = {{0}};
    char m[256];
    lra_ndarray a;
    const uint32_t ucs[] = {'i', 'm', 0, 0xE9, 0x1F600, 'x', 0, 0, 0, '1', 0, 0};
    size_t n = image(m, 1, "{'descr': '<U3', 'fortran_order': False, 'shape': (2, 2), }\n", ucs,
                     sizeof ucs);
    assert_int_equal(lra_npy_parse(m, n, "u", false, &a, &e), -1);
    assert_int_equal(lra_npy_parse(m, n, "u", true, &a, &e), 0);
    static const char *const expected[] = {"im", "\xC3\xA9\xF0\x9F\x98\x80x", "", "1"};
    for (int64_t i = 0; i < 4; i++) {
        char *text = lra_ndarray_text(&a, i, "u", &e);
        assert_string_equal(text, expected[i]);
        lra_free(text);
    }
    n = image(m, 1, "{'descr': '|S2', 'fortran_order': True, 'shape': (1, 2)}\n", "ab\xFF\0", 4);
    assert_int_equal(lra_npy_parse(m, n, "s", true, &a, &e), 0);
    char *text = lra_ndarray_text(&a, 0, "s", &e);
    assert_string_equal(text, "ab");
    lra_free(text);
    assert_null(lra_ndarray_text(&a, 1, "s", &e));
    assert_string_equal(e.msg, "'s': element 1 is not valid text");
}

/* Column-major order: an array (2, 3) of single letters, and a table so large that only direct
 * access to elements is fast enough. */
TEST(texts_in_another_order)
{
    lra_err e = {{0}};
    char m[128];
    lra_ndarray a;
    size_t n = image(m, 1, "{'descr': '|S1', 'fortran_order': True, 'shape': (2, 3)}\n", "adbecf",
                     6);
    assert_int_equal(lra_npy_parse(m, n, "f", true, &a, &e), 0);
    for (int i = 0; i < 6; i++) {
        char *text = lra_ndarray_text(&a, i, "f", &e), expected[2] = {(char)('a' + i), 0};
        assert_string_equal(text, expected);
        lra_free(text);
    }
    enum { ROWS = 1 << 20 };
    char *large = lra_alloc(11 * ROWS);
    memset(large, 'x', 11 * ROWS);
    a.dims[0] = ROWS, a.dims[1] = 11, a.n = 11 * ROWS, a.bytes = large;
    for (int64_t i = 0; i < a.n; i += 11) lra_free(lra_ndarray_text(&a, i, "f", &e));
    lra_free(large);
}

TEST(refused)
{
    static const struct {
        const char *header, *says;
    } bad[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "one line end"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n\n", "one line end"},
        {"{'descr': '<f4', 'fortran_order': False}\n", "are expected"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}\n", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}\n", "a dimension"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}\n", "2^40"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,1099511627776)}\n",
         "more than 2^48"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}\n", "rank"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}\n",
         "holds 4 bytes of data, its header says 8"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}\n", "True or False"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n", "twice"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}\n", "unknown"},
        {"{'descr': '<f4', \"fortran_order\": False, 'shape': (1,)}\n", "different quotes"},
        {"{'descr': '=f4', 'fortran_order': False, 'shape': (1,)}\n", "not defined in a file"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n", "never read"},
        {"{'descr': '|V2', 'fortran_order': False, 'shape': (2,)}\n", "bfloat16"},
        {"{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}\n", "expected one of"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}\n", "structured"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}\n", "found ''', expected ','"},
        {"('descr')\n", "found '(', expected '{'"},
        {"\n", "ends where '{'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lra_err e = {{0}};
        char m[512];
        lra_ndarray a;
        size_t n = image(m, 1, bad[i].header, "\0\0\0", 4);
        if (lra_npy_parse(m, n, "x", false, &a, &e) == 0) fail_msg("accepted: %s", bad[i].header);
        if (!strstr(e.msg, bad[i].says)) fail_msg("%s: '%s'", bad[i].header, e.msg);
        assert_null(strchr(e.msg, '\n'));
    }
    lra_err e = {{0}};
    lra_ndarray a;
    assert_int_equal(lra_npy_parse("PK\3\4", 4, "z", false, &a, &e), -1);
    assert_int_equal(lra_npy_parse("\x93NUMPY\1\0\xFF\xFF{", 11, "z", false, &a, &e), -1);
    assert_non_null(strstr(e.msg, "65535 bytes, at most 10000"));
    assert_int_equal(lra_npy_parse("\x93NUMPY\4\0\0\0", 10, "z", false, &a, &e), -1);
    assert_non_null(strstr(e.msg, "version 4.0"));
}
