/* Verdicts of probes, for known measurements and for measurements without an effect. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/verdict/verdict_information.h"
#include "reports/verdict/verdict_probe.h"
#include "tests/fixtures/synthetic_result.h"

static lra_probe_result *probe_of(const char *name, int kernel, int seed)
{
    lra_result *run = made_result(kernel, 8, seed, 0.5);
    lra_origin origin = {0};
    lra_probe_result *r = lra_probe_result_new(name, run, &origin);
    lra_result_free(run);
    return r;
}

static lra_probe_result *probe(const char *name, int seed)
{
    return probe_of(name, 5, seed);
}

static void add(lra_probe_result *r, const char *unit, const char *id, lra_estimate x,
                double initial)
{
    lra_measurement f = lra_measurement_of(id, x.value);
    lra_probe_unit *u = (lra_probe_unit *)(uintptr_t)lra_probe_unit_find(r, unit);
    f.lo = x.lo, f.hi = x.hi, f.null[LRA_NULL_INIT] = initial, f.null[LRA_NULL_UNIFORM] = 1;
    lra_probe_unit_measurements(u ? u : lra_probe_unit_new(r, unit), 1, &f);
}

static void says(const lra_verdict *v, int i, const char *text)
{
    if (i >= v->n) fail_msg("no sentence %d", i);
    if (!strstr(v->sentence[i], text)) fail_msg("'%s' is not in '%s'", text, v->sentence[i]);
}

TEST(heads_of_a_run)
{
    static const lra_estimate x[] = {
        {0.5, 0.4, 0.6}, {1, 0.9, 1.1}, {1.2, 1.1, 1.3}, {0.95, 0.93, 0.97}};
    static const double initial[] = {0.9, 1, 1, 0.95};
    lra_probe_result *r = probe("attention", 0);
    for (int h = 0; h < 4; h++) {
        char name[32];
        snprintf(name, sizeof name, "layer0.head%d", h);
        add(r, name, "dist.mean.rel", x[h], initial[h]);
    }
    lra_verdict v = {0};
    lra_verdict_of_attention(r, &v);
    says(&v, 0,
         "Of 4 heads 2 attend to significantly nearer tokens than uniform weights under the same "
         "mask "
         "(the null value) and 1 to significantly farther ones");
    says(&v, 0, "0.50 to 1.20 times those of uniform weights.");
    says(&v, 1, "1 heads attend to nearer and 1 to farther tokens; the intervals of 2");
    says(&v, 2, "one seed");
    lra_verdict_free(&v);
    lra_probe_result_free(r);
}

/* Heads with equal weights are called neither near nor far. Files of older versions include the own
 * token. */
TEST(heads_that_show_nothing)
{
    lra_probe_result *r = probe("attention", 0);
    add(r, "layer0.head0", "range.mean.rel", (lra_estimate){1, 0.95, 1.05}, NAN);
    lra_verdict v = {0};
    lra_verdict_of_attention(r, &v);
    says(&v, 0, "Of 1 heads 0 attend to significantly nearer tokens");
    says(&v, 0, "and 0 to significantly farther ones");
    says(&v, 0, "own token included");
    assert_int_equal(v.n, 2);
    lra_verdict_free(&v);
    lra_probe_result_free(r);
}

/* The initial weights of a fine-tuned run are the pretrained ones. */
TEST(fine_tuned_runs)
{
    lra_probe_result *list[] = {probe("kernels", 0)}, *influence = probe("influence", 0);
    lra_probe_result *all[] = {list[0], influence};
    for (int i = 0; i < 2; i++) {
        char *config = lra_format("%strain.from=0123456789abcdef\n", all[i]->config);
        lra_free(all[i]->config);
        all[i]->config = config;
    }
    lra_probe_cell *cells;
    add(list[0], "model", "dist.mean.rel", (lra_estimate){0.25, NAN, NAN}, 0.4);
    add(influence, "jacobian", "dist.mean.rel", (lra_estimate){0.3, 0.2, 0.4}, 0.35);
    int n = lra_probe_cells(1, list, &cells);
    lra_verdict v = {0};
    lra_verdict_of_kernels(n, cells, &v);
    says(&v, 1, "Before fine-tuning it was 0.40; one seed has no interval.");
    lra_verdict_free(&v);
    lra_verdict_of_influence(&influence, 1, &v);
    says(&v, 0, "before fine-tuning it was 0.35, no significant change");
    lra_verdict_free(&v);
    lra_probe_cells_free(cells, n);
    for (int i = 0; i < 2; i++) lra_probe_result_free(all[i]);
}

TEST(kernels_of_cells)
{
    lra_probe_result *list[] = {probe("kernels", 0)};
    lra_probe_cell *cells;
    add(list[0], "model", "dist.mean.rel", (lra_estimate){0.25, NAN, NAN}, 0.4);
    add(list[0], "model", "dist.q95", (lra_estimate){12, NAN, NAN}, 20);
    int n = lra_probe_cells(1, list, &cells);
    lra_verdict v = {0};
    lra_verdict_of_kernels(n, cells, &v);
    says(&v, 0,
         "has a mean distance of 0.25 times that of uniform weights (the null value: 1); 95 % of "
         "the energy is within 12 tokens.");
    says(&v, 1, "At initialisation it was 0.40; one seed has no interval.");
    lra_verdict_free(&v);
    lra_probe_cells_free(cells, n);
    lra_probe_result_free(list[0]);
}

/* The row of the model is the mean over layers: it has no radius that contains 95 %. Models of one
 * seed have no interval. */
TEST(kernels_of_layers_and_of_one_seed)
{
    lra_probe_result *list[] = {probe_of("kernels", 5, 0), probe_of("kernels", 7, 0)};
    lra_probe_cell *cells;
    for (int i = 0; i < 2; i++) {
        add(list[i], "layer0.conv", "dist.mean.rel", (lra_estimate){1, NAN, NAN}, 0.5);
        add(list[i], "layer1.conv", "dist.mean.rel", (lra_estimate){1, NAN, NAN}, 0.5);
        add(list[i], "model", "dist.mean.rel", (lra_estimate){0.5 + i, NAN, NAN}, 0.4);
        add(list[i], "model", "dist.q95", (lra_estimate){3.5, NAN, NAN}, 4);
    }
    int n = lra_probe_cells(1, list, &cells);
    lra_verdict v = {0};
    lra_verdict_of_kernels(n, cells, &v);
    says(&v, 0, "95 % of the energy is within 3.5 tokens (mean over layers).");
    lra_verdict_free(&v);
    lra_probe_cells_free(cells, n);
    n = lra_probe_cells(2, list, &cells);
    assert_int_equal(n, 2);
    lra_verdict_of_kernels(n, cells, &v);
    says(&v, 0, "Of 2 models the kernels of");
    says(&v, 0, "this compares shapes, not distances in tokens.");
    says(&v, 1, "With one seed per model there is no interval");
    lra_verdict_free(&v);
    lra_probe_cells_free(cells, n);
    for (int i = 0; i < 2; i++) lra_probe_result_free(list[i]);
}

/* If a model also mixes positions by a state, the kernels of its convolutions do not describe the
 * entire model. */
TEST(kernels_of_a_part)
{
    lra_probe_result *list[] = {probe("kernels", 0)};
    lra_probe_cell *cells;
    lra_probe_result_set(list[0], "uncovered", "%s", "layer0.delta");
    add(list[0], "layer0.conv", "dist.mean.rel", (lra_estimate){0.1, NAN, NAN}, 0.2);
    int n = lra_probe_cells(1, list, &cells);
    lra_verdict v = {0};
    lra_verdict_of_kernels(n, cells, &v);
    says(&v, 0, "also mixes positions without kernels: its kernels are parts");
    assert_int_equal(v.n, 1);
    lra_verdict_free(&v);
    lra_probe_cells_free(cells, n);
    lra_probe_result_free(list[0]);
}

TEST(limits_of_a_run)
{
    lra_probe_result *list[] = {probe("influence", 0)};
    add(list[0], "cut", "cut.r99", (lra_estimate){4, 4, 5}, NAN);
    add(list[0], "cut", "cut.reach99", (lra_estimate){12, 12, 15}, NAN);
    lra_verdict v = {0};
    lra_verdict_of_influence(list, 1, &v);
    says(&v, 0,
         "A distance limit of 4 tokens (4 to 5) in each layer, 12 tokens (12 to 15) for all layers "
         "together, keeps 99 %");
    lra_verdict_free(&v);
    /* The distance limit of the entire model comes first. */
    add(list[0], "context", "context.r99", (lra_estimate){10, 10, 11}, NAN);
    add(list[0], "jacobian", "dist.mean.rel", (lra_estimate){0.3, 0.2, 0.4}, 0.35);
    lra_verdict_of_influence(list, 1, &v);
    says(&v, 0,
         "If the features of each position depend only on inputs within 10 tokens (10 to "
         "11), 99 %");
    says(&v, 1,
         "0.30 (0.20 to 0.40) times that of uniform weights (the null value: 1); at "
         "initialisation it was "
         "0.35, no significant change.");
    lra_verdict_free(&v);
    lra_probe_unit *u = (lra_probe_unit *)(uintptr_t)lra_probe_unit_find(list[0], "jacobian");
    lra_measurement *rel = &u->measurement[0];
    rel->value = 0.8181, rel->lo = 0.8172, rel->hi = 0.819, rel->null[LRA_NULL_INIT] = 0.8232;
    lra_verdict_of_influence(list, 1, &v);
    says(&v, 1, "0.8181 (0.8172 to 0.8190) times that of uniform weights");
    says(&v, 1, "at initialisation it was 0.8232, outside the interval");
    lra_verdict_free(&v);
    lra_probe_result_free(list[0]);
}

/* Limits of several runs are given with the union of their intervals. */
TEST(limits_of_runs)
{
    lra_probe_result *list[] = {probe("influence", 0), probe("influence", 1)};
    add(list[0], "context", "context.r99", (lra_estimate){13, 2, 16}, NAN);
    add(list[1], "context", "context.r99", (lra_estimate){16, 9, 31}, NAN);
    lra_verdict v = {0};
    lra_verdict_of_influence(list, 2, &v);
    says(&v, 0, "within 13 to 16 tokens over 2 runs (intervals: 2 to 31), 99 %");
    lra_verdict_free(&v);
    for (int i = 0; i < 2; i++) lra_probe_result_free(list[i]);
}

/* Older files do not contain the direction of equal weights; a model that could look ahead but does
 * not is not an older file. */
TEST(equal_weights_to_both_sides)
{
    lra_probe_result *r = probe("influence", 0);
    lra_measurement f = lra_measurement_of("side", 1);
    f.null[LRA_NULL_UNIFORM] = 0;
    lra_probe_unit_measurements(lra_probe_unit_new(r, "jacobian.p2"), 1, &f);
    assert_true(lra_probe_equal_ahead(r));
    lra_probe_result_set(r, "jacobian-equal", "both");
    assert_false(lra_probe_equal_ahead(r));
    lra_probe_result_free(r);
}

/* An excess that is not significant does not prove independence. */
TEST(information_that_is_not_shown)
{
    lra_probe_result *r = probe("information", 0);
    add(r, "data", "info.excess.1", (lra_estimate){0.0014, -0.0027, 0.0075}, NAN);
    lra_verdict v = {0};
    lra_verdict_of_information(r->unit[0], &v);
    says(&v, 0, "is not shown to exceed that of their positions");
    says(&v, 0, "the difference is 0.0014 bits (-0.0027 to 0.0075).");
    says(&v, 0, "although tokens depend on each other beyond their positions.");
    lra_verdict_free(&v);
    lra_probe_result_free(r);
}

/* The divergence detects a dependence that the difference of mutual informations does not. */
TEST(dependence_of_neighbours)
{
    static const lra_estimate x[] = {{0.0737, 0.0720, 0.0753}, {0.0001, 0, 0.0011}};
    static const char *const first[] = {
        "Adjacent tokens depend on each other beyond what their positions explain",
        "That adjacent tokens depend on each other beyond what their positions explain"};
    static const char *const text[] = {
        "divergence of their pairs from the null is 0.0737 bits (0.0720 to 0.0753); the difference of the mutual "
        "informations, 0.0014 bits (-0.0027 to 0.0075), is not significant.",
        "is not shown: the divergence of their pairs from the null is 0.0001 bits (0.0000 to "
        "0.0011)."};
    for (int i = 0; i < 2; i++) {
        lra_probe_result *r = probe("information", 0);
        add(r, "data", "info.excess.1", (lra_estimate){0.0014, -0.0027, 0.0075}, NAN);
        add(r, "data", "info.dependence.1", x[i], NAN);
        lra_verdict v = {0};
        lra_verdict_of_information(r->unit[0], &v);
        says(&v, 0, first[i]);
        says(&v, 0, text[i]);
        lra_verdict_free(&v);
        lra_probe_result_free(r);
    }
}

/* For a model at chance no limit is given. */
TEST(a_run_at_chance)
{
    lra_probe_result *list[] = {probe("influence", 0)};
    add(list[0], "context", "context.r99", (lra_estimate){NAN, NAN, NAN}, NAN);
    lra_verdict v = {0};
    lra_verdict_of_influence(list, 1, &v);
    says(&v, 0, "The model is not clearly above chance");
    lra_verdict_free(&v);
    lra_probe_result_free(list[0]);
}
