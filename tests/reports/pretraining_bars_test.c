/* Figures spt-1, spt-2 and loc-T4 of generated results: series by phase, panels by setting,
 * controls, averages, published values, results left out. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "tests/fixtures/figures.h"
#include "tests/fixtures/small_results.h"

enum { MOST = 32 };
static lra_result *list[MOST];
static int n;

/* Adds a result with `right` of 50 correct predictions. config: lines of the configuration. */
static lra_result *add(const char *task, const char *model, int right, const char *config)
{
    lra_result *r = small_result("quick", 0, 0, right);
    lra_free(r->task);
    lra_free(r->model);
    lra_free(r->config);
    r->task = lra_copy_text(task), r->model = lra_copy_text(model);
    r->config = lra_format("model=%s\n%sseed=0\ntask=%s\n", model, config, task);
    return list[n++] = r;
}

static void clear(void)
{
    for (int i = 0; i < n; i++) lra_result_free(list[i]);
    n = 0;
}

static char *draw(const lra_report_figure *f, char **data)
{
    const lra_report_input in = {.list = list, .n = n};
    return drawn_figure(f, &in, data);
}

static void refuses(const lra_report_figure *f, const char *reason)
{
    const lra_report_input in = {.list = list, .n = n};
    lra_err e = {{0}};
    lra_plot p = {0};
    assert_true(f->make(&in, &p, &e) < 0);
    if (!strstr(e.msg, reason)) fail_msg("%s", e.msg);
    lra_plot_free(&p);
}

/* Line `group` of a data block, which begins with a comment; from: start of the search. Returns the
 * text after the position. */
static const char *line_of(const char *data, const char *block, int group)
{
    const char *at = strstr(data, block);
    if (!at) fail_msg("no block '%s'", block);
    for (int i = 0; i < group + 2; i++) at = strchr(at, '\n') + 1;
    return strchr(at, ' ') + 1;
}

static void expect(const char *data, const char *block, int group, const char *text)
{
    const char *line = line_of(data, block, group);
    if (strncmp(line, text, strlen(text)) != 0) fail_msg("%s: %.40s", block, line);
}

TEST(phases_and_averages)
{
    static const char *const tasks[] = {"listops", "text", "image", "path-x"};
    for (int t = 0; t < 4; t++) {
        add(tasks[t], "s4", 20 + t, "");
        if (t < 3) add(tasks[t], "s4", 30, "train.from=0123\ntrain.related=x\n");
    }
    add("listops", "dlr", 25, "model.init=random\n");
    add("listops", "dlr", 35, "");
    /* left out: pretraining, a fraction of the rows, a technique of another paper */
    add("listops", "s4", 1, "train.objective=pretrain-masked\n");
    add("listops", "s4", 2, "train.fraction=0.5\n");
    add("listops", "s4", 3, "train.augment=1\n");
    char *data, *script = draw(&lra_figure_spt_2, &data);
    expect(data, "# S4: from scratch", 0, "40.000000 ");
    expect(data, "# S4: from scratch", 3, "46.000000 ");
    expect(data, "# S4: from scratch", 4, "43.000000 ? ? 82.855000 4");
    /* one task has no self-pretrained results, so its value and the average are "?" */
    expect(data, "# S4: self-pretrained", 0, "60.000000 ");
    expect(data, "# S4: self-pretrained", 3, "? ? ? 96.940000 3");
    expect(data, "# S4: self-pretrained", 4, "? ? ? 84.472500 4");
    expect(data, "# DLR, random: from scratch", 0, "50.000000 ");
    expect(data, "# DLR, structured: from scratch", 0, "70.000000 ");
    expect(data, "# DLR, as published: self-pretrained", 4, "? ? ? 83.400000 4");
    assert_null(strstr(data, "steps of both phases"));
    assert_null(strstr(script, "steps of both phases"));
    lra_free_large(script);
    lra_free_large(data);
    clear();
}

TEST(controls_are_a_third_bar)
{
    lra_result *causal = add("text", "s4", 5, "train.objective=pretrain-causal\n");
    lra_free(causal->run);
    causal->run = lra_copy_text("4567");
    add("text", "s4", 20, "");
    add("text", "s4", 25, "train.matched=0123\ntrain.related=y\n");
    add("text", "s4", 30, "train.from=0123\ntrain.related=x\n");
    add("text", "s4", 40, "train.from=4567\ntrain.related=z\n"); /* causal pretraining: left out */
    add("text", "transformer", 10, "model.positions=sinusoidal\n");
    add("text", "transformer", 15, "");
    add("text", "transformer", 45,
        "model.positions=learned\n"); /* learned positions have no panel */
    char *data, *script = draw(&lra_figure_spt_1, &data);
    expect(data, "# S4: from scratch\n", 1, "40.000000 ");
    expect(data, "# S4: from scratch, steps of both phases", 1, "50.000000 ");
    expect(data, "# S4: self-pretrained", 1, "60.000000 ");
    expect(data, "# Transformer, sinusoidal: from scratch\n", 1, "20.000000 ");
    expect(data, "# Transformer, sinusoidal: self-pretrained", 7, "? ? ? 81.340000");
    expect(data, "# Transformer, rotary: from scratch\n", 1, "30.000000 ");
    assert_non_null(strstr(script, "'from scratch, steps of both phases'"));
    assert_null(strstr(data, " 90.000000 "));
    lra_free_large(script);
    lra_free_large(data);
    clear();
}

TEST(positions_with_and_without_techniques)
{
    add("listops", "transformer", 20, "");
    add("listops", "transformer", 25, "train.augment=1\n");
    add("listops", "transformer", 30, "model.positions=learned\ntrain.augment=1\n");
    add("text", "transformer", 35,
        "model.positions=rotary-half\ntrain.objective=denoise\ntrain.mask=0.3\n");
    add("text", "transformer", 1, "train.objective=pretrain-masked\n");
    add("pathfinder", "transformer", 40, "model.positions=sinusoidal\ntask.sets=three\n");
    add("image", "transformer", 2,
        "model.positions=sinusoidal\n"); /* without techniques: has no bar */
    char *data, *script = draw(&lra_figure_loc_t4, &data);
    expect(data, ": rotary, without techniques", 4, "40.000000 ");
    expect(data, ": rotary\n", 4, "50.000000 ");
    expect(data, ": learned", 4, "60.000000 ");
    expect(data, ": rotary\n", 2, "70.000000 ");
    expect(data, ": sinusoidal", 1, "80.000000 ");
    expect(data, ": sinusoidal", 0, "? ? ? 85.520000 0");
    expect(data, ": rotary\n", 5, "? ? ? 85.690000 5");
    lra_free_large(script);
    lra_free_large(data);
    clear();
}

TEST(other_results_are_refused)
{
    add("xor", "s4", 20, "");
    refuses(&lra_figure_spt_1, "no result of these models and tasks");
    refuses(&lra_figure_loc_t4, "no result of a Transformer");
    clear();
    add("text", "s4", 20, "");
    add("text", "s4", 20, "model.width=9\n");
    refuses(&lra_figure_spt_2, "two configurations of 's4' on 'text'");
    clear();
}
