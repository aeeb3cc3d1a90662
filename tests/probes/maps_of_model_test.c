/* Attention and kernels of a model that answers requests, with planted maps and kernels: the
 * measurements recover them; wrong maps fail with one line that names the place. */
#include <math.h>
#include <string.h>

#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "probes/attention/of_model.h"
#include "probes/audit/check.h"
#include "probes/kernels/of_model.h"
#include "probes/run/origin.h"
#include "tests/fixtures/stub_responder.h"
#include "tests/fixtures/test.h"
#include "tests/fixtures/tiny_group.h"

GROUP(tiny_set_up, tiny_tear_down);

/* Causal unless there are weights on padding, which are later tokens; without initial weights. */
static lra_responder *planted(int64_t back, bool even, double sink, stub_fault fault)
{
    stub_spec s = stub_spec_default();
    s.vocab = 20, s.classes = 10, s.back = back, s.even = even, s.sink = sink, s.fault = fault;
    s.causal = fault != STUB_maps_padding;
    lra_responder *r = stub_responder_new(&s);
    r->facts.answers &= ~(uint32_t)LRA_ANSWERS_RESET;
    return r;
}

static lra_subject subject_on(lra_responder *r, const lra_dataset *d)
{
    return lra_subject_of(r, d, "planted", 4, 1);
}

static lra_probe_result *empty_result(const char *probe)
{
    lra_origin origin;
    const lra_result none = {.run = (char *)(uintptr_t) "0",
                             .task = (char *)(uintptr_t) "listops",
                             .model = (char *)(uintptr_t) "stub",
                             .preset = (char *)(uintptr_t) "",
                             .precision = (char *)(uintptr_t) "f32",
                             .fingerprint = (char *)(uintptr_t) "",
                             .config = (char *)(uintptr_t) "",
                             .user_label = (char *)(uintptr_t) ""};
    lra_probe_origin(&trained.device, &origin);
    return lra_probe_result_new(probe, &none, &origin);
}

static lra_probe_result *measure(lra_responder *r, const lra_dataset *d)
{
    lra_err e = {{0}};
    lra_subject s = subject_on(r, d);
    lra_probe_result *x = empty_result("attention");
    OK(lra_attention_of_model(&s, 0, x, &e));
    return x;
}

static lra_measurement found(const lra_probe_result *r, const char *unit, const char *id)
{
    const lra_probe_unit *u = lra_probe_unit_find(r, unit);
    if (!u) fail_msg("no unit '%s'", unit);
    const lra_measurement *m = lra_probe_measurement(u, id);
    if (!m) fail_msg("unit '%s' has no '%s'", unit, id);
    return *m;
}

static double value(const lra_probe_result *r, const char *unit, const char *id)
{
    return found(r, unit, id).value;
}

static void near(double is, double expected, double by)
{
    if (!(fabs(is - expected) <= by)) fail_msg("%.9g, expected %.9g", is, expected);
}

/* Each head attends to the token 3 back; tokens without one attend to themselves. */
TEST(a_fixed_distance_is_recovered)
{
    lra_responder *r = planted(3, false, 0, STUB_none);
    lra_probe_result *x = measure(r, trained.run.data);
    for (int h = 0; h < 2; h++) {
        const char *unit = h ? "conv.head1" : "conv.head0";
        near(value(x, unit, "dist.mean"), 3, 1e-6);
        near(value(x, unit, "dist.q95"), 3, 1e-6);
        near(value(x, unit, "entropy"), 0, 1e-9);
        /* uniform weights on the earlier tokens are the null value, not the planted pairs */
        assert_true(found(x, unit, "dist.mean").null[LRA_NULL_UNIFORM] > 3.1);
        assert_true(isnan(found(x, unit, "dist.mean").null[LRA_NULL_INIT]));
    }
    near(value(x, "model", "heads.uniform"), 0, 0);
    assert_null(lra_probe_measurement(lra_probe_unit_find(x, "conv.head0"), "shift.w1"));
    assert_null(lra_probe_array_find(lra_probe_unit_find(x, "conv.head0"), "mass.init"));
    assert_non_null(lra_probe_array_find(lra_probe_unit_find(x, "conv.head0"), "map"));
    lra_probe_result_free(x);
    lra_responder_close(r);
}

TEST(equal_weights_are_the_null_value)
{
    lra_responder *r = planted(0, true, 0, STUB_none);
    lra_probe_result *x = measure(r, trained.run.data);
    lra_measurement m = found(x, "conv.head0", "dist.mean");
    near(m.value, m.null[LRA_NULL_UNIFORM], 1e-5);
    near(value(x, "conv.head0", "dist.mean.rel"), 1, 1e-6);
    near(value(x, "conv.head0", "entropy.rel"), 1, 1e-6);
    near(value(x, "model", "heads.uniform"), 1, 0);
    lra_probe_result_free(x);
    lra_responder_close(r);
}

static lra_dataset *long_rows(void)
{
    lra_err e = {{0}};
    const lra_task *t = lra_task_find("xor", &e);
    static const char *const set[] = {"length=1500", "train=8", "val=4", "test=2"};
    lra_config *c = lra_task_config(t, "quick", &e);
    NOT_NULL(c);
    for (int i = 0; i < 4; i++) OK(lra_keys_assign(t->keys, c, set[i], "test", &e));
    lra_dataset *d = lra_dataset_open(t, c, folder, NULL, &e);
    NOT_NULL(d);
    lra_config_free(c);
    return d;
}

/* Maps of 1,500 tokens exceed the size of a block. */
TEST(long_maps_are_measured_in_blocks)
{
    lra_err e = {{0}};
    lra_dataset *d = long_rows();
    lra_responder *r = planted(700, false, 0, STUB_none);
    lra_subject s = subject_on(r, d);
    lra_map_layers layers;
    OK(lra_map_layers_open(&s, &layers, &e));
    assert_int_equal(lra_map_batch(&s, &layers, 1500), 1);
    assert_in_range(lra_map_rows(&layers, 1, 1500), 1, 1499);
    lra_map_layers_free(&layers);
    lra_probe_result *x = measure(r, d);
    near(value(x, "conv.head0", "dist.mean"), 700, 1e-4);
    near(value(x, "conv.head1", "dist.q50"), 700, 1e-4);
    /* one layer: half of the rollout stays at the token itself */
    near(value(x, "model", "rollout.dist.mean"), 700, 1e-4);
    lra_probe_result_free(x);
    lra_responder_close(r);
    lra_dataset_free(d);
}

/* 80 % of each row on the first token, the rest on the token 3 back. */
TEST(a_sink_is_found_and_left_out)
{
    lra_dataset *d = long_rows();
    lra_responder *r = planted(3, false, 0.8, STUB_none);
    lra_probe_result *x = measure(r, d);
    assert_true(value(x, "conv.head1", "sink.max") > 0.75);
    near(value(x, "conv.head1", "sink.at"), 0, 0);
    near(value(x, "conv.head1", "dist.mean.nosink"), 3, 1e-5);
    assert_true(value(x, "conv.head1", "dist.mean") > 100);
    lra_probe_result_free(x);
    lra_responder_close(r);
    lra_dataset_free(d);
}

/* ---- wrong maps ------------------------------------------------------------------------------ */

/* The message of the measurement, and the rows of the check table that fail. */
static const struct {
    stub_fault fault;
    const char *message, *row, *cell;
} wrong[] = {{STUB_maps_sum, "head 0, row 0: the weights of the example's", "map rows sum to 1",
              "the sum differs from 1 by 1"},
             {STUB_maps_nan, "head 0, row 1, key 0: the weight is", "maps finite, >= 0",
              "layer 'conv', head 0, row 1, key 0: "},
             {STUB_maps_negative, "head 0, row 1, key 0: the weight is -0.1667",
              "maps finite, >= 0", "a weight of -0.3"},
             {STUB_maps_shape, "expected (4,H,16,16)", "attention maps", "expected (4,H,2,"},
             {STUB_maps_padding, "sum to 0.", "maps masked", "on padding"},
             {STUB_maps_future, "head 0, row 0, key 1: the weight of a later token is 0.2",
              "maps masked", "declared causal; layer 'conv', head 0, row 0: weight"}};

TEST(wrong_maps_are_named)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lra_err e = {{0}};
        lra_responder *r = planted(0, false, 0, wrong[i].fault);
        lra_subject s = subject_on(r, trained.run.data);
        lra_probe_result *x = empty_result("attention");
        int rc = lra_attention_of_model(&s, 0, x, &e);
        assert_int_equal(rc, LRA_FAILED);
        if (!strstr(e.msg, wrong[i].message)) fail_msg("%s", e.msg);
        assert_null(strchr(e.msg, '\n'));
        lra_probe_result_free(x);

        lra_loader *l = lra_subject_loader(&s, 0);
        const lra_request q = lra_subject_request(&s, lra_loader_get(l, 0));
        lra_check c;
        OK(lra_check_model(r, &(lra_check_spec){.examples = &q, .batch = 4}, &c, &e));
        int n = 0;
        for (int k = LRA_CHECK_maps; k <= LRA_CHECK_kernels; k++) {
            const lra_check_row *row = &c.row[k];
            if (row->outcome != LRA_CHECK_FAILED) continue;
            n++;
            assert_string_equal(row->label, wrong[i].row);
            if (!strstr(row->found, wrong[i].cell)) fail_msg("%s: %s", row->label, row->found);
            assert_string_equal(row->disables, "attention");
            assert_true(strlen(row->meaning) > 10 && strlen(row->cure) > 10);
        }
        assert_int_equal(n, 1);
        assert_false(lra_check_allows(&c, "attention"));
        assert_true(lra_check_allows(&c, "jacobian"));
        lra_check_free(&c);
        lra_loader_free(l);
        lra_responder_close(r);
    }
}

/* Weights without normalisation are measured if that is declared. */
TEST(rows_of_any_sum)
{
    lra_responder *r = planted(3, false, 0, STUB_maps_sum);
    r->facts.row_sums = LRA_ROWS_ANY;
    lra_probe_result *x = measure(r, trained.run.data);
    near(value(x, "conv.head0", "dist.mean"), 3, 1e-6);
    assert_non_null(strstr(x->settings, "weights=renormalised"));
    lra_probe_result_free(x);
    lra_responder_close(r);
}

/* ---- kernels --------------------------------------------------------------------------------- */

TEST(a_decay_is_recovered)
{
    lra_err e = {{0}};
    lra_dataset *d = long_rows();
    stub_spec spec = stub_spec_default();
    spec.tau = 40;
    lra_responder *r = stub_responder_new(&spec);
    lra_subject s = subject_on(r, d);
    lra_extract f;
    OK(lra_extract_of_model(&s, &f, &e));
    assert_int_equal(f.n, 1);
    lra_probe_result *x = empty_result("kernels");
    lra_kernels_measure(&f, 0, r->facts.uncovered, x);
    near(value(x, "conv", "decay.tau"), 40, 1e-3);
    near(value(x, "conv", "decay.exp"), 1, 0);
    /* energies exp(-2 d / tau) are a geometric distribution */
    double q = exp(-2. / 40);
    near(value(x, "conv", "range.mean"), q / (1 - q), 1e-3);
    near(value(x, "model", "decay.tau"), 40, 1e-3);
    near(value(x, "conv", "shift.w1"), 0, 1e-12);
    lra_probe_result_free(x);
    lra_extract_close(&f);
    lra_responder_close(r);
    lra_dataset_free(d);
}
