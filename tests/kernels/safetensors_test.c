/* safetensors: golden bytes of the reference implementation, round trips, and files that must be
 * rejected. */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/safetensors.h"

static const char path[] = "safetensors_test.safetensors";

/* Makes a file image from a header and n zero bytes of data; returns its size. */
static size_t image(char *to, const char *header, size_t n)
{
    uint64_t length = strlen(header);
    for (int i = 0; i < 8; i++) to[i] = (char)(length >> 8 * i);
    memcpy(to + 8, header, length);
    memset(to + 8 + length, 0, n);
    return 8 + length + n;
}

static lra_ndarray array(lra_dtype dtype, int rank, int64_t a, int64_t b, const void *bytes)
{
    return (lra_ndarray){.dtype = dtype, .rank = rank, .dims = {a, b}, .bytes = bytes};
}

/* The bytes that safetensors 0.8.0 for Python writes for the same arrays. */
TEST(golden_bytes)
{
    static const char header[] =
        "{\"__metadata__\":{\"lra.format\":\"1\"},"
        "\"a2\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"a\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[8,24]},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[24,48]},"
        "\"z\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[48,48]},"
        "\"s\":{\"dtype\":\"I16\",\"shape\":[],\"data_offsets\":[48,50]},"
        "\"c/d\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[50,52]}}       ";
    const double a[] = {0, 1};
    const float b[] = {0, 1, 2, 3, 4, 5};
    const int64_t a2 = 1;
    const int16_t s = 7;
    const uint8_t c[] = {1, 0};
    lra_safetensor list[] = {
        {"a", array(LRA_DTYPE_F64, 1, 2, 0, a)},    {"b", array(LRA_DTYPE_F32, 2, 2, 3, b)},
        {"c/d", array(LRA_DTYPE_BOOL, 1, 2, 0, c)}, {"z", array(LRA_DTYPE_F32, 2, 0, 3, NULL)},
        {"s", array(LRA_DTYPE_I16, 0, 0, 0, &s)},   {"a2", array(LRA_DTYPE_I64, 1, 1, 0, &a2)}};
    lra_err e = {{0}};
    lra_config *meta = lra_config_parse("lra.format=1", &e);
    OK(lra_safetensors_write(path, 6, list, meta, &e));
    size_t n, length = sizeof header - 1;
    char *bytes = lra_file_read(path, 4096, &n, &e), expected[512];
    image(expected, header, 0);
    assert_int_equal(n, 8 + length + 52);
    assert_memory_equal(bytes, expected, 8 + length);
    assert_memory_equal(bytes + 8 + length, &a2, 8);
    assert_memory_equal(bytes + 8 + length + 24, b, sizeof b);
    assert_memory_equal(bytes + n - 2, c, 2);

    lra_safetensors t;
    OK(lra_safetensors_read(path, &t, &e));
    assert_int_equal(t.n, 6);
    assert_string_equal(t.tensor[0].name, "a2");
    assert_int_equal(t.hash, lra_hash64(bytes, n));
    assert_string_equal(lra_config_text(t.meta, "lra.format"), "1");
    const lra_ndarray *found = lra_safetensors_find(&t, "b");
    assert_true(found->dtype == LRA_DTYPE_F32 && found->rank == 2 && found->dims[1] == 3);
    assert_memory_equal(found->bytes, b, sizeof b);
    assert_int_equal(lra_safetensors_find(&t, "z")->n, 0);
    assert_int_equal(lra_safetensors_find(&t, "s")->n, 1);
    assert_null(lra_safetensors_find(&t, "c"));
    lra_safetensors_free(&t);
    lra_free_large(bytes);
    lra_config_free(meta);
    remove(path);
}

/* A tensor entry of the header. */
#define ENTRY(dtype, shape, offsets)                                                               \
    "{\"x\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

TEST(refused)
{
    static const struct {
        const char *header;
        size_t n;
        const char *says;
    } bad[] = {
        {" {}", 0, "does not start with '{'"},
        {"", 0, "does not start with '{'"},
        {"{}\n", 0, "continues after its closing"},
        {"{}{}", 0, "continues after its closing"},
        {"{", 0, "not JSON"},
        {"{\"a\":\"\xFF\"}", 0, "not JSON"},
        {"{\"a\":[[[[[[", 0, "nested deeper than 3"},
        {"{\"x\":1,\"x\":1}", 0, "duplicate"},
        {"{\"x\":1}", 0, "tensor 'x': the entry is not an object"},
        {ENTRY("F32", "[-1]", "[0,4]"), 4, "a number with '-'"},
        {ENTRY("F32", "[1.0]", "[0,4]"), 4, "a number with '.'"},
        {ENTRY("F32", "[1e0]", "[0,4]"), 4, "not an integer"},
        {ENTRY("F32", "[true]", "[0,4]"), 4, "not an integer"},
        {ENTRY("F32", "1", "[0,4]"), 4, "'shape' is not an array"},
        {ENTRY("F32", "[1]", "[0,4,8]"), 4, "'data_offsets' is not an array of integers (2)"},
        {ENTRY("F32", "[281474976710657]", "[0,4]"), 4, "not an integer up to 2^48"},
        {ENTRY("F32", "[99999999999999999999]", "[0,4]"), 4, "too big"},
        {ENTRY("F32", "[1099511627776,1099511627776]", "[0,0]"), 0, "more than 2^48 elements"},
        {ENTRY("F32", "[2199023255552]", "[0,4]"), 4, "expected 0 to 2^40"},
        {ENTRY("F32", "[4294967296,4294967296,0,1]", "[0,1]"), 1, "expected 0 bytes"},
        {ENTRY("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "rank is 9"},
        {ENTRY("F32", "[2]", "[0,4]"), 4, "data_offsets 0 to 4, expected 8 bytes"},
        {ENTRY("F32", "[1]", "[4,0]"), 4, "data_offsets 4 to 0"},
        {ENTRY("F32", "[1]", "[4,8]"), 8, "'x' begins at 4, expected 0"},
        {ENTRY("F32", "[1]", "[0,4]"), 3, "ends at 4 of 3 bytes"},
        {ENTRY("F32", "[1]", "[0,4]"), 5, "the data have 5 bytes"},
        {ENTRY("F4", "[2]", "[0,1]"), 1, "dtype F4 is not supported"},
        {ENTRY("c16", "[1]", "[0,16]"), 16, "dtype 'c16' is unknown"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4],\"y\":1}}", 4,
         "unknown key 'y'"},
        {"{\"x\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "'shape' is not an array"},
        {"{\"x\":{\"shape\":[],\"data_offsets\":[0,4]}}", 4, "'dtype' is not text"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
         "\"y\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[2,6]}}",
         6, "'y' begins at 2, expected 4 (a hole or an overlap)"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "'a' is not text"},
        {"{\"__metadata__\":[]}", 0, "'__metadata__' is not an object"},
        {"{\"\":{}}", 0, "a name has 0 bytes"},
        {"{\"/x\":{}}", 0, "starts with '/'"},
        {"{\"a/..\":{}}", 0, "component '..'"},
        {"{\"a\\nb\":{}}", 0, "control character"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lra_err e = {{0}};
        lra_safetensors t;
        char m[512];
        size_t n = image(m, bad[i].header, bad[i].n);
        if (lra_safetensors_parse(m, n, "f", &t, &e) == 0) fail_msg("accepted %s", bad[i].header);
        if (!strstr(e.msg, bad[i].says)) fail_msg("%s: '%s'", bad[i].header, e.msg);
        assert_memory_equal(e.msg, "'f'", 3);
        lra_safetensors_free(&t);
    }
}

/* Header lengths in the first 8 bytes that are larger than the file. */
TEST(refused_lengths)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *says;
    } bad[] = {
        {"", 0, "'f' has 0 bytes"},
        {"\2\0\0\0\0\0\0", 7, "'f' has 7 bytes"},
        {"\3\0\0\0\0\0\0\0{}", 10, "header has 3 bytes, the file 10"},
        {"\0\0\0\0\0\0\0\x80{}", 10, "header has 9223372036854775808 bytes, at most 16777216"},
        {"\0\0\0\0\0\0\0\0{}", 10, "does not start with '{'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lra_err e = {{0}};
        lra_safetensors t;
        assert_int_equal(lra_safetensors_parse(bad[i].bytes, bad[i].n, "f", &t, &e), -1);
        if (!strstr(e.msg, bad[i].says)) fail_msg("%zu: '%s'", i, e.msg);
        lra_safetensors_free(&t);
    }
}

TEST(names_that_cannot_be_written)
{
    const float v = 1;
    lra_safetensor twice[] = {{"a", array(LRA_DTYPE_F32, 0, 0, 0, &v)},
                              {"a", array(LRA_DTYPE_F32, 0, 0, 0, &v)}},
                   text = {"\xFF", array(LRA_DTYPE_F32, 0, 0, 0, &v)},
                   wide = {"w", array(LRA_DTYPE_C128, 0, 0, 0, &v)};
    lra_err e = {{0}};
    assert_int_equal(lra_safetensors_write(path, 2, twice, NULL, &e), -1);
    assert_non_null(strstr(e.msg, "not distinct"));
    assert_int_equal(lra_safetensors_write(path, 1, &text, NULL, &e), -1);
    assert_non_null(strstr(e.msg, "not UTF-8"));
    assert_int_equal(lra_safetensors_write(path, 1, &wide, NULL, &e), -1);
    assert_non_null(strstr(e.msg, "safetensors has no c16"));
    assert_int_equal(lra_safetensors_write("none/x", 0, NULL, NULL, &e), -1);
    assert_non_null(strstr(e.msg, "cannot write 'none/x'"));
    assert_false(lra_file_exists(path));
}
