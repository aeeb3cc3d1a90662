/* Figures of generated probe files: axes include all plotted data, missing numbers, lines that
 * remain visible where others cover them, legends. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "tests/fixtures/figures.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/small_results.h"

static lra_probe_result *probe(const char *kind)
{
    lra_result *r = small_result("quick", 5, 0, 30);
    lra_origin none = {0};
    r->max_length = 16;
    lra_probe_result *p = lra_probe_result_new(kind, r, &none);
    lra_result_free(r);
    return p;
}

static void add_array(lra_probe_unit *u, const char *name, int rows, int columns,
                      const double *value)
{
    const int64_t dims[] = {rows, columns};
    lra_probe_unit_array(u, name, columns ? 2 : 1, dims, value);
}

/* Returns the script, and the data, of a figure of n files; frees the files. */
static char *draw(const lra_report_figure *f, int n, lra_probe_result **list, char **data)
{
    const lra_report_input in = {.probes = list, .n_probes = n};
    char *script = drawn_figure(f, &in, data);
    for (int i = 0; i < n; i++) lra_probe_result_free(list[i]);
    return script;
}

/* ---- cut ------------------------------------------------------------------------------------- */

/* Draws gains at the distance limits 0, 2 and 16; the gain at 2 has an interval of 0.1 to each
 * side. */
static char *draw_cut(double gain, char **data)
{
    const double x[] = {0, 2, 16}, g[] = {0.5, 0.4, 0.6, gain, gain - 0.1, gain + 0.1, 1, 1, 1};
    lra_probe_result *p = probe("influence");
    lra_probe_unit *u = lra_probe_unit_new(p, "cut");
    add_array(u, "x", 3, 0, x);
    add_array(u, "gain", 3, 3, g);
    return draw(&lra_figure_cut, 1, &p, data);
}

TEST(gains_above_one_are_inside_the_axis)
{
    static const double gain[] = {0.8, 1.3, 9}, least[] = {1.07, 1.41, 1.55},
                        most[] = {1.2, 1.5, 1.7};
    for (int i = 0; i < 3; i++) {
        char *data, *script = draw_cut(gain[i], &data), *range = strstr(script, "set yrange [");
        double lo = 0, hi = 0;
        assert_true(range && sscanf(range, "set yrange [%lf:%lf]", &lo, &hi) == 2);
        assert_true(hi > least[i] && hi < most[i]);
        lra_free_large(script);
        lra_free_large(data);
    }
}

TEST(layers_are_a_ramp)
{
    const double x[] = {0, 16}, g[] = {0.5, 0.4, 0.6, 1, 1, 1};
    static const char *const name[] = {"cut", "cut.layer0", "cut.layer1", "cut.layer2"};
    lra_probe_result *p = probe("influence");
    for (int k = 0; k < 4; k++) {
        lra_probe_unit *u = lra_probe_unit_new(p, name[k]);
        add_array(u, "x", 2, 0, x);
        add_array(u, "gain", 2, 3, g);
    }
    char *data, *script = draw(&lra_figure_cut, 1, &p, &data);
    for (int k = 0; k < 3; k++) {
        char *curve = lra_format("index %d using 1:2 with linespoints lc rgb '%s' dt %s ", k + 1,
                                 lra_plot_ramp(k, 3), lra_plot_styles[k].dash);
        assert_non_null(strstr(script, curve));
        lra_free(curve);
    }
    lra_free_large(script);
    lra_free_large(data);
}

/* ---- erf ------------------------------------------------------------------------------------- */

TEST(fields_have_their_axes)
{
    const double erf[] = {0.01, 0.02, NAN, 0.1, 0.5, 0.1, 0.1, 0.02, 0.01}, at = 4;
    lra_probe_result *p = probe("influence");
    lra_probe_unit *u = lra_probe_unit_new(p, "field");
    lra_measurement r[] = {lra_measurement_of("erf.r50", 1), lra_measurement_of("erf.r99", 4)};
    add_array(u, "erf", 9, 0, erf);
    add_array(u, "at", 1, 0, &at);
    lra_probe_unit_measurements(u, 2, r);
    char *data, *script = draw(&lra_figure_erf, 1, &p, &data);
    assert_non_null(strstr(data, "\n-2 ?\n"));
    assert_non_null(strstr(data, "\n0 0.5\n"));
    assert_null(strstr(data, "nan"));
    assert_non_null(strstr(script, "'squared gradient (share of the sum)'"));
    assert_non_null(strstr(script, "set xtics 2\nset logscale y 10\n"));
    /* the range is the same in all panels */
    assert_non_null(strstr(script, "set yrange [5e-5:1.4]\n"));
    assert_non_null(strstr(script, "set arrow from 4, graph 0"));
    assert_null(strstr(script, "'causal'"));
    lra_free_large(script);
    lra_free_large(data);
}

/* For a causal model no radius of later tokens is drawn, and the axis includes only a small part of
 * that side. */
TEST(a_causal_field_has_one_side)
{
    const double erf[] = {0.01, 0.02, 0.2, 0.27, 0.5, 0, 0, 0, 0}, at = 4;
    lra_probe_result *p = probe("influence");
    lra_probe_unit *u = lra_probe_unit_new(p, "field");
    lra_measurement r[] = {lra_measurement_of("erf.r50", 1), lra_measurement_of("erf.r99", 4)};
    add_array(u, "erf", 9, 0, erf);
    add_array(u, "at", 1, 0, &at);
    lra_probe_unit_measurements(u, 2, r);
    char *data, *script = draw(&lra_figure_erf, 1, &p, &data);
    assert_non_null(strstr(script, "'causal'"));
    assert_non_null(strstr(script, "set arrow from -4, graph 0"));
    assert_null(strstr(script, "set arrow from 4, graph 0"));
    assert_non_null(strstr(script, "set xrange [-4:0.5]\n"));
    lra_free_large(script);
    lra_free_large(data);
}

/* ---- distance -------------------------------------------------------------------------------- */

/* If the distances of a head are those before training and those of equal weights, all three lines
 * remain visible. */
TEST(equal_lines_do_not_hide_each_other)
{
    const double mass[] = {0.5, 0.25, 0.25, 0};
    lra_probe_result *p = probe("attention");
    lra_probe_unit *u = lra_probe_unit_new(p, "layer0.head0");
    add_array(u, "other", 4, 0, mass);
    add_array(u, "other.init", 4, 0, mass);
    add_array(u, "other.equal", 4, 0, mass);
    char *data, *script = draw(&lra_figure_distance, 1, &p, &data);
    double width[3];
    const char *at = strstr(script, "plot 'distance.dat'");
    /* order of drawing: equal weights, trained, initial (dashed) */
    static const int column[] = {4, 2, 3};
    for (int i = 0; i < 3; i++) {
        char *curve = lra_format("index 0 using 1:%d with lines", column[i]);
        at = at ? strstr(at, curve) : NULL;
        lra_free(curve);
        const char *lw = at ? strstr(at, " lw ") : NULL;
        assert_true(lw && sscanf(lw, " lw %lf", &width[i]) == 1);
        assert_true(i < 2 ? strncmp(lw - 5, " dt 1", 5) == 0 : strncmp(lw - 1, ")", 1) == 0);
    }
    assert_true(width[0] > 2 * width[1]);
    lra_free_large(script);
    lra_free_large(data);
}

/* ---- las-1 ----------------------------------------------------------------------------------- */

static void add_layer(lra_probe_result *p, const char *name, int channels)
{
    const double kernel[64] = {1, 0.5, 0.25}, zero = 0;
    lra_probe_unit *u = lra_probe_unit_new(p, name);
    add_array(u, "kernel", channels, 4, kernel);
    add_array(u, "kernel0", channels, 4, kernel);
    add_array(u, "behind", 1, 0, &zero);
}

TEST(channels_are_named_where_layers_are_alike)
{
    for (int alike = 0; alike < 2; alike++) {
        lra_probe_result *p = probe("kernels");
        add_layer(p, "layer0.conv", 16);
        add_layer(p, "layer1.conv", alike ? 16 : 7);
        char *data, *script = draw(&lra_figure_las_1, 1, &p, &data);
        assert_int_equal(strstr(script, "'channel 0'") != NULL, alike);
        assert_int_equal(strstr(script, "'channel 15'") != NULL, alike);
        lra_free_large(script);
        lra_free_large(data);
    }
}

TEST(ten_layers_fit)
{
    lra_probe_result *p = probe("kernels");
    for (int i = 0; i < 12; i++) {
        char *name = lra_format("layer%d.conv", i);
        add_layer(p, name, 8);
        lra_free(name);
    }
    char *data, *script = draw(&lra_figure_las_1, 1, &p, &data);
    assert_non_null(strstr(script, "index 19 ")); /* trained kernels of the tenth layer */
    assert_null(strstr(script, "index 20 "));
    lra_free_large(script);
    lra_free_large(data);
}

/* ---- spt-kern ---- */

/* Panels of several seeds are named by the seed. */
TEST(pairs_of_seeds_have_names)
{
    const double envelope[12] = {1, 0.5, 0.2, 0.1, 1, 0.6, 0.3, 0.2, 1, 0.7, 0.4, 0.3};
    lra_probe_result *p[4];
    for (int i = 0; i < 4; i++) {
        lra_result *r = small_result("quick", 5, i / 2, 30);
        lra_origin none = {0};
        char *config = lra_format("%s%s", r->config, i % 2 ? "train.from=0123\n" : "");
        lra_free(r->config);
        r->config = config;
        p[i] = lra_probe_result_new("kernels", r, &none);
        lra_result_free(r);
        lra_probe_unit *u = lra_probe_unit_new(p[i], "layer0.conv");
        add_array(u, "envelope", 3, 4, envelope);
        add_array(u, "envelope0", 3, 4, envelope);
    }
    char *data, *script = draw(&lra_figure_spt_kern, 4, p, &data);
    assert_non_null(strstr(script, "'seed 0, layer0.conv'"));
    assert_non_null(strstr(script, "'seed 1, layer0.conv'"));
    lra_free_large(script);
    lra_free_large(data);
}

/* ---- heads ----------------------------------------------------------------------------------- */

enum { HEADS = 70 };

/* Makes HEADS heads of a layer; the scores of head h decay by h / 100 per token, its map has 1 for
 * the first query and h for the second. */
static lra_probe_result *many_heads(void)
{
    lra_probe_result *p = probe("attention");
    for (int h = 0; h < HEADS; h++) {
        const double x = exp(-0.01 * h), eld[] = {1, x, x * x}, map[] = {1, 0, 0, h};
        char *name = lra_format("layer0.head%d", h);
        lra_probe_unit *u = lra_probe_unit_new(p, name);
        add_array(u, "eld", 3, 0, eld);
        add_array(u, "map", 2, 2, map);
        lra_free(name);
    }
    return p;
}

TEST(the_last_of_many_heads_decays)
{
    lra_probe_result *p = many_heads();
    char *data, *script = draw(&lra_figure_las_2, 1, &p, &data);
    assert_non_null(strstr(script, "'head 0'"));
    assert_non_null(strstr(script, "'head 69'"));
    assert_non_null(strstr(script, "'H69: 0.69'"));
    assert_non_null(strstr(data, ", head 69: one line per query\n"));
    assert_non_null(strstr(data, "1 1 0.869358 0.755784 0.66365 0.57695 0.501576\n"));
    /* curves of different slope do not overlap on a logarithmic axis */
    assert_non_null(strstr(script, "set logscale y 10\n"));
    lra_free_large(script);
    lra_free_large(data);
}

/* The interpretations of alpha (`literal`, `scale`, `geo`) with eight heads and 64 tokens. The
 * axes include the curves: with `literal`, factors fall below 1e-12 within 4 tokens; with `scale`
 * they are above 0.9 at all distances; those of `geo` are between. */
TEST(readings_of_alpha)
{
    static const char *const range[] = {"set xrange [0:4]\n", "set xrange [0:63]\n",
                                        "set xrange [0:63]\n"},
                             *const ticks[] = {"'1e-12' 1e-12)", "'0.9' 0.9", "'1e-12' 1e-12)"},
                             *const title[] = {"'H7: 6.91'", "'H7: 0.001'", "'H7: 0.00781'"};
    for (int reading = 0; reading < 3; reading++) {
        lra_probe_result *p = probe("attention");
        for (int h = 0; h < 8; h++) {
            double share = h / 7., eld[64];
            double alpha = h == 0         ? 0
                           : reading == 0 ? -log(0.001 * share)
                           : reading == 1 ? -log(1 - (1 - exp(-0.001)) * share)
                                          : pow(2, -h);
            for (int d = 0; d < 64; d++) eld[d] = exp(-alpha * d);
            char *name = lra_format("layer0.head%d", h);
            add_array(lra_probe_unit_new(p, name), "eld", 64, 0, eld);
            lra_free(name);
        }
        char *data, *script = draw(&lra_figure_las_2, 1, &p, &data);
        assert_non_null(strstr(script, range[reading]));
        assert_non_null(strstr(script, ticks[reading]));
        assert_non_null(strstr(script, title[reading]));
        assert_non_null(strstr(script, " alpha=literal'"));
        lra_free_large(script);
        lra_free_large(data);
    }
}

TEST(all_of_many_heads_are_in_the_mean)
{
    lra_probe_result *p = many_heads();
    char *data, *script = draw(&lra_figure_las_4, 1, &p, &data);
    /* 34.5 is the mean of 0, 1, .., 69, the weights of the heads */
    assert_non_null(strstr(data, "weights from 0 to 34.5\n"));
    lra_free_large(script);
    lra_free_large(data);
}

/* If not all heads fit, the message says how many and names the figure. */
TEST(heads_that_do_not_fit_are_told)
{
    static const lra_report_figure *const figure[] = {&lra_figure_maps, &lra_figure_distance};
    for (int i = 0; i < 2; i++) {
        lra_probe_result *p = many_heads();
        const lra_report_input in = {.probes = &p, .n_probes = 1};
        const double mass[] = {1, 0, 0};
        for (int h = 0; h < HEADS; h++) add_array(p->unit[h], "other", 3, 0, mass);
        lra_plot plot = {0};
        lra_err e = {{0}};
        assert_int_not_equal(figure[i]->make(&in, &plot, &e), 0);
        assert_non_null(strstr(e.msg, "'layer0' of 'resconv' has more heads than one figure "
                                      "holds (16)"));
        lra_plot_free(&plot);
        lra_probe_result_free(p);
    }
}

/* ---- decay ----------------------------------------------------------------------------------- */

static lra_probe_result *decaying(int64_t seed)
{
    const double kernel[] = {1, 0.5, 0.25, 0}, zero = 0;
    const double envelope[] = {1, 0.1, 0, 0, 1, 0.3, 0.02, 0, 1, 0.6, 0.1, NAN};
    lra_probe_result *p = probe("kernels");
    lra_probe_unit *u = lra_probe_unit_new(p, "layer0.conv");
    p->seed = seed;
    add_array(u, "kernel", 1, 4, kernel);
    add_array(u, "kernel0", 1, 4, kernel);
    add_array(u, "behind", 1, 0, &zero);
    add_array(u, "envelope", 3, 4, envelope);
    add_array(u, "envelope0", 3, 4, envelope);
    return p;
}

/* A kernel that ends in zeros leaves the range of the logarithmic axis instead of ending above
 * it. */
TEST(zeros_fall_out_of_the_axis)
{
    lra_probe_result *p = decaying(0);
    char *data, *script = draw(&lra_figure_decay, 1, &p, &data);
    assert_non_null(strstr(script, "set logscale y\nset yrange [0.01:1.3]\n"));
    assert_non_null(strstr(data, "\n1 0.1 0.3 0.6\n2 0.002 0.02 0.1\n3 0.002 0.002 ?\n"));
    lra_free_large(script);
    lra_free_large(data);
}

/* Of several seeds the smallest is drawn, in whatever order the files are given, and the title
 * names it. */
TEST(the_seed_that_is_drawn_is_named)
{
    lra_probe_result *list[] = {decaying(2), decaying(0), decaying(1)};
    char *data, *script = draw(&lra_figure_decay, 3, list, &data);
    assert_non_null(strstr(script, ", seed 0 of 3"));
    lra_free_large(script);
    lra_free_large(data);
}
