/* Cost model of the weight gradient of narrow groups on a GPU (conv_dw_parts.h): for the sizes of
 * the presets of resconv the kernel takes at most four times as long as the necessary work at the
 * peak rates of a GPU. A tile of 64 x 64 channels would compute up to 2048 times as much as
 * necessary. */
#include "tests/fixtures/test.h"

#include <stdbool.h>
#include <stdio.h>

#include <math.h>

#include "kernels/ops/conv/conv_dw_parts.h"

/* H100 SXM: float32 FLOP/s without tensor cores, memory bandwidth in bytes/s, and wavefronts/s of
 * shared memory (one per clock in each of 132 multiprocessors). */
static const double peak_flops = 67e12, peak_bytes = 3.35e12, peak_shared = 132 * 1.755e9;

static double seconds(gdw_count c)
{
    return fmax(fmax(c.flops / peak_flops, c.bytes / peak_bytes), c.shared / peak_shared);
}

/* Returns the estimated time over the smallest possible time, for elements of `size` bytes. */
static double excess(const conv_dw_sizes *s, int64_t size)
{
    return seconds(gdw_count_of(s, size)) / seconds(gdw_least(s, size));
}

static double excess_of_tiles(const conv_dw_sizes *s)
{
    int64_t tiles = (s->n_in + 63) / 64 * ((s->n_out + 63) / 64);
    return 64.0 * 64 * (double)tiles / (double)(s->n_in * s->n_out);
}

static void expect_few(const conv_dw_sizes *s, double most)
{
    for (int64_t size = 2; size <= 4; size += 2) {
        double more = excess(s, size);
        if (!(more >= 0.99 && more <= most))
            fail_msg(
                "B %d T %d K %d groups %d of %d x %d dilation %d, %d bytes: %.2f times the least",
                (int)s->B, (int)s->T, (int)s->K, (int)s->groups, (int)s->n_in, (int)s->n_out,
                (int)s->dilation, (int)size, more);
    }
}

/* Sizes of Path-X, speech, BIDMC, CIFAR and Pathfinder in the presets small, quick and paper. */
TEST(presets_take_at_most_four_times_the_least)
{
    static const conv_dw_sizes s[] = {
        {32, 16384, 1025, 32, 2, 4, 1}, {32, 16000, 1025, 32, 2, 4, 1},
        {32, 4000, 1025, 32, 2, 4, 1},  {64, 1024, 683, 32, 1, 2, 1},
        {64, 1024, 1023, 32, 2, 4, 1},  {64, 1024, 61, 32, 2, 4, 1},
        {64, 1024, 5, 32, 2, 4, 1},     {32, 16384, 1025, 32, 4, 8, 1},
        {32, 1024, 61, 16, 1, 2, 1}};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        assert_true(gdw_fits(&s[i]));
        print_message("B %d T %d K %d, %d groups of %d x %d: %.2f times the least, tiles %.0f\n",
                      (int)s[i].B, (int)s[i].T, (int)s[i].K, (int)s[i].groups, (int)s[i].n_in,
                      (int)s[i].n_out, excess(&s[i], 4), excess_of_tiles(&s[i]));
        expect_few(&s[i], 4);
    }
}

static bool is_power_of_2(int64_t n)
{
    return (n & (n - 1)) == 0;
}

/* For at least 32 output channels and K above 1: at most 4 times the smallest time if the channels
 * per group are a power of two, and at most 6 times otherwise, because some lanes are idle. */
TEST(other_sizes_take_few_times_the_least)
{
    static const int64_t taps[] = {3, 5, 7, 9, 17, 31, 61, 65, 129, 683, 1025, 4097};
    int n = 0;
    for (int64_t n_in = 1; n_in <= 64; n_in += n_in < 16 ? 1 : 7)
        for (int64_t n_out = 1; n_out <= 64; n_out += n_out < 16 ? 1 : 7)
            for (size_t k = 0; k < sizeof taps / sizeof *taps; k++)
                for (int64_t groups = 2; groups <= 64; groups *= 2)
                    for (int64_t dilation = 1; dilation <= 4; dilation *= 4) {
                        conv_dw_sizes s = {32, 4096, taps[k], groups, n_in, n_out, dilation};
                        if (!gdw_fits(&s) || groups * n_out < 32) continue;
                        expect_few(&s, is_power_of_2(n_in) && is_power_of_2(n_out) ? 4 : 6);
                        n++;
                    }
    assert_true(n > 1000);
}

/* Launches stay within the limits of every GPU: 48 KiB of shared memory, 2^31 - 1 blocks. */
TEST(launches_are_within_limits)
{
    for (int64_t n_in = 1; n_in <= 4096; n_in = n_in * 3 / 2 + 1)
        for (int64_t n_out = 1; n_out <= 4096; n_out = n_out * 3 / 2 + 1)
            for (int64_t K = 1; K <= 1 << 20; K = 4 * K + 1) {
                conv_dw_sizes s = {64, 16384, K, 64, n_in, n_out, 1};
                if (!gdw_fits(&s)) continue;
                gdw_block b = gdw_block_of(&s);
                assert_true(gdw_shared(&s) <= GDW_SHARED);
                assert_true(b.taps * b.inputs <= GDW_ITEMS && GDW_ITEMS % (b.taps * b.inputs) == 0);
                assert_true(b.rows >= GDW_ROWS + GDW_TAPS * b.taps);
                assert_true(conv_dw_parts(&s) * gdw_blocks(&s) <= INT32_MAX);
            }
}
