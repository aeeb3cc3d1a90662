/* Functions that figures share: series, bars and ramps that also differ in grey, dashes of the same
 * length in all file formats, texts that fit. L* is perceived lightness, from 0 to 100. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/plot.h"
#include "tests/fixtures/golden.h"

static double linear(unsigned x)
{
    double v = x / 255.;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double lightness(const char *color)
{
    unsigned r, g, b;
    assert_int_equal(sscanf(color, "#%2x%2x%2x", &r, &g, &b), 3);
    return 116 * cbrt(0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)) - 16;
}

/* Curves without an order differ in dash and in point from each other and in lightness from the
 * previous one, and are dark enough for white paper. */
TEST(curves_differ_without_colour)
{
    for (int i = 0; i < LRA_PLOT_STYLES; i++) {
        lra_plot_style a = lra_plot_series(i, LRA_PLOT_STYLES, false);
        assert_true(lightness(a.color) < 75);
        assert_int_equal(a.full, a.hollow + 1);
        for (int k = 0; k < i; k++) {
            lra_plot_style b = lra_plot_series(k, LRA_PLOT_STYLES, false);
            assert_string_not_equal(a.dash, b.dash);
            assert_true(a.full != b.full);
        }
        if (i > 0 && i < 5)
            assert_true(fabs(lightness(a.color) - lightness(lra_plot_styles[i - 1].color)) > 8);
    }
}

TEST(ordered_ones_go_from_light_to_dark)
{
    for (int n = 1; n <= LRA_PLOT_STYLES; n++)
        for (int i = 0; i < n; i++) {
            lra_plot_style a = lra_plot_series(i, n, true);
            assert_string_equal(a.color, lra_plot_ramp(i, n));
            assert_string_equal(a.color, lra_plot_fill(i, n, true));
            assert_string_equal(a.dash, "1");
            assert_true(lightness(a.color) < 82);
            if (i > 0) assert_true(lightness(a.color) + 9 < lightness(lra_plot_ramp(i - 1, n)));
        }
}

TEST(bars_go_from_dark_to_light)
{
    for (int n = 1; n <= LRA_PLOT_STYLES; n++)
        for (int i = 1; i < n; i++)
            assert_true(lightness(lra_plot_fill(i, n, false)) >
                        9 + lightness(lra_plot_fill(i - 1, n, false)));
    /* the fewer bars, the larger the difference */
    assert_true(lightness(lra_plot_fill(1, 2, false)) > 50 + lightness(lra_plot_fill(0, 2, false)));
}

TEST(texts_are_shortened_in_the_middle)
{
    static const char name[] = "transformer act=relu attention-dropout=0.0625 hidden=48";
    char *same = lra_plot_fit(name, 20, 8);
    assert_string_equal(same, name);
    lra_free(same);
    for (double cm = 1; cm < 8; cm += 0.25) {
        char *text = lra_plot_fit(name, cm, 8), *dots = strstr(text, "..");
        assert_true(lra_plot_width(text) <= cm && dots);
        assert_memory_equal(text, name, (size_t)(dots - text));
        assert_string_equal(dots + 2, name + strlen(name) - strlen(dots + 2));
        char *small = lra_plot_fit(name, cm, 7);
        assert_true(strlen(small) >= strlen(text));
        lra_free(small);
        lra_free(text);
    }
    /* No character is divided: in this text, bytes above 127 occur in pairs. */
    for (double cm = 0.5; cm < 5; cm += 0.1) {
        char *text = lra_plot_fit("\303\244\303\266\303\274\303\244\303\266\303\274\303\244", cm,
                                  8);
        for (const char *at = text; *at; at++) {
            if (*at == '.') continue;
            assert_int_equal((unsigned char)at[0], 0xC3);
            at++;
            assert_int_equal((unsigned char)at[0] & 0xC0, 0x80);
        }
        lra_free(text);
    }
}

/* Returns the number of lines of the title, and stores the height that remains for the plot. */
static int lines_of(const char *title, char line[2][200], double *room)
{
    lra_plot p = {.width = 8.5, .height = 6, .title = lra_copy_text(title)};
    int n = 0;
    *room = lra_plot_start(&p);
    for (const char *at = p.script.s; (at = strstr(at, "set label '")); at++) {
        assert_true(n < 2);
        assert_int_equal(sscanf(at, "set label '%199[^']'", line[n++]), 1);
    }
    lra_plot_free(&p);
    return n;
}

TEST(titles_take_two_lines_at_most)
{
    char line[2][200];
    double room, less;
    assert_int_equal(lines_of("listops, quick", line, &room), 1);
    assert_int_equal(
        lines_of("listops, small, resconv, bf16, 3 seeds, few-seeds unsealed", line, &less), 2);
    assert_string_equal(line[0], "listops, small, resconv, bf16,");
    assert_string_equal(line[1], "3 seeds, few-seeds unsealed");
    assert_true(fabs(room - less - LRA_LINE_CM) < 1e-9);
    /* A title that does not fit into two lines is shortened in its second line, at a space. */
    assert_int_equal(lines_of("what is left, transformer act=relu attention-dropout=0.0625 "
                              "hidden=48 norm=post positions=sinusoidal rate=0.00123, seed 0",
                              line, &less),
                     2);
    assert_true(fabs(room - less - LRA_LINE_CM) < 1e-9);
    for (int i = 0; i < 2; i++) assert_true(lra_plot_width(line[i]) <= 8.3);
    assert_non_null(strstr(line[1], ".."));
    const char *end = strstr(line[1], "seed 0");
    assert_true(end && strlen(end) == 6);
}

/* In SVG, gnuplot draws consecutive lines of the same colour and width with the dashes of the first
 * one: consecutive lines of a legend must differ. */
TEST(lines_of_a_legend_differ_in_width)
{
    const lra_plot_entry key[] = {
        {"equal weights", LRA_LEGEND_LINE, "#888888", LRA_DASH_DASHES, 1.3, 0, 0},
        {"chance", LRA_LEGEND_LINE, "#888888", "1", 1.3, 0, 0}};
    lra_plot p = {.width = 8.5, .height = 6, .title = lra_copy_text("legend")};
    lra_plot_legend(&p, 1, 5, 2, key);
    double first = 0, second = 0;
    const char *at = strstr(p.script.s, " lw "), *then = at ? strstr(at + 1, " lw ") : NULL;
    assert_true(then && sscanf(at, " lw %lf", &first) == 1 &&
                sscanf(then, " lw %lf", &second) == 1);
    assert_true(fabs(first - second) > 0.005 && fabs(first - second) < 0.1);
    lra_plot_free(&p);
}

/* Terminals of gnuplot multiply the length of dashes by 0.275 (PDF), 0.5 (SVG) and 0.25 (PNG) times
 * the width of the line. */
TEST(dashes_are_as_long_in_all_files)
{
    lra_err e;
    lra_plot p = {.width = 8.5, .height = 6, .title = lra_copy_text("dashes")};
    lra_plot_start(&p);
    assert_int_equal(lra_plot_write(&p, ".", "dashes", &e), 0);
    char *gp = take_file("dashes.gp");
    remove("dashes.dat");
    double pdf = 1, png = 1;
    const char *at = strstr(gp, "pdfcairo"), *found = at ? strstr(at, "dashlength ") : NULL;
    assert_true(found && sscanf(found, "dashlength %lf", &pdf) == 1);
    at = strstr(gp, "pngcairo"), found = at ? strstr(at, "dashlength ") : NULL;
    assert_true(found && sscanf(found, "dashlength %lf", &png) == 1);
    assert_true(fabs(0.275 * pdf - 0.5) < 0.01 && fabs(0.25 * png - 0.5) < 0.01);
    lra_free_large(gp);
    lra_plot_free(&p);
}
