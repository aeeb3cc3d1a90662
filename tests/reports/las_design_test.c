/* Table las-design of generated kernel files: every printed row, means over layers, verdicts by
 * thresholds and intervals. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "reports/report.h"
#include "tests/fixtures/small_results.h"
#include "tests/fixtures/tiny_model.h"

enum { DESIGNS = 12, LAYER = 0, MODEL = 1, PRINTED = 5, INITIAL = 6, TRAINED = 8, BEFORE = 10 };
enum { AFTER = 11, SMOOTH = 16 };

/* A file with two layers: shares of decaying channels `share` - 0.01 and + 0.01, roughness
 * `rough`. */
static lra_probe_result *file(const char *model, int seed, double share, double rough)
{
    lra_result *r = small_result("quick", 0, seed, 30);
    lra_origin none = {0};
    lra_free(r->model);
    r->model = lra_copy_text(model);
    lra_probe_result *p = lra_probe_result_new("kernels", r, &none);
    lra_result_free(r);
    for (int i = 0; i < 2; i++) {
        lra_measurement f[] = {lra_measurement_of("decay.falls", share + (i ? 0.01 : -0.01)),
                               lra_measurement_of("kernel.smooth", rough)};
        f[0].null[LRA_NULL_INIT] = 0.1, f[1].null[LRA_NULL_INIT] = 2;
        lra_probe_unit_measurements(lra_probe_unit_new(p, i ? "layer1.ssm" : "layer0.ssm"), 2, f);
    }
    lra_measurement far = lra_measurement_of("decay.falls", 0);
    lra_probe_unit_measurements(lra_probe_unit_new(p, "model"), 1, &far);
    return p;
}

static const lra_cell *row_of(const lra_table *t, const char *layer, const char *model)
{
    for (int i = 0; i < t->n_rows; i++)
        if (strcmp(t->cell[i][LAYER].text, layer) == 0 &&
            (!model || strcmp(t->cell[i][MODEL].text, model) == 0))
            return t->cell[i];
    fail_msg("no row %s", layer);
    return NULL;
}

static void expect(const lra_cell *row, double share, const char *before, const char *after,
                   const char *smooth)
{
    assert_true(fabs(row[TRAINED].x - share) < 1e-9);
    assert_true(fabs(row[INITIAL].x - 0.1) < 1e-9);
    assert_string_equal(row[BEFORE].text, before);
    assert_string_equal(row[AFTER].text, after);
    assert_string_equal(row[SMOOTH].text, smooth);
}

TEST(printed_rows_and_verdicts)
{
    lra_probe_result *list[] = {file("s4", 0, 0.9, 0.1),  file("s4", 1, 0.92, 0.1),
                                file("dlr", 0, 0.2, 3),   file("lru", 0, 0.2, 0.8),
                                file("lru", 1, 0.9, 1.3), file("gmlp", 0, 0.7, 1.5)};
    enum { FILES = sizeof list / sizeof *list };
    const lra_report_input in = {.probes = list, .n_probes = FILES};
    lra_err e = {{0}};
    lra_table **tables;
    assert_int_equal(lra_table_las_design.make(&in, &tables, &e), 2);
    const lra_table *t = tables[0];
    assert_int_equal(t->n_rows, DESIGNS + 1);
    expect(row_of(t, "S4", "s4"), 0.91, "N", "Y", "Y");
    expect(row_of(t, "DLR", "dlr"), 0.2, "N", "N", "N");
    expect(row_of(t, "LRU", "lru"), 0.55, "N", "?", "?");
    expect(row_of(t, "-", "gmlp"), 0.7, "N", "Y", "N");
    assert_string_equal(row_of(t, "LRU", NULL)[PRINTED].text, "Y");
    assert_string_equal(row_of(t, "SS (LSSL)", NULL)[MODEL].text, "none");
    assert_string_equal(row_of(t, "TNN", NULL)[MODEL].text, "no run");
    assert_true(isnan(row_of(t, "TNN", NULL)[TRAINED].x));
    assert_int_equal(tables[1]->n_rows, DESIGNS);
    lra_tables_free(tables, 2);
    for (int i = 0; i < FILES; i++) lra_probe_result_free(list[i]);
}

/* Values of table 10, copied from the paper: number of Y in each column after the first. */
TEST(the_printed_table)
{
    static const int count[] = {2, 7, 8, 3, 6, 1, 9};
    lra_report_input in = {.n_probes = 0};
    lra_err e = {{0}};
    lra_table **tables;
    assert_int_equal(lra_table_las_design.make(&in, &tables, &e), 2);
    for (int k = 0; k < 7; k++) {
        int yes = 0;
        for (int i = 0; i < DESIGNS; i++) yes += *tables[1]->cell[i][2 + 2 * k].text == 'Y';
        if (yes != count[k]) fail_msg("column %d: %d", k, yes);
    }
    lra_tables_free(tables, 2);
}

static int nodes(const lra_graph *g, const lra_op *op)
{
    lra_tensor *found[64];
    return lra_graph_nodes(g, op, 64, found);
}

/* The properties of this program's layers, as far as their graphs show them: recurrence (scans) and
 * modes. */
TEST(properties_of_graphs)
{
    enum { HERE = 1, COMPLEX_HERE = 11, PARALLEL_HERE = 15 };
    lra_report_input in = {.n_probes = 0};
    lra_err e = {{0}};
    lra_table **tables;
    int checked = 0;
    assert_int_equal(lra_table_las_design.make(&in, &tables, &e), 2);
    for (int i = 0; i < DESIGNS; i++) {
        const lra_cell *row = tables[1]->cell[i];
        if (strcmp(row[HERE].text, "-") == 0) continue;
        const lra_model *m = lra_model_find(row[HERE].text, &e);
        NOT_NULL(m);
        tiny_model f;
        model_open(&f, &(model_case){.model = m,
                                     .variant = "",
                                     .type = LRA_F32,
                                     .vocab = TRIAL_VOCAB,
                                     .B = 2,
                                     .T = 12,
                                     .T_max = 12});
        bool scans = nodes(f.k.graph, &lra_op_scan) > 0;
        bool modes = scans || nodes(f.k.graph, &lra_op_ssm_kernel) > 0 ||
                     nodes(f.k.graph, &lra_op_dplr_kernel) > 0;
        if ((*row[PARALLEL_HERE].text == 'N') != scans) fail_msg("%s: scans", m->name);
        /* MEGA has real modes */
        if (*row[COMPLEX_HERE].text == 'Y' && !modes) fail_msg("%s: modes", m->name);
        model_close(&f);
        checked++;
    }
    assert_int_equal(checked, DESIGNS - 1);
    lra_tables_free(tables, 2);
}
