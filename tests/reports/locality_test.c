/* The table and figure of locality, from generated results and probe files: sources of the columns,
 * means and intervals over seeds, reasons for missing values, order. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "reports/views/locality_view.h"
#include "reports/views/probe_view.h"
#include "reports/report.h"
#include "tests/fixtures/figures.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/small_results.h"

enum { RESULTS = 6, PROBES = 8 };

/* ---- files ----------------------------------------------------------------------------------- */

static lra_result *result(const char *model, int kernel, int seed, int right)
{
    lra_result *r = small_result("quick", kernel, seed, right);
    lra_free(r->model);
    lra_free(r->run);
    lra_free(r->config);
    r->model = lra_copy_text(model), r->max_length = 40;
    r->run = lra_format("%06x%08d%02d", (unsigned)model[0] * 256 + (unsigned)model[1], kernel,
                        seed);
    r->config = kernel ? lra_format("model=%s\nmodel.kernel=%d\nseed=%d\n", model, kernel, seed)
                       : lra_format("model=%s\nseed=%d\n", model, seed);
    return r;
}

/* Adds a measurement with an interval of `half` to each side; its value for equal weights is
 * `equal`, for initial weights half of that. */
static void add(lra_measurement *list, int *n, const char *id, double value, double half,
                double equal)
{
    lra_measurement f = lra_measurement_of(id, value);
    f.lo = value - half, f.hi = value + half, f.examples = 64;
    f.null[LRA_NULL_UNIFORM] = equal, f.null[LRA_NULL_INIT] = value / 2;
    list[(*n)++] = f;
}

static void add_jacobian(lra_probe_result *p, double mean, double kind)
{
    lra_measurement list[13];
    int n = 0;
    add(list, &n, "dist.mean", mean, 0.5, 10);
    add(list, &n, "dist.mean.rel", mean / 10, 0.05, 1);
    add(list, &n, "dist.q95", floor(2.5 * mean), 1, 25);
    add(list, &n, "self", 0.5, 0.1, 0.1);
    add(list, &n, "side", 0.5, 0.1, 0);
    add(list, &n, "range.mean", mean / 2, 0.5, 9);
    add(list, &n, "range.mean.rel", mean / 18, 0.05, 1);
    add(list, &n, "range.q95", floor(2.4 * mean), 1, 24);
    add(list, &n, "entropy", 2, 0.1, 3);
    add(list, &n, "entropy.rel", 2. / 3, 0.1 / 3, 1);
    add(list, &n, "decay.tau", mean, 0.5, NAN);
    add(list, &n, "decay.beta", 1, 0.25, NAN);
    add(list, &n, "decay.kind", kind, NAN, NAN);
    lra_probe_unit_measurements(lra_probe_unit_new(p, "jacobian"), n, list);
}

static void add_limit(lra_probe_result *p, const char *unit, const char *id, double value)
{
    lra_measurement list[1];
    int n = 0;
    add(list, &n, id, value, 0, 40);
    list[0].null[LRA_NULL_INIT] = NAN;
    lra_probe_unit_measurements(lra_probe_unit_new(p, unit), n, list);
}

/* Adds limits that keep 95 and 99 % of the gain. */
static void add_context(lra_probe_result *p, const char *unit, const char *prefix, double least)
{
    lra_measurement list[2];
    char id[2][16];
    int n = 0;
    for (int k = 0; k < 2; k++) {
        snprintf(id[k], sizeof id[k], "%s%d", prefix, k ? 99 : 95);
        add(list, &n, id[k], least + 2 * k, 1, 39);
        list[k].null[LRA_NULL_INIT] = NAN;
    }
    lra_probe_unit_measurements(lra_probe_unit_new(p, unit), n, list);
}

static lra_probe_result *probe(const char *kind, const lra_result *r)
{
    lra_origin none = {0};
    return lra_probe_result_new(kind, r, &none);
}

static void add_range(lra_probe_result *p, const char *unit, double rel, double half)
{
    lra_measurement list[5];
    int n = 0;
    add(list, &n, "dist.mean.rel", rel, half, 1);
    add(list, &n, "dist.q95", 20 * rel, half, 25);
    add(list, &n, "range.mean.rel", rel / 2, half, 1);
    add(list, &n, "range.q95", 19 * rel, half, 25);
    add(list, &n, "entropy.rel", rel, half, 1);
    lra_probe_unit_measurements(lra_probe_unit_new(p, unit), n, list);
}

static lra_result *results[RESULTS];
static lra_probe_result *probes[PROBES];
static const lra_report_input in = {
    .list = results, .n = RESULTS, .probes = probes, .n_probes = PROBES};

/* Files of four models: a Transformer of two seeds with heads and a window; a convolution of two
 * seeds with kernels; an LSTM, which has no distance limits; a model without probe files. */
static int make_files(void **state)
{
    (void)state;
    for (int s = 0; s < 2; s++) {
        results[s] = result("transformer", 0, s, 40);
        results[2 + s] = result("resconv", 5, s, 30 + s);
        probes[s] = probe("influence", results[s]);
        add_jacobian(probes[s], 5 + s, 0);
        add_limit(probes[s], "cut", "cut.r99", s ? 32 : 8);
        add_limit(probes[s], "cut.window", "window.w99", NAN);
        probes[2 + s] = probe("influence", results[2 + s]);
        add_jacobian(probes[2 + s], 2 + s, s ? 2 : 1);
        add_limit(probes[2 + s], "cut", "cut.r99", 4);
        add_context(probes[2 + s], "context", "context.r", 6 + s);
        probes[4 + s] = probe("kernels", results[2 + s]);
        add_range(probes[4 + s], "model", 0.25, NAN);
    }
    results[4] = result("lstm", 0, 0, 35);
    results[5] = result("spade", 0, 0, 20);
    probes[6] = probe("attention", results[0]);
    add_range(probes[6], "layer0.head0", 0.5, 0.125);
    add_range(probes[6], "layer0.head1", 1, 0.25);
    add_range(probes[6], "layer0", 7, 0); /* the unit of a layer, which is not a head */
    probes[7] = probe("influence", results[4]);
    add_jacobian(probes[7], 4, 1);
    add_context(probes[7], "context-curve", "context.c", 9); /* as of a language model */
    return 0;
}

static int free_files(void **state)
{
    (void)state;
    for (int i = 0; i < RESULTS; i++) lra_result_free(results[i]);
    for (int i = 0; i < PROBES; i++) lra_probe_result_free(probes[i]);
    return 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void is_near(double x, double expected)
{
    if (!(fabs(x - expected) < 1e-9)) fail_msg("%g, expected %g", x, expected);
}

TEST(numbers_over_seeds)
{
    static const char *const order[] = {"resconv K = 5", "lstm", "transformer", "spade"};
    lra_err e = {{0}};
    lra_locality_view v;
    OK(lra_locality_open(&v, &in, &e));
    assert_int_equal(v.n, 4);
    for (int i = 0; i < 4; i++) assert_string_equal(v.row[i].name, order[i]);
    const lra_locality_row *conv = &v.row[0], *heads = &v.row[2];
    const lra_measurement *mean = &conv->at[LRA_LOCALITY_MEAN];
    is_near(mean->value, 2.5);
    is_near(mean->null[LRA_NULL_UNIFORM], 10);
    /* Variation of examples: half a token; of seeds: t(1) = 12.706 times sd / sqrt 2; the lower end
     * is limited to 0 */
    is_near(mean->lo, 0);
    assert_true(mean->flags & LRA_CLIPPED);
    is_near(floor(1000 * mean->hi), floor(1000 * (2.5 + sqrt(0.25 + 12.7062 * 12.7062 / 4))));
    is_near(conv->initial[LRA_LOCALITY_MEAN].value, 1.25);
    is_near(conv->at[LRA_LOCALITY_CUT].value, 4);
    is_near(conv->at[LRA_LOCALITY_CONTEXT].value, 6.5);
    is_near(conv->at[LRA_LOCALITY_CONTEXT_99].value, 8.5);
    is_near(v.row[1].at[LRA_LOCALITY_CONTEXT].value, 8); /* c - 1 tokens before the position */
    is_near(v.row[1].at[LRA_LOCALITY_CONTEXT].lo, 7);
    assert_non_null(heads->missing[LRA_LOCALITY_CONTEXT]);
    is_near(conv->at[LRA_LOCALITY_KERNEL_REL].value, 0.25);
    is_near(conv->value.value, 30.5 / SMALL_ROWS);
    assert_true(conv->decay[0] == 0 && conv->decay[1] == 1 && conv->decay[2] == 1);
    is_near(heads->at[LRA_LOCALITY_HEADS_REL].value, 0.75);
    is_near(heads->at[LRA_LOCALITY_HEADS_REL].lo, 0.75 - 0.1875);
    assert_int_equal(heads->at[LRA_LOCALITY_HEADS_REL].seeds, 1);
    assert_true(heads->at[LRA_LOCALITY_CUT].hi <= 40);
    lra_locality_close(&v);
}

/* Each dash in the table has a reason. */
TEST(what_is_missing)
{
    static const struct {
        int row;
        lra_locality what;
        const char *why; /* expected reason; NULL: the value exists */
    } known[] = {{2, LRA_LOCALITY_CUT, NULL},
                 {2, LRA_LOCALITY_WINDOW, "the model is not clearly above chance"},
                 {2, LRA_LOCALITY_KERNEL_REL, "no kernels.h5"},
                 {0, LRA_LOCALITY_WINDOW, "no attention, or other layers"},
                 {0, LRA_LOCALITY_HEADS_REL, "no attention.h5"},
                 {1, LRA_LOCALITY_REL, NULL},
                 {1, LRA_LOCALITY_CUT, "its layers support no distance limit"},
                 {1, LRA_LOCALITY_WINDOW, "its layers support no distance limit"},
                 {3, LRA_LOCALITY_REL, "no influence.h5"}};
    lra_err e = {{0}};
    lra_locality_view v;
    OK(lra_locality_open(&v, &in, &e));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *why = v.row[known[i].row].missing[known[i].what];
        bool right = known[i].why ? why && strncmp(why, known[i].why, strlen(known[i].why)) == 0
                                  : why == NULL;
        if (!right) fail_msg("row %d: '%s'", known[i].row, why ? why : "there");
        assert_int_equal(isnan(v.row[known[i].row].at[known[i].what].value), why != NULL);
    }
    lra_locality_close(&v);
}

/* Probe files of another run, other data or another seed are not used. */
TEST(files_of_other_runs)
{
    lra_locality_view v;
    lra_err e = {{0}};
    OK(lra_locality_open(&v, &in, &e));
    assert_ptr_equal(lra_locality_probe(&v, results[1], "influence"), probes[1]);
    assert_null(lra_locality_probe(&v, results[1], "attention"));
    assert_null(lra_locality_probe(&v, results[5], "influence"));
    lra_locality_close(&v);
    probes[1]->fingerprint[0] = 'x';
    OK(lra_locality_open(&v, &in, &e));
    assert_null(lra_locality_probe(&v, results[1], "influence"));
    lra_locality_close(&v);
    probes[1]->fingerprint[0] = '0';
}

TEST(tables_in_every_format)
{
    static const char *const formats[] = {"text", "markdown", "latex", "csv", "json"};
    for (int f = 0; f < 5; f++) {
        lra_err e = {{0}};
        FILE *to = fopen("locality_table", "w");
        assert_non_null(to);
        OK(lra_report_print(&lra_table_locality, to, &in, formats[f], &e));
        fclose(to);
        char *name = lra_format("locality.%s", formats[f]);
        check_golden(name, take_file("locality_table"));
        lra_free(name);
    }
}

TEST(the_figure)
{
    lra_err e = {{0}};
    OK(write_figure(&lra_figure_locality, ".", &in, &e));
    check_golden("figure-locality.gp", take_file("locality.gp"));
    check_golden("figure-locality.dat", take_file("locality.dat"));
    results[5]->fingerprint[0] = 'x';
    assert_int_equal(write_figure(&lra_figure_locality, ".", &in, &e), -1);
    assert_non_null(strstr(e.msg, "name results on the same data"));
    results[5]->fingerprint[0] = '0';
}

/* Equal weights of a causal model have a smaller distance than those of other models in the same
 * table. */
TEST(each_model_has_its_equal_weights)
{
    lra_err e = {{0}};
    lra_measurement *mean = NULL;
    for (int i = 0; i < PROBES; i++) {
        lra_probe_unit *u = probes[i]->unit[0];
        if (strcmp(probes[i]->model, "lstm") == 0 && strcmp(u->name, "jacobian") == 0)
            mean = &u->measurement[0];
    }
    assert_true(mean && strcmp(mean->id, "dist.mean") == 0);
    mean->null[LRA_NULL_UNIFORM] = 5;
    OK(write_figure(&lra_figure_locality, ".", &in, &e));
    mean->null[LRA_NULL_UNIFORM] = 10;
    char *data = take_file("locality.dat"), *script = take_file("locality.gp");
    int near = 0, far = 0;
    for (const char *at = data; *at; at = strchr(at, '\n') + 1) {
        const char *field = at;
        for (int k = 1; k < 17 && field; k++) field = strchr(field + 1, ' ');
        if (!field) continue;
        near += strncmp(field, " 5.0", 4) == 0, far += strncmp(field, " 10.0", 5) == 0;
    }
    assert_int_equal(near, 1);
    assert_true(far > 1);
    assert_non_null(strstr(script, "index 0 using 17:($1-0.5):(0):(1) with vectors nohead"));
    lra_free(script);
    lra_free(data);
}

/* Panels without data are not drawn. */
TEST(panels_that_models_have)
{
    static const struct {
        int n_probes;
        bool range, limits;
    } known[] = {{PROBES, true, true}, {1, true, false}, {0, false, false}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        lra_err e = {{0}};
        lra_report_input own = in;
        if (known[k].n_probes < PROBES) /* the LSTM alone, which has no limits of its layers */
            own = (lra_report_input){
                .list = results + 4, .n = 1, .probes = probes + 7, .n_probes = known[k].n_probes};
        OK(write_figure(&lra_figure_locality, ".", &own, &e));
        char *script = take_file("locality.gp");
        assert_int_equal(strstr(script, "'mean distance") != NULL, known[k].range);
        assert_int_equal(strstr(script, "at initialisation (hollow)") != NULL, known[k].range);
        assert_int_equal(strstr(script, "limit per layer") != NULL, known[k].limits);
        assert_int_equal(strstr(script, "limit of the model") != NULL, k == 1);
        assert_int_equal(strstr(script, "limit of the complete model") != NULL, k < 2);
        assert_non_null(strstr(script, "accuracy"));
        assert_non_null(strstr(script, "LSTM"));
        lra_free(script);
        lra_free(take_file("locality.dat"));
    }
}

/* In older files, equal weights of causal models include both directions. */
TEST(older_equal_weights_are_told)
{
    lra_probe_unit *u = probes[PROBES - 1]->unit[0];
    lra_measurement *side = &u->measurement[4], before = *side;
    assert_string_equal(side->id, "side");
    side->value = 1;
    for (int past = 0; past < 2; past++) {
        lra_err e = {{0}};
        FILE *to = fopen("locality_table", "w");
        assert_non_null(to);
        side->null[LRA_NULL_UNIFORM] = past;
        assert_int_equal(lra_probe_equal_ahead(probes[PROBES - 1]), !past);
        assert_int_equal(lra_report_print(&lra_table_locality, to, &in, "text", &e), 0);
        fclose(to);
        char *text = take_file("locality_table");
        assert_int_equal(strstr(text, "cover both sides") != NULL, !past);
        lra_free(text);
    }
    *side = before;
}

/* Growth is computed for each seed: two seeds that differ initially and grow equally have a narrow
 * interval. */
TEST(growth_is_paired)
{
    lra_err e = {{0}};
    lra_locality_view v;
    lra_measurement *mean[2] = {&probes[2]->unit[0]->measurement[0],
                                &probes[3]->unit[0]->measurement[0]};
    lra_measurement before[2] = {*mean[0], *mean[1]};
    static const double init[3][2] = {{1.75, 2.8}, {2.25, 3.2}, {2.4, 2.6}};
    static const double known[3][3] = {{0.225, 0, 2}, {-0.225, 0, 3}, {0, 0, 2}};
    for (int k = 0; k < 3; k++) {
        int up, down, open;
        for (int s = 0; s < 2; s++) mean[s]->null[LRA_NULL_INIT] = init[k][s];
        OK(lra_locality_open(&v, &in, &e));
        const lra_measurement *f = &v.row[0].grew;
        double d0 = 2 - init[k][0], d1 = 3 - init[k][1], half = 12.7062 * fabs(d0 - d1) / 2;
        is_near(f->value, known[k][0]);
        assert_true(fabs((f->hi - f->lo) / 2 - half) < 1e-3 * (1 + half));
        assert_int_equal(f->seeds, 2);
        lra_locality_growth(&v, &up, &down, &open);
        assert_int_equal(up + down + open, 3); /* the LSTM has one seed and is undecided */
        assert_true(isnan(v.row[1].grew.lo));
        lra_locality_close(&v);
    }
    for (int s = 0; s < 2; s++) mean[s]->null[LRA_NULL_INIT] = s ? 2.51 : 1.5;
    int up, down, open;
    OK(lra_locality_open(&v, &in, &e));
    lra_locality_growth(&v, &up, &down, &open);
    assert_true(v.row[0].grew.lo > 0 && up == 1 && down == 0);
    lra_locality_close(&v);
    *mean[0] = before[0], *mean[1] = before[1];
}

/* Causal models are a separate group in the table and in the figure. */
TEST(masks_are_groups)
{
    lra_err e = {{0}};
    lra_locality_view v;
    for (int s = 0; s < 2; s++) probes[2 + s]->unit[0]->measurement[4].null[LRA_NULL_UNIFORM] = 1;
    OK(lra_locality_open(&v, &in, &e));
    assert_string_equal(v.row[0].name, "lstm");
    /* it has the smallest distance of all, but is causal */
    assert_string_equal(v.row[2].name, "resconv K = 5");
    assert_true(v.row[0].mask == LRA_MASK_BOTH && v.row[1].mask == LRA_MASK_BOTH);
    assert_true(v.row[2].mask == LRA_MASK_CAUSAL && v.row[3].mask == LRA_MASK_UNKNOWN);
    lra_locality_close(&v);
    OK(write_figure(&lra_figure_locality, ".", &in, &e));
    char *script = take_file("locality.gp");
    assert_non_null(strstr(script, "'mask: both' 7, 'LSTM' 6, 'Transformer' 5, 'mask: causal' 4"));
    lra_free(script);
    lra_free(take_file("locality.dat"));
    for (int s = 0; s < 2; s++) probes[2 + s]->unit[0]->measurement[4].null[LRA_NULL_UNIFORM] = 0;
}

/* Rows of files without dist.* are blank, and the reason is given. */
TEST(older_files_are_blank)
{
    lra_err e = {{0}};
    lra_locality_view v;
    for (int i = 0; i < 4; i++)
        for (int f = 0; f < 4; f++) probes[i]->unit[0]->measurement[f].id[0] = 'x';
    OK(lra_locality_open(&v, &in, &e));
    const lra_locality_row *row = NULL;
    for (int i = 0; i < v.n; i++)
        if (strcmp(v.row[i].name, "transformer") == 0) row = &v.row[i];
    assert_true(row && isnan(row->at[LRA_LOCALITY_REL].value) && isnan(row->grew.value));
    assert_non_null(strstr(row->missing[LRA_LOCALITY_REL], "older version"));
    assert_null(row->missing[LRA_LOCALITY_RANGE_REL]);
    lra_locality_close(&v);
    for (int i = 0; i < 4; i++)
        for (int f = 0; f < 4; f++) probes[i]->unit[0]->measurement[f].id[0] = f < 3 ? 'd' : 's';
}

GROUP(make_files, free_files);
