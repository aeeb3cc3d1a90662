/* The checks of lra-probe audit: each fault of a model fails the check for this fault, and a
 * correct model fails none. */
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "probes/audit/check.h"
#include "tests/fixtures/stub_responder.h"
#include "tests/fixtures/test.h"

enum { B = 200, T = 24, F_MOST = 12 };

typedef struct {
    int32_t token[B * T], length[B], label[B];
    float value[B * T * F_MOST];
    lra_request q;
} examples;

/* Makes random inputs; labels are the predictions of the model without a fault, or random if
 * `shuffled`. */
static examples *make(stub_spec s, uint64_t seed, bool shuffled)
{
    lra_err e = {{0}};
    examples *x = lra_alloc(sizeof *x);
    lra_rng rng = lra_rng_new(seed, 77, 0);
    for (int i = 0; i < B * T; i++) x->token[i] = (int32_t)lra_rng_below(&rng, 12);
    for (int i = 0; i < B; i++) x->length[i] = 6 + (int32_t)lra_rng_below(&rng, T - 5);
    for (int i = 0; i < B * T * F_MOST; i++) x->value[i] = (float)(2 * lra_rng_u01(&rng) - 1);
    x->q = (lra_request){.B = B,
                         .T = T,
                         .towers = 1,
                         .token = s.vocab ? x->token : NULL,
                         .value = s.vocab ? NULL : x->value,
                         .width = s.vocab ? 0 : s.width,
                         .length = x->length};
    s.fault = STUB_none;
    lra_responder *r = stub_responder_new(&s);
    float *logits = lra_alloc_array((size_t)(B * s.classes), sizeof *logits);
    OK(r->is->forward(r, &x->q, logits, &e));
    for (int64_t i = 0; i < B; i++) {
        for (int64_t c = 1; c < s.classes; c++)
            if (logits[i * s.classes + c] > logits[i * s.classes + x->label[i]])
                x->label[i] = (int32_t)c;
        if (shuffled) x->label[i] = (int32_t)lra_rng_below(&rng, (uint32_t)s.classes);
    }
    lra_free(logits);
    lra_responder_close(r);
    return x;
}

static int check(stub_spec s, uint64_t seed, bool shuffled, int64_t batch, lra_check *out,
                 lra_err *e)
{
    examples *x = make(s, seed, shuffled);
    lra_responder *r = stub_responder_new(&s);
    lra_check_spec spec = {.examples = &x->q, .label = x->label, .batch = batch, .seed = seed};
    int rc = lra_check_model(r, &spec, out, e);
    lra_responder_close(r);
    lra_free(x);
    return rc;
}

/* Returns the names of the failed checks in order, separated by commas. */
static char *failed(const lra_check *c)
{
    lra_text t = {0};
    for (int i = 0; i < LRA_N_CHECKS; i++)
        if (c->row[i].outcome == LRA_CHECK_FAILED)
            lra_text_add(&t, "%s%s", t.n ? ", " : "", c->row[i].label);
    return t.s ? t.s : lra_copy_text("");
}

static void expect(stub_spec s, const char *rows)
{
    lra_err e = {{0}};
    lra_check c;
    OK(check(s, 1, false, 16, &c, &e));
    char *is = failed(&c);
    if (strcmp(is, rows) != 0) {
        lra_check_print(&c, stderr);
        fail_msg("failed: '%s', expected '%s'", is, rows);
    }
    for (int i = 0; i < LRA_N_CHECKS; i++)
        if (c.row[i].outcome == LRA_CHECK_FAILED)
            assert_true(c.row[i].meaning && c.row[i].cure && c.row[i].disables);
    lra_free(is);
    lra_check_free(&c);
}

static stub_spec with(stub_fault fault)
{
    stub_spec s = stub_spec_default();
    s.fault = fault;
    return s;
}

TEST(each_fault_fails_its_row)
{
    expect(with(STUB_nan), "finite");
    expect(with(STUB_random), "deterministic");
    expect(with(STUB_leak_padding), "padding invariance");
    expect(with(STUB_ignore_keep), "keep honoured");
    for (int wrong = 0; wrong < 2; wrong++) {
        stub_spec s = with(wrong ? STUB_wrong_head : STUB_none);
        s.head = true;
        expect(s, wrong ? "head of the features" : "");
    }
    /* the features differ from those for which labels were computed */
    expect(with(STUB_look_ahead), "causal as declared, accuracy");
    expect(with(STUB_wrong_vjp), "gradient");
    expect(with(STUB_detached), "gradient");
    expect(with(STUB_permuted), "accuracy");
    expect(with(STUB_constant), "accuracy");
}

/* A wrong accuracy disables only measurements that use labels. */
TEST(an_accuracy_disables_gains_alone)
{
    lra_err e = {{0}};
    lra_check c;
    OK(check(with(STUB_permuted), 1, false, 16, &c, &e));
    assert_true(lra_check_allows(&c, "keep") && lra_check_allows(&c, "order-in"));
    assert_false(lra_check_allows(&c, "gains"));
    lra_check_free(&c);
    OK(check(with(STUB_constant), 1, false, 16, &c, &e));
    assert_true(lra_check_allows(&c, "keep") && lra_check_allows(&c, "gains"));
    lra_check_free(&c);
}

/* Differences that grow with each call are told apart from random ones. */
TEST(a_model_that_changes_with_each_call)
{
    static const stub_fault fault[] = {STUB_drifts, STUB_random};
    for (int i = 0; i < 2; i++) {
        lra_err e = {{0}};
        lra_check c;
        OK(check(with(fault[i]), 1, false, 16, &c, &e));
        const lra_check_row *row = &c.row[LRA_CHECK_deterministic];
        assert_int_equal(row->outcome, LRA_CHECK_FAILED);
        assert_true(!strstr(row->meaning, "changes with each call") == (i == 1));
        lra_check_free(&c);
    }
}

TEST(batch_statistics)
{
    lra_err e = {{0}};
    lra_check c;
    OK(check(with(STUB_batch_statistics), 1, false, 16, &c, &e));
    assert_int_equal(c.row[LRA_CHECK_batch].outcome, LRA_CHECK_FAILED);
    assert_false(lra_check_allows(&c, "jacobian"));
    lra_check_free(&c);
}

TEST(gradients_of_values)
{
    stub_spec s = with(STUB_none);
    s.vocab = 0, s.width = 2;
    expect(s, "");
    s.fault = STUB_wrong_vjp;
    expect(s, "gradient");
    s.width = F_MOST;
    expect(s, "gradient");
    s.fault = STUB_none;
    expect(s, "");
}

/* A correct model of any kind fails no check, for any examples. */
TEST(nothing_wrong)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        lra_err e = {{0}};
        lra_check c;
        stub_spec s = with(STUB_none);
        s.causal = seed % 2;
        s.K = 1 + (int64_t)(seed % 7);
        s.classes = 2 + (int64_t)(seed % 5);
        if (seed % 3 == 0) s.vocab = 0, s.width = 1 + (int64_t)(seed % 4);
        OK(check(s, seed, false, 16, &c, &e));
        char *is = failed(&c);
        if (*is) {
            lra_check_print(&c, stderr);
            fail_msg("seed %d: '%s' failed", (int)seed, is);
        }
        assert_true(lra_check_allows(&c, "jacobian"));
        assert_true(c.examples_per_second > 0);
        lra_free(is);
        lra_check_free(&c);
    }
}

TEST(permutation_is_named)
{
    lra_err e = {{0}};
    lra_check c;
    OK(check(with(STUB_permuted), 1, false, 16, &c, &e));
    const char *found = c.row[LRA_CHECK_accuracy].found;
    if (!strstr(found, "1.000 if output 0 is label 2, output 1 is label 0, output 2 is label 1"))
        fail_msg("%s", found);
    assert_false(lra_check_allows(&c, "gains"));
    assert_true(lra_check_allows(&c, "jacobian"));
    lra_check_free(&c);
}

/* If labels are independent of the inputs, a permutation of labels is reported as often as the
 * significance level of the test. */
TEST(no_permutation_of_noise)
{
    int named = 0, passed = 0;
    enum { SEEDS = 200 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        lra_err e = {{0}};
        lra_check c;
        stub_spec s = with(STUB_none);
        s.D = 2, s.K = 1, s.classes = 4;
        OK(check(s, seed, true, 64, &c, &e));
        named += strstr(c.row[LRA_CHECK_accuracy].found, " if output ") != NULL;
        passed += c.row[LRA_CHECK_accuracy].outcome == LRA_CHECK_PASSED;
        lra_check_free(&c);
    }
    /* 2 are expected (1 % of 200); more than 7 have the probability 0.1 % */
    assert_in_range(named, 0, 7);
    assert_in_range(passed, 0, 7);
}

TEST(a_model_that_does_not_answer)
{
    lra_err e = {{0}};
    lra_check c;
    assert_int_equal(check(with(STUB_no_memory), 1, false, 16, &c, &e), LRA_FAILED);
    assert_non_null(strstr(e.msg, "out of memory"));
    assert_int_equal(c.row[LRA_CHECK_handshake].outcome, LRA_CHECK_FAILED);
    assert_false(lra_check_allows(&c, "jacobian"));
    lra_check_free(&c);
    OK(check(with(STUB_out_of_memory), 1, false, 3, &c, &e));
    assert_int_equal(c.row[LRA_CHECK_batch].outcome, LRA_CHECK_PASSED);
    lra_check_free(&c);
}

/* Checks that cannot be made give a reason and do not fail. */
TEST(left_out)
{
    lra_err e = {{0}};
    lra_check c;
    stub_spec s = stub_spec_default();
    examples *x = make(s, 1, false);
    lra_responder *r = stub_responder_new(&s);
    r->facts.answers = LRA_ANSWERS_FORWARD;
    r->facts.mask = false;
    lra_check_spec spec = {.examples = &x->q, .batch = 1, .longest = T, .seed = 1};
    OK(lra_check_model(r, &spec, &c, &e));
    static const int rows[] = {LRA_CHECK_batch, LRA_CHECK_keep, LRA_CHECK_causal,
                               LRA_CHECK_gradient, LRA_CHECK_accuracy};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(c.row[rows[i]].outcome, LRA_CHECK_LEFT_OUT);
        assert_true(c.row[rows[i]].found && *c.row[rows[i]].found);
    }
    assert_int_equal(c.row[LRA_CHECK_padding].outcome, LRA_CHECK_PASSED);
    lra_check_free(&c);
    lra_responder_close(r);
    lra_free(x);
}
