/* The answer `ready` of a model: keys about layers, windows, limits and positions are read, and
 * wrong ones are refused with a message that names them. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "probes/audit/ready.h"

static const lra_model_task task = {
    .task = "made-up", .classes = 3, .vocab = 12, .length = 20, .towers = 1};

/* Reads `ready` with two layers of attention and these lines "key=value". Returns the code. */
static int read_keys(const char *lines, lra_ready *r, lra_err *e)
{
    lra_message m = {.op = "ready", .id = 0};
    m.t.meta = lra_config_new();
    char *all = lra_format("protocol=1\nops=forward features vjp attn\nclasses=3\nvocab=12\n"
                           "attn_layers=one two\n%s",
                           lines);
    for (char *at = all, *end; *at; at = end) {
        char *value = strchr(at, '=');
        end = at + strcspn(at, "\n");
        if (*end) *end++ = 0;
        *value = 0;
        lra_config_set(m.t.meta, at, value + 1);
    }
    int rc = lra_ready_read(&m, &task, r, e);
    lra_config_free(m.t.meta);
    lra_free(all);
    return rc;
}

TEST(windows)
{
    static const struct {
        const char *line;
        int64_t window[4];
    } known[] = {{"attn_window=4:0", {4, 0, 4, 0}},
                 {"attn_window=7", {7, 7, 7, 7}},
                 {"attn_window=- 999999999999:2", {-1, -1, 999999999999, 2}},
                 {"attn_window=0 -", {0, 0, -1, -1}}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        lra_err e = {{0}};
        lra_ready r;
        OK(read_keys(known[k].line, &r, &e));
        assert_memory_equal(r.facts.window, known[k].window, sizeof known[k].window);
        lra_ready_free(&r);
    }
    lra_err e = {{0}};
    lra_ready r;
    OK(read_keys("", &r, &e));
    assert_null(r.facts.window);
    lra_ready_free(&r);
}

TEST(keys_of_layers_and_limits)
{
    lra_err e = {{0}};
    lra_ready r;
    OK(read_keys("feature_layers=hidden.1 hidden.2\nlimits=attention\nlimit_depth=2\n"
                 "limit_layers=hidden.2\npositions=0\nperiod=8",
                 &r, &e));
    assert_int_equal(r.facts.n_feature_layers, 2);
    assert_string_equal(r.facts.feature_layer[1], "hidden.2");
    assert_true(r.facts.limits == LRA_LIMITS_ATTENTION && r.facts.limit_depth == 2);
    assert_string_equal(r.facts.limit_layer[0], "hidden.2");
    assert_true(r.facts.no_positions && r.facts.period == 8 && r.facts.any_length);
    /* what is written is read */
    lra_config *meta = lra_config_new();
    lra_ready_meta(&r.facts, 0, meta);
    static const char *const same[] = {"feature_layers", "limits",    "limit_depth",
                                       "limit_layers",   "positions", "period"};
    for (int k = 0; k < 6; k++)
        assert_string_equal(lra_config_text_or(meta, same[k], "missing"),
                            lra_config_text_or(r.meta, same[k], "none"));
    lra_config_free(meta);
    lra_ready_free(&r);
    OK(read_keys("fixed_length=20", &r, &e));
    assert_true(!r.facts.any_length && r.facts.limits == LRA_LIMITS_NONE &&
                r.facts.n_feature_layers == 0 && !r.facts.no_positions);
    lra_ready_free(&r);
}

TEST(wrong_keys)
{
    static const char *const wrong[][2] = {
        {"attn_window=4:", "'attn_window' has '4:'"},
        {"attn_window=:4", "'attn_window' has ':4'"},
        {"attn_window=1:2:3", "'attn_window' has '1:2:3'"},
        {"attn_window=-1", "'attn_window' has '-1'"},
        {"attn_window=1234567890123", "'attn_window' has '1234567890123'"},
        {"attn_window=1 2 3", "'attn_window' has 3 words, expected 1 or one for each of 2 layers"},
        {"limits=some", "'limits' is 'some', expected attention or layers"},
        {"limit_depth=-3", "limit_depth"},
        {"period=x", "period"},
        {"ops=logprob\nnext=1", "log-probabilities of given tokens are not enough"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        lra_err e = {{0}};
        lra_ready r;
        assert_int_equal(read_keys(wrong[k][0], &r, &e), LRA_FAILED);
        if (!strstr(e.msg, wrong[k][1])) fail_msg("%s: %s", wrong[k][0], e.msg);
        lra_ready_free(&r);
    }
}
