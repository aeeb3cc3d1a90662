/* Figures las-fig2, las-fig3, las-fig5 and las-fig6 of generated results: means over seeds,
 * panels of tasks, the complete input, models without the setting, published values, results
 * left out. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "tests/fixtures/figures.h"
#include "tests/fixtures/small_results.h"

enum { MOST = 32 };
static lra_result *list[MOST];
static int n;

/* Adds a result on a task with `right` of 50 correct predictions. config: lines of the
 * configuration. */
static lra_result *add(const char *task, const char *model, int seed, int right, const char *config)
{
    lra_result *r = small_result("quick", 0, seed, right);
    lra_free(r->task);
    lra_free(r->model);
    lra_free(r->config);
    lra_free(r->fingerprint);
    r->task = lra_copy_text(task), r->model = lra_copy_text(model);
    r->config = lra_format("model=%s\n%sseed=%d\ntask=%s\n", model, config, seed, task);
    r->fingerprint = lra_copy_text(strcmp(task, "text") ? "0123456789abcdef" : "aaaa456789abcdef");
    r->max_length = 1024;
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

/* ---- by setting ------------------------------------------------------------------------------ */

static void add_chunks(void)
{
    for (int s = 0; s < 2; s++) {
        add("listops", "las", s, 20 + s, "model.chunk=8\n");
        add("listops", "las", s, 30, "");
        add("listops", "transformer", s, 40, "");
        add("listops", "las", s, 10, "train.fraction=0.25\n");
        add("listops", "las", s, 1, "train.from=0123\ntrain.related=x\n");
        add("text", "las", s, 25, "model.chunk=8\n");
    }
}

TEST(accuracy_by_chunk)
{
    add_chunks();
    char *data, *script = draw(&lra_figure_las_fig5, &data);
    /* x is log2 of the chunk length, 8 tokens, or without chunks of the input length; y is the mean
     * over seeds */
    assert_non_null(strstr(data, "\n3 41.000000 "));
    assert_non_null(strstr(data, "\n10 60.000000 "));
    assert_null(strstr(data, " 20.000000 "));
    assert_null(strstr(data, " 2.000000 "));
    /* published, of table 2: chunks of 128 tokens, and full attention */
    assert_non_null(strstr(data, "\n7 46.210000 ?"));
    assert_non_null(strstr(data, "\n10 53.050000 ?"));
    assert_non_null(strstr(data, "\n7 79.110000 ?"));
    assert_non_null(strstr(script, "set xtics ('8' 3, 'all' 10)"));
    assert_non_null(strstr(script, "'Transformer'"));
    assert_non_null(strstr(script, "'published (size of the paper)'"));
    lra_free_large(script);
    lra_free_large(data);
    clear();
}

TEST(accuracy_by_fraction)
{
    add_chunks();
    char *data, *script = draw(&lra_figure_las_fig6, &data);
    assert_non_null(strstr(data, "\n-2 20.000000 "));
    assert_non_null(strstr(data, "\n0 60.000000 "));
    assert_non_null(strstr(data, "\n0 53.050000 ?"));
    /* chunks of 8 tokens have one fraction */
    assert_null(strstr(script, "chunk 8"));
    lra_free_large(script);
    lra_free_large(data);
    clear();
}

TEST(ambiguous_results_are_refused)
{
    add("listops", "las", 0, 20, "model.chunk=8\n");
    add("listops", "las", 0, 20, "model.chunk=8\nmodel.width=9\n");
    add("listops", "las", 0, 20, "");
    refuses(&lra_figure_las_fig5, "two configurations of 'las' on 'listops'");
    clear();
    /* other models do not matter, and without a curve there is no conflict */
    add("listops", "s4", 0, 20, "");
    add("listops", "s4", 0, 20, "model.width=9\n");
    add("listops", "las", 0, 20, "model.alpha=geo\n");
    add("listops", "las", 0, 20, "");
    refuses(&lra_figure_las_fig5, "no model has results with two values of the setting");
    add("listops", "s", 0, 20, "model.chunk=8\n");
    add("listops", "s", 0, 20, "model.chunk=16\n");
    refuses(&lra_figure_las_fig5, "two configurations of 'las'");
    clear();
    add("listops", "transformer", 0, 20, "");
    add("listops", "las", 0, 20, "model.chunk=8\n");
    refuses(&lra_figure_las_fig6, "two values of the setting");
    refuses(&lra_figure_las_fig5, "no model has results with two values of the setting");
    clear();
    static const char *const task[] = {"listops", "text", "image", "pathfinder", "retrieval"};
    for (int i = 0; i < 5; i++) add(task[i], "las", 0, 20, "model.chunk=8\n");
    refuses(&lra_figure_las_fig5, "more than 4 tasks");
    clear();
}

/* ---- by epoch -------------------------------------------------------------------------------- */

static void add_history(const char *task, const char *model, const char *metric, int seed,
                        int epochs, double more)
{
    lra_err e = {{0}};
    lra_result *r = add(task, model, seed, 20, "");
    lra_free(r->history);
    r->metric = lra_metric_find(metric, &e);
    NOT_NULL(r->metric);
    r->n_epochs = epochs;
    r->history = lra_alloc_array((size_t)epochs * LRA_HISTORY_COLUMNS, sizeof *r->history);
    for (int k = 0; k < epochs; k++)
        r->history[k * LRA_HISTORY_COLUMNS + LRA_HISTORY_VAL_VALUE] = 4 - k + more;
}

TEST(bits_by_epoch)
{
    for (int s = 0; s < 2; s++) {
        add_history("text8", "las", "bits-per-character", s, 3 - s, s);
        add_history("enwik8", "las", "bits-per-byte", s, 3, 0);
        add_history("enwik8", "transformer", "bits-per-byte", s, 2, 0.5);
    }
    add_history("wikitext-103", "s", "perplexity", 0, 4, 20);
    char *data, *script = draw(&lra_figure_las_fig2, &data);
    /* enwik8 is left; means over seeds up to the last epoch that both have */
    assert_true(strstr(data, "enwik8, las") < strstr(data, "text8, las"));
    assert_non_null(strstr(data, "\n1 4.500000\n2 3.500000\n\n\n"));
    assert_non_null(strstr(data, "\n3 1.282600\n"));
    assert_non_null(strstr(data, "\n3 1.288500\n"));
    assert_non_null(strstr(data, "\n3 1.333200\n"));
    assert_null(strstr(data, "wikitext"));
    assert_non_null(strstr(script, "'validation bits per byte'"));
    lra_free_large(script);
    lra_free_large(data);
    script = draw(&lra_figure_las_fig3, &data);
    assert_non_null(strstr(data, "\n4 21.690000\n"));
    assert_non_null(strstr(script, "'validation perplexity'"));
    lra_free_large(script);
    lra_free_large(data);
    clear();
}

TEST(without_language_models)
{
    add("listops", "las", 0, 20, "");
    refuses(&lra_figure_las_fig2, "no result of enwik8, text8 with a learning curve");
    clear();
}
