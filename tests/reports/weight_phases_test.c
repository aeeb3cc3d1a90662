/* Phases of self-pretraining in generated attention files: which runs are compared, means over
 * heads, paired differences; table and figure spt-prox. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "reports/views/weight_phases.h"
#include "tests/fixtures/figures.h"
#include "tests/fixtures/small_results.h"

enum { SEEDS = 3, FILES = 4 * SEEDS };

/* Adds a head whose distance is `value`, and `initial` before this phase. */
static void add_head(lra_probe_result *p, const char *name, double value, double initial)
{
    static const char *const id[] = {"dist.mean.rel", "share.relative", "share.absolute",
                                     "share.content"};
    lra_probe_unit *u = lra_probe_unit_new(p, name);
    for (int i = 0; i < 4; i++) {
        lra_measurement f = lra_measurement_of(id[i], value / (i + 1));
        f.null[LRA_NULL_INIT] = initial / (i + 1);
        lra_probe_unit_measurements(u, 1, &f);
    }
}

/* An attention file. extra: further lines of its configuration. */
static lra_probe_result *file(int seed, const char *run, const char *extra, double value,
                              double initial)
{
    lra_result *r = small_result("quick", 5, seed, 30);
    lra_origin none = {0};
    char *config = lra_format("model.width=8\nseed=%d\ntask=listops\n%s", seed, extra);
    lra_free(r->config);
    lra_free(r->run);
    r->config = config, r->run = lra_copy_text(run);
    lra_probe_result *p = lra_probe_result_new("attention", r, &none);
    lra_result_free(r);
    /* the mean over heads is `value` for the model, value - 0.05 in the first layer */
    add_head(p, "layer0.head0", value - 0.2, initial - 0.2);
    add_head(p, "layer0.head1", value + 0.1, initial + 0.1);
    add_head(p, "layer1.head0", value + 0.1, initial + 0.1);
    lra_probe_unit_new(p, "model");
    return p;
}

/* Makes attention files with mean distances of 1 + 0.01 seed with random weights, 0.9 from scratch,
 * 0.7 + 0.01 seed pretrained, and 0.6 fine-tuned. */
static void make_files(lra_probe_result *list[FILES])
{
    for (int s = 0; s < SEEDS; s++) {
        char *run = lra_format("%016d", s),
             *from = lra_format("train.from=%s\ntrain.related=x\n", run);
        char *other = lra_format("f%015d", s);
        list[4 * s] = file(s, run, "train.objective=pretrain-masked\n", 0.7, 1);
        list[4 * s + 1] = file(s, "a", "", 0.9, 1 + 0.01 * s);
        list[4 * s + 2] = file(s, "b", from, 0.6, 0.7 + 0.01 * s);
        /* trained with the steps of another run */
        char *matched = lra_format("train.matched=%s\ntrain.related=y\n", other);
        list[4 * s + 3] = file(s, "c", matched, 5, 5);
        lra_free(run);
        lra_free(from);
        lra_free(other);
        lra_free(matched);
    }
}

static void free_files(lra_probe_result *list[FILES])
{
    for (int i = 0; i < FILES; i++) lra_probe_result_free(list[i]);
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-9)) fail_msg("%.9g, expected %.9g", value, expected);
}

TEST(phases_are_means_over_heads_and_seeds)
{
    lra_probe_result *list[FILES];
    lra_probe_cell *cells;
    lra_phase_pair *pairs;
    make_files(list);
    /* without the controls (--matched) */
    lra_probe_result *used[3 * SEEDS];
    for (int i = 0; i < 3 * SEEDS; i++) used[i] = list[4 * (i / 3) + i % 3];
    int n_cells = lra_probe_cells(3 * SEEDS, used, &cells);
    assert_int_equal(n_cells, 3);
    assert_int_equal(lra_phase_pairs(n_cells, cells, &pairs), 1);
    assert_string_equal(pairs[0].objective, "pretrain-masked");
    assert_int_equal(lra_phase_layers(&pairs[0]), 2);
    static const double expected[LRA_PHASES] = {1.01, 0.71, 0.6, 0.9};
    for (int k = 0; k < LRA_PHASES; k++) {
        lra_measurement f = lra_phase_value(&pairs[0], (lra_phase)k, "dist.mean.rel", -1);
        near(f.value, expected[k]);
        near(lra_phase_value(&pairs[0], (lra_phase)k, "dist.mean.rel", 0).value,
             expected[k] - 0.05);
        near(lra_phase_value(&pairs[0], (lra_phase)k, "share.content", 1).value,
             (expected[k] + 0.1) / 4);
        assert_int_equal(f.seeds, SEEDS);
        assert_true(k == LRA_PHASE_TUNED || k == LRA_PHASE_SCRATCH || f.hi - f.lo > 0.01);
    }
    assert_true(isnan(lra_phase_value(&pairs[0], LRA_PHASE_RANDOM, "self", -1).value));
    /* both vary by the same amount between seeds, so that their paired difference is constant */
    lra_measurement change = lra_phase_change(&pairs[0], LRA_PHASE_PRETRAINED, LRA_PHASE_RANDOM,
                                              "dist.mean.rel");
    near(change.value, -0.3);
    near(change.hi - change.lo, 0);
    assert_non_null(strstr(lra_phase_initial(n_cells, cells), "before fine-tuning"));
    assert_string_equal(lra_phase_initial(0, cells), "at initialisation");
    lra_free(pairs);
    lra_probe_cells_free(cells, n_cells);
    free_files(list);
}

/* A control (--matched) is trained for as many steps as a pretraining run and its fine-tuning
 * together; a control for another pretraining run is not compared. */
TEST(the_control_is_preferred)
{
    lra_probe_result *list[3];
    lra_probe_cell *cells;
    lra_phase_pair *pairs;
    for (int own = 0; own < 2; own++) {
        list[0] = file(0, "a", "train.epochs=2\n", 0.9, 1);
        list[1] = file(0, "b", "train.from=0123\ntrain.related=x\n", 0.6, 0.7);
        list[2] = file(0, "c",
                       own ? "train.matched=0123\ntrain.related=y\n"
                           : "train.matched=4567\ntrain.related=y\n",
                       0.8, 1);
        int n = lra_probe_cells(3, list, &cells);
        assert_int_equal(lra_phase_pairs(n, cells, &pairs), 1);
        assert_string_equal(pairs[0].objective, "");
        assert_int_equal(pairs[0].control, own);
        const lra_report_input in = {.probes = list, .n_probes = 3};
        lra_plot p = {0};
        lra_err e = {{0}};
        OK(lra_figure_spt_prox.make(&in, &p, &e));
        assert_int_equal(p.caption != NULL, own);
        lra_plot_free(&p);
        assert_string_equal(lra_phase_parts(&pairs[0]), "attention heads");
        char *model = lra_phase_model(&pairs[0]);
        assert_string_equal(model, "resconv K = 5");
        lra_free(model);
        near(lra_phase_value(&pairs[0], LRA_PHASE_SCRATCH, "dist.mean.rel", -1).value,
             own ? 0.8 : 0.9);
        lra_free(pairs);
        lra_probe_cells_free(cells, n);
        for (int i = 0; i < 3; i++) lra_probe_result_free(list[i]);
    }
}

static char *printed(const lra_report_table *t, const lra_report_input *in)
{
    char *text = NULL;
    size_t size;
    lra_err e = {{0}};
    FILE *f = open_memstream(&text, &size);
    OK(lra_report_print(t, f, in, "markdown", &e));
    fclose(f);
    return text;
}

TEST(the_table_answers_the_question)
{
    lra_probe_result *list[FILES];
    make_files(list);
    const lra_report_input in = {.probes = list, .n_probes = FILES};
    char *text = printed(&lra_table_spt_prox, &in);
    assert_non_null(strstr(text, "dist/uniform -0.300, nearer"));
    assert_non_null(strstr(text, "pretrain-masked"));
    free(text);
    char *data, *script = drawn_figure(&lra_figure_spt_prox, &in, &data);
    assert_non_null(strstr(script, "'from scratch'"));
    if (!strstr(data, "\n2.5 0.71")) fail_msg("%s", data);
    assert_null(strstr(data, "nan"));
    lra_free_large(script);
    lra_free_large(data);
    free_files(list);
}

/* A figure that draws values at initialisation says what they are for fine-tuned runs. */
TEST(captions_of_fine_tuned_runs)
{
    lra_probe_result *list[2] = {file(0, "aaaa", "", 0.9, 1),
                                 file(0, "bbbb", "train.from=0123\n", 0.6, 0.7)};
    for (int i = 0; i < 4; i++) {
        lra_plot p = {0};
        lra_plot_source(&p, "run", i % 2 ? "bbbb" : "aaaa");
        if (i == 3) p.caption = lra_copy_text("given");
        lra_text_add(&p.script, i == 0 ? "plot 1" : "set label 'at initialisation'");
        if (i == 1) p.script.n = 0, p.script.s[0] = 0;
        lra_phase_caption(&p, 2, list);
        if (i < 3)
            assert_null(p.caption);
        else
            assert_non_null(strstr(p.caption, "given; of fine-tuned runs, 'at initialisation' is"));
        lra_plot_free(&p);
    }
    assert_string_equal(lra_phase_initial_of(1, list), "at initialisation");
    assert_string_equal(lra_phase_initial_of(1, list + 1),
                        "before fine-tuning, with the pretrained weights");
    for (int i = 0; i < 2; i++) lra_probe_result_free(list[i]);
}

TEST(masked_inputs_are_noted)
{
    for (int masked = 0; masked < 2; masked++) {
        lra_probe_result *list[1] = {
            file(0, "a", masked ? "train.objective=pretrain-masked\n" : "", 0.9, 1)};
        const lra_report_input in = {.probes = list, .n_probes = 1};
        char *text = printed(&lra_table_attention, &in);
        assert_int_equal(strstr(text, "masked, as in pretraining") != NULL, masked);
        free(text);
        lra_probe_result_free(list[0]);
    }
}

TEST(without_a_pair_there_is_no_table)
{
    lra_probe_result *list[1] = {file(0, "a", "", 0.9, 1)};
    const lra_report_input in = {.probes = list, .n_probes = 1};
    lra_err e = {{0}};
    lra_table **tables;
    lra_plot plot = {0};
    assert_true(lra_table_spt_prox.make(&in, &tables, &e) < 0);
    assert_non_null(strstr(e.msg, "train --from"));
    assert_true(lra_figure_spt_prox.make(&in, &plot, &e) < 0);
    lra_plot_free(&plot);
    lra_probe_result_free(list[0]);
}
