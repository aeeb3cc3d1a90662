/* Pathfinder: paddles bit by bit, geometry and statistics of generated images, labels that no
 * simple statistic reveals. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "datasets/pathfinder/image.h"
#include "datasets/pathfinder/levels.h"
#include "datasets/pathfinder/stats.h"
#include "datasets/pathfinder/trace.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "tests/fixtures/real_data.h"
#include "tests/fixtures/sanitized.h"

static const double pi = 3.14159265358979323846;

/* ---- paddles --------------------------------------------------------------------------------- */

/* Compares with a line of the reference: orientation in degrees, whether it may start a path,
 * kernel, line and mask. */
static void compare_row(const lra_paddles *p, char *at)
{
    int d = (int)strtol(at, &at, 10) + 180, side = p->side, n = 0;
    assert_in_range(d, 0, LRA_PATHFINDER_DEGREES - 1);
    assert_int_equal(strtol(at, &at, 10), p->can_seed[d]);
    for (at++; *at != '\t'; n++) {
        assert_true(n < p->n_kernel[d]);
        assert_int_equal(strtol(at, &at, 10), p->kernel[d][n][0]);
        assert_int_equal(strtol(at + 1, &at, 10), p->kernel[d][n][1]);
        if (*at == ' ') at++;
    }
    assert_int_equal(n, p->n_kernel[d]);
    const uint8_t *image[] = {p->line + p->degree_end[d] * side * side,
                              p->mask + p->degree_end[d] * side * side};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < side * side; i++) assert_int_equal(strtol(at, &at, 10), image[k][i]);
}

static void compare_table(int window, int margin)
{
    char *name = lra_format("pathfinder/reference/paddles_%d_margin%d.tsv.gz", window, margin);
    char *path = real_file(name);
    lra_free(name);
    if (!path) skip();
    char *command = lra_format("gzip -dc '%s'", path), *line = lra_alloc(1 << 16);
    FILE *table = popen(command, "r");
    assert_non_null(table);
    lra_paddles *p = lra_paddles_new(lra_pathfinder_size_find(window), margin);
    int n = 0;
    assert_non_null(fgets(line, 1 << 16, table)); /* this line contains the names of the columns */
    for (; fgets(line, 1 << 16, table); n++) compare_row(p, line);
    assert_int_equal(pclose(table), 0);
    assert_int_equal(n, LRA_PATHFINDER_DEGREES);
    lra_paddles_free(p);
    lra_free(line);
    lra_free(command);
    lra_free(path);
}

TEST(paddles_are_those_of_the_reference)
{
    compare_table(32, 1);
    compare_table(64, 1);
    compare_table(128, 2);
    compare_table(128, 3);
    compare_table(256, 3);
}

/* The number of orientations in which a path may start, compared with known numbers. */
TEST(border_rule)
{
    static const int expected[][3] = {
        {32, 1, 30}, {64, 1, 95}, {128, 2, 354}, {128, 3, 360}, {256, 3, 360}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const lra_pathfinder_size *size = lra_pathfinder_size_find(expected[i][0]);
        lra_paddles *p = lra_paddles_new(size, expected[i][1]);
        int n = 0;
        for (int d = 0; d < LRA_PATHFINDER_DEGREES; d++) n += p->can_seed[d];
        assert_int_equal(n, expected[i][2]);
        lra_paddles_free(p);
    }
    assert_null(lra_pathfinder_size_find(33));
}

/* ---- images ---------------------------------------------------------------------------------- */

static double between(const int a[2], const int b[2])
{
    return hypot(a[0] - b[0], a[1] - b[1]);
}

TEST(geometry)
{
    static const int windows[] = {32, 64, 128, 256}, images[] = {400, 60, 12, 2};
    for (int k = 0; k < 4; k++) {
        const lra_pathfinder_size *size = lra_pathfinder_size_find(windows[k]);
        lra_pathfinder *g = lra_pathfinder_new(size, LRA_PATHFINDER_HARD, -1, false);
        lra_pathfinder_sheet *s = lra_pathfinder_sheet_new(g);
        uint8_t *pixel = lra_alloc((size_t)(windows[k] * windows[k]));
        /* Pivots and candidates are rounded to whole pixels, which changes the angle. */
        double most = fmin(pi / 2, pi / 2 / size->continuity) + 1.0 / size->length;
        for (int i = 0; i < images[k]; i++) {
            lra_pathfinder_facts f;
            lra_pathfinder_image(g, s, 3, (uint64_t)i, pixel, &f);
            assert_true(fabs(between(f.origin[0], f.origin[1]) - size->seed_distance) <= 1);
            for (int axis = 0; axis < 2; axis++) {
                assert_true(f.origin[0][axis] >= 2 * size->seed_distance - size->length - 3);
                assert_true(f.origin[0][axis] <
                            size->window - 2 * size->seed_distance + size->length + 3);
            }
            assert_true(f.turn <= most);
            assert_memory_equal(f.marker[0], f.origin[f.path], sizeof f.marker[0]);
            assert_memory_equal(f.marker[1], f.terminal[f.label ? f.path : 1 - f.path],
                                sizeof f.marker[1]);
            assert_int_equal(pixel[0], 0);
        }
        lra_free(pixel);
        lra_pathfinder_sheet_free(s);
        lra_pathfinder_free(g);
    }
}

/* Statistics of the reference generator: mean of n images, and its standard error (0: of a count
 * whose error is not given). */
typedef struct {
    int paddles, distractors, n, reference_n;
    double attempts, placed, grey, grey_deviation, ink, bright, components;
} known;

static const known table[] = {
    {LRA_PATHFINDER_EASY, -1, 2500, 2500, 22.2, 3.27, 12.96, 1.78, .2281, .0519, 10.9},
    {LRA_PATHFINDER_INTERMEDIATE, -1, 2500, 1000, 66.5, 1.76, 15.40, 1.96, .2661, .0634, 14.1},
    {LRA_PATHFINDER_HARD, -1, 2500, 900, 327, 1.15, 20.10, 1.94, .3411, .0846, 21.4},
    {LRA_PATHFINDER_HARD, 10, 1000, 150, 318, 2.20, 22.31, 2.78, .3756, .0925, 23.2}};

/* Both means have errors; both are computed from the deviation of the generated images, because the
 * reference does not give all deviations. */
static void close_to(const char *what, const known *k, double mean, double deviation,
                     double reference, double rounding)
{
    double error = deviation * sqrt(1.0 / k->n + 1.0 / k->reference_n);
    if (fabs(mean - reference) > 3 * error + rounding)
        fail_msg("%d paddles, %s: %g (error %g), reference %g", k->paddles, what, mean, error,
                 reference);
}

TEST(statistics_of_the_reference)
{
    const lra_pathfinder_size *size = lra_pathfinder_size_find(32);
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        known few = table[t], *k = &few;
        if (sanitized) few.n /= 10;
        lra_pathfinder *g = lra_pathfinder_new(size, k->paddles, k->distractors, false);
        lra_pathfinder_sheet *s = lra_pathfinder_sheet_new(g);
        lra_pathfinder_meter *meter = lra_pathfinder_meter_new(size);
        lra_pathfinder_stats all = {0};
        double attempts = 0, placed = 0, placed_squares = 0;
        for (int i = 0; i < k->n; i++) {
            uint8_t pixel[32 * 32];
            lra_pathfinder_facts f;
            double value[LRA_PATHFINDER_N_MEASURES];
            lra_pathfinder_image(g, s, 5, (uint64_t)i, pixel, &f);
            lra_pathfinder_measure(meter, pixel, value);
            lra_pathfinder_stats_add(&all, sizeof pixel, pixel, value);
            attempts += (double)f.attempts / k->n;
            placed += (double)f.distractors / k->n;
            placed_squares += (double)f.distractors * f.distractors / k->n;
        }
        /* The number of attempts has a geometric distribution: its standard deviation is about its
         * mean. */
        close_to("attempts", k, attempts, attempts, k->attempts, 0.05);
        close_to("placed", k, placed, sqrt(placed_squares - placed * placed), k->placed, 0.005);
        const double expected[] = {k->grey, k->ink, k->bright, k->components};
        const double rounding[] = {0.005, 5e-5, 5e-5, 0.05};
        for (int m = 0; m < 4; m++)
            close_to(lra_pathfinder_measures[m], k, lra_pathfinder_mean(&all, m),
                     lra_pathfinder_deviation(&all, m), expected[m], rounding[m]);
        assert_true(fabs(lra_pathfinder_deviation(&all, 0) - k->grey_deviation) < 0.4);
        lra_pathfinder_meter_free(meter);
        lra_pathfinder_sheet_free(s);
        lra_pathfinder_free(g);
    }
}

/* Without the border rule images are denser (mean grey level 27.7, 4.65 distractors), so that data
 * of such generators are another data set. */
TEST(uniform_seeding_is_denser)
{
    enum { N = 300 };
    lra_pathfinder *g = lra_pathfinder_new(lra_pathfinder_size_find(32), LRA_PATHFINDER_HARD, -1,
                                           true);
    lra_pathfinder_sheet *s = lra_pathfinder_sheet_new(g);
    double grey = 0, placed = 0;
    for (int i = 0; i < N; i++) {
        uint8_t pixel[32 * 32];
        lra_pathfinder_facts f;
        lra_pathfinder_image(g, s, 5, (uint64_t)i, pixel, &f);
        grey += f.mean_ink / N, placed += (double)f.distractors / N;
    }
    assert_true(fabs(grey - 27.7) < 0.7);
    assert_true(fabs(placed - 4.65) < 0.2);
    lra_pathfinder_sheet_free(s);
    lra_pathfinder_free(g);
}

/* ---- labels ---------------------------------------------------------------------------------- */

enum { N_LABELLED = 6000 };

/* Returns the difference of the means of the two labels over its standard error, which is standard
 * normal if x and the label are independent. */
static double contrast(const double *x, const int32_t *label, int n)
{
    double sum[2] = {0}, squares[2] = {0}, count[2] = {0};
    for (int i = 0; i < n; i++)
        sum[label[i]] += x[i], squares[label[i]] += x[i] * x[i], count[label[i]]++;
    double mean[2], error = 0;
    for (int k = 0; k < 2; k++) {
        mean[k] = sum[k] / count[k];
        error += (squares[k] / count[k] - mean[k] * mean[k]) / count[k];
    }
    return error > 0 ? (mean[1] - mean[0]) / sqrt(error) : 0;
}

TEST(nothing_simple_tells_the_label)
{
    lra_pathfinder *g = lra_pathfinder_new(lra_pathfinder_size_find(32), LRA_PATHFINDER_EASY, -1,
                                           false);
    lra_pathfinder_sheet *s = lra_pathfinder_sheet_new(g);
    int32_t *label = lra_alloc_array(N_LABELLED, sizeof *label);
    double *x[3], positive = 0;
    uint8_t *pixel = lra_alloc((size_t)N_LABELLED * 1024);
    for (int k = 0; k < 3; k++) x[k] = lra_alloc_array(N_LABELLED, sizeof *x[k]);
    for (int i = 0; i < N_LABELLED; i++) {
        lra_pathfinder_facts f;
        label[i] = lra_pathfinder_image(g, s, 8, (uint64_t)i, pixel + i * 1024, &f);
        x[0][i] = f.path, x[1][i] = f.mean_ink, x[2][i] = f.distractors;
        positive += label[i];
    }
    assert_true(fabs(positive / N_LABELLED - 0.5) < 4 * 0.5 / sqrt(N_LABELLED));
    for (int k = 0; k < 3; k++) assert_true(fabs(contrast(x[k], label, N_LABELLED)) < 4);
    int above = 0;
    for (int at = 0; at < 1024; at++) {
        for (int i = 0; i < N_LABELLED; i++) x[0][i] = pixel[i * 1024 + at];
        double z = fabs(contrast(x[0], label, N_LABELLED));
        /* The maximum of 1024 independent values is above 4.9 with probability 0.001. */
        assert_true(z < 4.9);
        above += z > 1.96;
    }
    assert_in_range(above, 15, 110); /* 51 are expected; neighbouring pixels depend on each other */
    for (int k = 0; k < 3; k++) lra_free(x[k]);
    lra_free(pixel);
    lra_free(label);
    lra_pathfinder_sheet_free(s);
    lra_pathfinder_free(g);
}

/* The distance of the markers contains a little information on the labels of easy images: 58.7 %
 * (standard error 1.4 for 1250 images). */
TEST(markers_are_found_and_tell_a_little)
{
    const lra_pathfinder_size *size = lra_pathfinder_size_find(32);
    lra_pathfinder *g = lra_pathfinder_new(size, LRA_PATHFINDER_EASY, -1, false);
    lra_pathfinder_sheet *s = lra_pathfinder_sheet_new(g);
    lra_marker_finder *finder = lra_marker_finder_new(size);
    lra_distance_rule rule = {0};
    int missed = 0, right = 0;
    for (int i = 0; i < N_LABELLED; i++) {
        uint8_t pixel[32 * 32];
        lra_pathfinder_facts f;
        int at[2][2];
        int32_t label = lra_pathfinder_image(g, s, 9, (uint64_t)i, pixel, &f);
        lra_marker_find(finder, pixel, at);
        bool same = memcmp(at, f.marker, sizeof at) == 0;
        bool swapped = memcmp(at[0], f.marker[1], sizeof at[0]) == 0 &&
                       memcmp(at[1], f.marker[0], sizeof at[0]) == 0;
        missed += !same && !swapped;
        if (i == N_LABELLED / 2) lra_distance_rule_fit(&rule);
        if (i < N_LABELLED / 2)
            lra_distance_rule_add(&rule, lra_marker_distance(at), label);
        else
            right += lra_distance_rule_label(&rule, lra_marker_distance(at)) == label;
    }
    assert_in_range(missed, 0, 2);
    assert_true(fabs(right / (N_LABELLED / 2.0) - 0.587) < 0.03);
    lra_marker_finder_free(finder);
    lra_pathfinder_sheet_free(s);
    lra_pathfinder_free(g);
}

TEST(labels_are_found_by_tracing)
{
    static const struct {
        int window, paddles, n;
        double least;
    } cases[] = {{32, LRA_PATHFINDER_EASY, 300, 0.95},
                 {32, LRA_PATHFINDER_HARD, 300, 0.91},
                 {64, LRA_PATHFINDER_HARD, 40, 0.94},
                 {128, LRA_PATHFINDER_HARD, 8, 0.99}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const lra_pathfinder_size *size = lra_pathfinder_size_find(cases[k].window);
        lra_pathfinder *g = lra_pathfinder_new(size, cases[k].paddles, -1, false);
        lra_pathfinder_sheet *s = lra_pathfinder_sheet_new(g);
        lra_pathfinder_tracer *t = lra_pathfinder_tracer_new(size, cases[k].paddles);
        uint8_t *pixel = lra_alloc((size_t)(size->window * size->window));
        int right = 0;
        for (int i = 0; i < cases[k].n; i++) {
            int32_t label = lra_pathfinder_image(g, s, 4, (uint64_t)i, pixel, NULL);
            right += lra_pathfinder_trace(t, pixel) == label;
        }
        assert_true(right >= cases[k].least * cases[k].n);
        memset(pixel, 0, (size_t)(size->window * size->window));
        assert_int_equal(lra_pathfinder_trace(t, pixel), -1);
        lra_free(pixel);
        lra_pathfinder_tracer_free(t);
        lra_pathfinder_sheet_free(s);
        lra_pathfinder_free(g);
    }
}

/* Hashes of the pixels, to compare details that the statistics do not test: contrasts, continuity,
 * margins and markers of every size. */
TEST(images_are_those_of_any_machine)
{
    static const struct {
        int window;
        uint64_t hash; /* hash of two hard images and their labels */
    } cases[] = {{32, 0xd841aecb7ecb8033u},
                 {64, 0x4adf69ca3be1fda8u},
                 {128, 0x756620af15276243u},
                 {256, 0xeac5b189e2904bc2u}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const lra_pathfinder_size *size = lra_pathfinder_size_find(cases[k].window);
        lra_pathfinder *g = lra_pathfinder_new(size, LRA_PATHFINDER_HARD, -1, false);
        lra_pathfinder_sheet *s = lra_pathfinder_sheet_new(g);
        size_t pixels = (size_t)(size->window * size->window);
        uint8_t *pixel = lra_alloc(2 * pixels + 2);
        for (size_t i = 0; i < 2; i++)
            pixel[2 * pixels + i] = (uint8_t)lra_pathfinder_image(g, s, 11, i, pixel + i * pixels,
                                                                  NULL);
        uint64_t hash = lra_hash64(pixel, 2 * pixels + 2);
        if (hash != cases[k].hash)
            fail_msg("%d pixels: %016llx, expected %016llx", cases[k].window,
                     (unsigned long long)hash, (unsigned long long)cases[k].hash);
        lra_free(pixel);
        lra_pathfinder_sheet_free(s);
        lra_pathfinder_free(g);
    }
}

/* ---- workers --------------------------------------------------------------------------------- */

TEST(an_image_depends_on_seed_and_number_alone)
{
    lra_pathfinder *g = lra_pathfinder_new(lra_pathfinder_size_find(32), LRA_PATHFINDER_HARD, -1,
                                           false);
    lra_pathfinder_sheet *one = lra_pathfinder_sheet_new(g), *other = lra_pathfinder_sheet_new(g);
    uint8_t first[1024], again[1024], next[1024];
    lra_pathfinder_image(g, one, 1, 7, first, NULL);
    for (uint64_t i = 0; i < 9; i++) lra_pathfinder_image(g, other, 1, i, next, NULL);
    assert_memory_not_equal(first, next, sizeof first);
    lra_pathfinder_image(g, other, 1, 7, again, NULL);
    assert_memory_equal(first, again, sizeof first);
    lra_pathfinder_image(g, other, 2, 7, again, NULL);
    assert_memory_not_equal(first, again, sizeof first);
    lra_pathfinder_sheet_free(one);
    lra_pathfinder_sheet_free(other);
    lra_pathfinder_free(g);
}
