/* Single-bit errors anywhere in the files of a run, and truncated files: each file is rejected with
 * a message, or the content that is read is exactly what was written. LRA_FLIPS=100000 flips
 * 100,000 bits (default 400); LRA_FLIPS_SEED selects other bits. */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/cli/options.h"
#include "kernels/base/core/philox.h"
#include "kernels/base/os/terminal.h"
#include "tests/fixtures/format_files.h"

static uint64_t whole[FORMAT_KINDS]; /* hashes of the content of the intact files */
static char *bytes[FORMAT_KINDS];
static size_t size[FORMAT_KINDS];

static int64_t number(const char *name, int64_t other)
{
    int64_t value;
    const char *text = getenv(name);
    return text && lra_parse_int(text, &value) ? value : other;
}

static void write_prefix(int kind, size_t n)
{
    FILE *f = fopen(format_files_path(kind), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes[kind], 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void set_byte(int kind, size_t at, int value)
{
    FILE *f = fopen(format_files_path(kind), "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(value, f), value);
    assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
    (void)state;
    format_files_make();
    for (int k = 0; k < FORMAT_KINDS; k++) {
        lra_err e = {{0}};
        bytes[k] = lra_file_read(format_files_path(k), 1 << 20, &size[k], &e);
        if (!bytes[k] || format_files_read(k, &whole[k], &e) != 0) return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int k = 0; k < FORMAT_KINDS; k++) lra_free_large(bytes[k]);
    format_files_remove();
    return 0;
}

/* Returns 1 if the file is rejected, with a one-line message that contains the file's name or the
 * fault; 0 if it is read with its original content. */
static int refused(int kind, const char *what, size_t at)
{
    lra_err e = {{0}};
    uint64_t hash;
    int rc = format_files_read(kind, &hash, &e);
    if (rc == 0 && hash != whole[kind])
        fail_msg("%s file, %s %zu: other contents, unnoticed", own_names[kind], what, at);
    if (rc != 0 && (!e.msg[0] || strchr(e.msg, '\n')))
        fail_msg("%s file, %s %zu: '%s'", own_names[kind], what, at, e.msg);
    return rc != 0;
}

TEST(flipped_bits)
{
    int64_t n = number("LRA_FLIPS", 400), caught[FORMAT_KINDS] = {0}, tried[FORMAT_KINDS] = {0};
    uint64_t seed = (uint64_t)number("LRA_FLIPS_SEED", 1);
    lra_rng rng = lra_rng_new(seed, 0xF11B, 0);
    double start = lra_now();
    for (int64_t i = 0; i < n; i++) {
        int kind = (int)lra_rng_below(&rng, FORMAT_KINDS);
        size_t bit = lra_rng_below(&rng, (uint32_t)(8 * size[kind]));
        int byte = (unsigned char)bytes[kind][bit / 8];
        set_byte(kind, bit / 8, byte ^ 1 << bit % 8);
        caught[kind] += refused(kind, "bit", bit);
        tried[kind]++;
        set_byte(kind, bit / 8, byte);
    }
    for (int k = 0; k < FORMAT_KINDS; k++) {
        printf("%-10s %7zu bytes  %6lld flips: %6lld refused, %lld read as they were\n",
               own_names[k], size[k], (long long)tried[k], (long long)caught[k],
               (long long)(tried[k] - caught[k]));
        assert_true(caught[k] > 0);
        assert_int_equal(refused(k, "restored", 0), 0);
    }
    printf("%lld flips in %.0f s, seed %llu\n", (long long)n, lra_now() - start,
           (unsigned long long)seed);
}

TEST(cut_short)
{
    for (int k = 0; k < FORMAT_KINDS; k++) {
        for (size_t cut = 0; cut < size[k]; cut += size[k] / 40) {
            write_prefix(k, cut);
            assert_int_equal(refused(k, "cut to", cut), 1);
        }
        write_prefix(k, size[k]);
        assert_int_equal(refused(k, "restored", 0), 0);
    }
}

GROUP(set_up, tear_down);
