/* Distance limits r of all models. With r from T - 1 on, the outputs are bitwise equal to those
 * without limits; tokens farther than the sum of all limits have no effect on any bit, and the
 * nearest ones do have an effect; one plan works for every r. Tested by changing inputs, for every
 * model with its tiny settings and variants, and against known receptive fields under limits. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/features.h"
#include "kernels/graph/distance_limit.h"
#include "kernels/graph/op.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/sanitized.h"

enum { T = 24, MANY = 64 };
static const lra_type types[] = {LRA_F64, LRA_F32, LRA_BF16};

/* Returns a model case with one row for each token that is changed. */
static model_case usual(const lra_model *m, const char *variant, lra_type type)
{
    return (model_case){.model = m,
                        .variant = variant,
                        .type = type,
                        .vocab = TRIAL_VOCAB,
                        .B = T,
                        .T = T,
                        .T_max = T,
                        .what = MODEL_FORWARD};
}

/* Runs the model and returns its features, which the caller frees. changed: row t has another token
 * at position t. length: of all rows. limit may be NULL. */
static double *run(tiny_model *f, bool changed, int32_t length, const int32_t *limit)
{
    lra_err e = {{0}};
    int64_t n = f->is.T;
    int32_t *token = lra_alloc_array((size_t)(f->is.B * n), sizeof *token);
    int32_t *lengths = lra_alloc_array((size_t)f->is.B, sizeof *lengths);
    for (int64_t b = 0; b < f->is.B; b++) {
        lengths[b] = length;
        for (int64_t t = 0; t < n; t++)
            token[b * n + t] = (int32_t)((t * t + (changed && t == b)) % TRIAL_VOCAB);
    }
    model_set_tokens(f, lengths, token);
    if (limit && lra_set(f->plan, f->k.limit, limit, &e) != 0) fail_msg("%s", e.msg);
    model_run(f);
    lra_free(token);
    lra_free(lengths);
    return model_get(f, f->k.features);
}

/* Determines how many positions before and after a changed token have a changed bit; -1: none. */
static void find_reach(tiny_model *f, int32_t length, const int32_t *limit, int64_t reach[2])
{
    size_t D = (size_t)lra_width(f->k.features);
    double *h = run(f, false, length, limit), *other = run(f, true, length, limit);
    reach[0] = reach[1] = -1;
    for (int64_t at = 0; at < length; at++)
        for (int64_t t = 0; t < length; t++) {
            size_t row = (size_t)(at * f->is.T + t) * D;
            if (memcmp(h + row, other + row, D * sizeof *h) == 0) continue;
            int64_t away = t < at ? at - t : t - at;
            if (t <= at && away > reach[0]) reach[0] = away;
            if (t >= at && away > reach[1]) reach[1] = away;
        }
    lra_free(h);
    lra_free(other);
}

static void same_limit(const tiny_model *f, int32_t r, int32_t limit[MANY])
{
    assert_true(lra_elements(f->k.limit) <= MANY);
    for (int64_t i = 0; i < lra_elements(f->k.limit); i++) limit[i] = r;
}

/* Returns the number of operations that apply limits. */
static int count_limited(const tiny_model *f)
{
    int n = 0;
    while (lra_limits_at(f->k.graph, n)) n++;
    return n;
}

/* Sets the limits: of[k] is r of operation k, for all of its heads. */
static void limits_of_ops(const tiny_model *f, const int32_t *of, int32_t limit[MANY])
{
    int64_t n = 0;
    assert_true(lra_elements(f->k.limit) <= MANY);
    for (int i = 0; i < count_limited(f); i++)
        for (int64_t h = 0; h < lra_elements(lra_limits_at(f->k.graph, i)); h++) limit[n++] = of[i];
    assert_int_equal(n, lra_elements(f->k.limit));
}

/* ---- every model ----------------------------------------------------------------------------- */

static void whole_at_a_wide_limit(const lra_model *m, const char *variant, lra_type type, int32_t n)
{
    const int32_t wide[] = {n - 1, n, 1000, LRA_NO_LIMIT}, lengths[] = {n, 7};
    tiny_model plain, limited;
    model_case what = usual(m, variant, type);
    what.T = what.T_max = n;
    int32_t limit[MANY];
    model_open(&plain, &what);
    assert_null(plain.k.limit);
    what.limited = true, what.params = plain.params;
    model_open(&limited, &what);
    assert_non_null(limited.k.limit);
    for (size_t k = 0; k < 2; k++) {
        double *a = run(&plain, false, lengths[k], NULL);
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
            same_limit(&limited, wide[i], limit);
            double *b = run(&limited, false, lengths[k], limit);
            if (memcmp(a, b, (size_t)lra_elements(plain.k.features) * sizeof *a) != 0)
                fail_msg("%s %s: not the whole model at a limit of %d, type %d", m->name, variant,
                         (int)wide[i], (int)type);
            lra_free(b);
        }
        lra_free(a);
    }
    model_close(&limited);
    model_close(&plain);
}

static int depth_of(const tiny_model *f)
{
    return lra_limit_depth(f->k.graph, f->k.tokens);
}

static void nothing_from_beyond(const lra_model *m, const char *variant, lra_type type)
{
    static const int32_t narrow[] = {3, 0, 1, 2, 5}, lengths[] = {T, T - 5};
    tiny_model f;
    model_case what = usual(m, variant, type);
    int32_t limit[MANY];
    what.limited = true;
    model_open(&f, &what);
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        int64_t reach[2], most = narrow[i] * depth_of(&f);
        same_limit(&f, narrow[i], limit);
        find_reach(&f, lengths[i % 2], limit, reach);
        if (reach[0] > most || reach[1] > most || reach[0] < 0)
            fail_msg("%s %s: at a limit of %d a token changes %d before and %d behind it, type %d",
                     m->name, variant, (int)narrow[i], (int)reach[0], (int)reach[1], (int)type);
    }
    model_close(&f);
}

static bool obeys(const lra_model *m, const char *variant)
{
    lra_config *c = model_tiny(m, variant);
    bool limited = !lra_model_no_limit_reason(m, c);
    lra_config_free(c);
    return limited;
}

/* Returns true if the variant is tested in this type at the current level. Float64 has only one
 * level. With sanitizers only the best level is tested, and variants only in float64. */
static bool is_checked(const char *variant, lra_type type)
{
    int n = 0;
    while (lra_cpu_usable(n)) n++;
    bool best = strcmp(getenv("LRA_CPU"), lra_cpu_usable(n - 1)) == 0;
    if (type == LRA_F64) return best;
    return !sanitized || (best && !*variant);
}

static void check_model(const lra_model *m, const char *variant)
{
    if (!obeys(m, variant)) return;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!is_checked(variant, types[i])) continue;
        whole_at_a_wide_limit(m, variant, types[i], T);
        nothing_from_beyond(m, variant, types[i]);
    }
}

TEST(every_model_obeys)
{
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        each_model(check_model);
    }
    unsetenv("LRA_CPU");
}

/* Attention handles whole tiles by another loop than those at the ends of rows. */
TEST(long_rows_obey)
{
    static const lra_model *const long_models[] = {&lra_model_transformer, &lra_model_alibi};
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        for (int i = 0; i < 2; i++) whole_at_a_wide_limit(long_models[i], "", LRA_F32, 150);
    }
    unsetenv("LRA_CPU");
}

/* ---- by hand --------------------------------------------------------------------------------- */

typedef struct {
    const lra_model *model;
    const char *variant;
    int32_t limit[3];
    int64_t before, behind; /* number of positions before and after a token that it affects */
} known;

/* Every layer has its own limit. A limit between two taps excludes the outer one; a limit larger
 * than the kernel has no effect. */
static const known cases[] = {
    {&lra_model_resconv, "layers=2 kernel=7", {2, 2}, 4, 4},
    {&lra_model_resconv, "layers=2 kernel=7", {1, 3}, 4, 4},
    {&lra_model_resconv, "layers=2 kernel=7", {0, 2}, 2, 2},
    {&lra_model_resconv, "layers=2 kernel=3", {5, 5}, 2, 2},
    /* the taps are 1, 3 and 4 positions apart */
    {&lra_model_resconv, "layers=3 kernel=3 dilation=4", {9, 9, 9}, 8, 8},
    {&lra_model_resconv, "layers=3 kernel=3 dilation=4", {9, 9, 3}, 4, 4},
    {&lra_model_resconv, "layers=3 kernel=3 dilation=4", {9, 2, 4}, 5, 5},
    {&lra_model_resconv, "layers=2 kernel=5 dilation=2 causal=1", {3, 5}, 0, 7},
    {&lra_model_resconv, "layers=2 kernel=5 dilation=2 causal=1 groups=2", {9, 0}, 0, 4},
    {&lra_model_resconv, "layers=1 kernel=1", {0}, 0, 0},
    {&lra_model_s4d, "", {3, 2}, 5, 5},
    {&lra_model_s4d, "", {0, 1}, 1, 1},
    {&lra_model_s4d, "causal=1", {4, 2}, 0, 6},
    {&lra_model_transformer, "", {3, 2}, 5, 5},
    {&lra_model_transformer, "positions=none norm=post", {0, 1}, 1, 1},
    {&lra_model_transformer, "positions=learned causal=1", {4, 2}, 0, 6},
    {&lra_model_transformer, "layers=3", {1, 0, 2}, 3, 3},
    {&lra_model_transformer, "layers=1", {T - 2}, T - 2, T - 2},
    {&lra_model_s4d, "layers=1", {T - 2}, T - 2, T - 2},
    {&lra_model_longformer, "layers=1 window=8", {T}, 4, 3},
    {&lra_model_longformer, "layers=2 window=8", {2, 9}, 6, 5},
    /* strided layout: attends to every 7th position */
    {&lra_model_local, "layers=1 block=4 layout=strided", {13}, 7, 7},
    {&lra_model_local, "layers=1 block=4 layout=strided", {6}, 0, 0},
    {&lra_model_local, "layers=1 block=4 layout=strided", {T}, 21, 21},
    {&lra_model_spt_local, "layers=1 block=3", {T}, 5, 5},
    {&lra_model_spt_local, "layers=1 block=3", {4}, 4, 4},
    {&lra_model_alibi, "layers=2 chunk=5", {3, 2}, 0, 4},
    /* The limits are those of attention, state space, attention. */
    {&lra_model_spade, "layers=2 radius=5", {3, 1, 2}, 5, 5},
    {&lra_model_spade, "layers=2 radius=3", {T, 8, T}, 11, 11},
    {&lra_model_spade, "layers=2 radius=5 causal=1", {3, 6, 0}, 0, 6},
    /* Moving averages neither extend nor reduce the reach. */
    {&lra_model_las, "layers=2 average=5", {3, 2}, 0, 5},
    {&lra_model_s, "layers=1 average=5", {T - 2}, 0, T - 2},
    {&lra_model_smooth_alibi, "layers=1 average=3 chunk=5", {9}, 0, 4},
    {&lra_model_las, "layers=1 alpha=geo smoothing=centred average=5", {4}, 2, 4},
    {&lra_model_las, "layers=1 alpha=geo smoothing=centred average=5", {1}, 1, 1},
    {&lra_model_las, "layers=1 smoothing=centred-remask", {4}, 0, 4},
    {&lra_model_linear_transformer, "", {3, 2}, 5, 5},
    {&lra_model_performer, "layers=1", {T - 2}, T - 2, T - 2},
    {&lra_model_lstm, "layers=2", {3, 2}, 0, 5},
    {&lra_model_lstm, "layers=1", {T - 2}, 0, T - 2},
    /* limits of the forward and the backward direction */
    {&lra_model_lstm, "layers=1 directions=2", {3, 1}, 1, 3},
};

static void check_known(const known *k, lra_type type)
{
    tiny_model f;
    model_case what = usual(k->model, k->variant, type);
    int64_t reach[2];
    int32_t limit[MANY];
    what.limited = true;
    model_open(&f, &what);
    limits_of_ops(&f, k->limit, limit);
    find_reach(&f, T, limit, reach);
    if (reach[0] != k->before || reach[1] != k->behind)
        fail_msg("%s %s, limits %d %d %d: a token changes %d before and %d behind it, expected %d "
                 "and %d",
                 k->model->name, k->variant, (int)k->limit[0], (int)k->limit[1], (int)k->limit[2],
                 (int)reach[0], (int)reach[1], (int)k->before, (int)k->behind);
    model_close(&f);
}

TEST(reach_under_a_limit_is_known)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int type = 0; type < 2; type++) check_known(&cases[i], types[type]);
}

/* Number of consecutive limited operations; parallel ones, and the two nodes of a long convolution,
 * count once. */
TEST(depth_is_known)
{
    static const struct {
        const lra_model *model;
        const char *variant;
        int depth;
    } of[] = {{&lra_model_resconv, "layers=3 kernel=3", 3},
              {&lra_model_transformer, "layers=2", 2},
              {&lra_model_s4d, "layers=2", 2},
              {&lra_model_s4d, "layers=3 causal=1", 3},
              {&lra_model_longconv, "layers=2", 2},
              {&lra_model_tnn, "layers=2", 2},
              {&lra_model_lru, "layers=2", 2},
              {&lra_model_lstm, "layers=2 directions=2", 2},
              /* each layer is a moving average followed by attention */
              {&lra_model_mega, "layers=2", 4},
              {&lra_model_h3, "layers=2", 4}, /* each layer is a shift followed by a state space */
              {&lra_model_las, "layers=2 average=5", 2}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        tiny_model f;
        model_case what = usual(of[i].model, of[i].variant, LRA_F32);
        what.limited = true;
        model_open(&f, &what);
        if (depth_of(&f) != of[i].depth)
            fail_msg("%s %s: depth %d, expected %d", of[i].model->name, of[i].variant, depth_of(&f),
                     of[i].depth);
        model_close(&f);
    }
}

/* One layer of two heads: if one head has the limit 0, the reach of the layer is that of the other
 * head. */
TEST(heads_have_limits_of_their_own)
{
    static const struct {
        const lra_model *model;
        const char *variant;
        int64_t behind; /* number of positions after a token that it affects with a limit of 5 */
    } pairs[] = {{&lra_model_transformer, "layers=1 positions=none heads=2", 5},
                 {&lra_model_local, "layers=1 block=4 layout=strided heads=2", 0},
                 {&lra_model_longformer, "layers=1 window=12 heads=2", 5},
                 {&lra_model_las, "layers=1 average=3 heads=2", 5},
                 {&lra_model_performer, "layers=1 positions=none heads=2", 5}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int type = 0; type < 2; type++)
            for (int wide = 0; wide < 2; wide++) {
                tiny_model f;
                model_case what = usual(pairs[i].model, pairs[i].variant, types[type]);
                int64_t reach[2];
                int32_t limit[2] = {wide ? 0 : 5, wide ? 5 : 0};
                what.limited = true;
                model_open(&f, &what);
                assert_int_equal(lra_elements(f.k.limit), 2);
                find_reach(&f, T, limit, reach);
                if (reach[1] != pairs[i].behind)
                    fail_msg("%s %s, limits %d and %d: a token changes %d behind it, expected %d",
                             pairs[i].model->name, pairs[i].variant, (int)limit[0], (int)limit[1],
                             (int)reach[1], (int)pairs[i].behind);
                model_close(&f);
            }
}

/* ---- a window is the example ----------------------------------------------------------------- */

/* One layer without position encodings: its output at a position under a limit is equal to the
 * output without a limit for an example that consists only of the positions within the limit. */
static void check_window(const lra_model *m, const char *variant, int r)
{
    model_case what = usual(m, variant, LRA_F64);
    tiny_model limited, plain;
    lra_err e = {{0}};
    int32_t limit[MANY], length[T], token[T * T] = {0};
    what.limited = true;
    model_open(&limited, &what);
    what.limited = false, what.params = limited.params;
    model_open(&plain, &what);
    same_limit(&limited, r, limit);
    int n = T - 3;
    double *near = run(&limited, false, n, limit);
    for (int i = 0; i < T; i++) {
        int low = i > r ? i - r : 0, high = i + r + 1 < n ? i + r + 1 : n;
        length[i] = i < n ? high - low : 1;
        for (int t = low; t < high && i < n; t++) token[i * T + t - low] = t * t % TRIAL_VOCAB;
    }
    model_set_tokens(&plain, length, token);
    OK(lra_run(plain.plan, &e));
    double *alone = model_get(&plain, plain.k.features);
    int64_t D = lra_width(plain.k.features);
    for (int i = 0; i < n; i++) {
        int low = i > r ? i - r : 0;
        for (int64_t d = 0; d < D; d++) {
            double is = near[i * D + d], wanted = alone[(i * T + i - low) * D + d];
            if (!(fabs(is - wanted) < 1e-12))
                fail_msg("%s %s, limit %d: %g at token %d, expected %g", m->name, variant, r, is, i,
                         wanted);
        }
    }
    lra_free(near);
    lra_free(alone);
    model_close(&plain);
    model_close(&limited);
}

TEST(a_window_is_the_example)
{
    static const struct {
        const lra_model *model;
        const char *variant;
    } windows[] = {{&lra_model_las, "layers=1 average=5"},
                   {&lra_model_las, "layers=1 alpha=geo smoothing=centred average=5"},
                   {&lra_model_las, "layers=1 alpha=geo smoothing=centred-renorm average=5"},
                   {&lra_model_las, "layers=1 alpha=geo smoothing=centred-remask average=5"},
                   {&lra_model_s, "layers=1 average=2"},
                   {&lra_model_smooth_alibi, "layers=1 average=3"},
                   {&lra_model_linear_transformer, "layers=1 positions=none"},
                   {&lra_model_performer, "layers=1 positions=none"},
                   {&lra_model_transformer, "layers=1 positions=none"},
                   {&lra_model_lstm, "layers=1"},
                   {&lra_model_lstm, "layers=1 directions=2"}};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        for (int r = 0; r < T - 1; r += 4) check_window(windows[i].model, windows[i].variant, r);
}

/* Returns true if all operations have gradients. Those that visit single pairs have none, and
 * report it. */
static bool has_gradients(const model_case *what)
{
    static const lra_op *const none[] = {&lra_op_attention_windowed, &lra_op_lstm_windowed};
    tiny_model f;
    lra_err e = {{0}};
    int found = 0;
    model_open(&f, what);
    for (int k = 0; k < 2 && found == 0; k++) found = lra_graph_nodes(f.k.graph, none[k], 0, NULL);
    model_close(&f);
    if (found == 0) return true;
    lra_config *c = model_tiny(what->model, "");
    const lra_network_spec s = {.vocab = TRIAL_VOCAB, .outputs = 2, .limited = true};
    lra_network k = lra_network_build(LRA_F64, LRA_TRAIN, what->model, c, &s, 1, 8);
    lra_tensor *dx;
    lra_grad(k.loss, NULL, 1, &k.inputs, &dx);
    assert_int_equal(lra_graph_check(k.graph, &e), -1);
    assert_non_null(strstr(e.msg, "_windowed"));
    lra_graph_free(k.graph);
    lra_config_free(c);
    return false;
}

/* Gradients differ between distance limits; op_test checks their values (ops *_windowed). */
TEST(gradients_under_a_limit)
{
    for (int i = 0; lra_model_at(i); i++) {
        tiny_model f;
        model_case what = usual(lra_model_at(i), "", LRA_F64);
        if (!obeys(what.model, "")) continue;
        what.limited = true;
        if (!has_gradients(&what)) continue;
        what.what = MODEL_GRADIENTS;
        model_open(&f, &what);
        int32_t limit[MANY];
        double part[2] = {0};
        for (int wide = 0; wide < 2; wide++) {
            same_limit(&f, wide ? T : 0, limit);
            lra_free(run(&f, false, T, limit));
            for (int k = 0; k < f.n; k++) {
                double *g = model_get(&f, f.grad[k]);
                for (int64_t j = 0; j < lra_elements(f.grad[k]); j++) part[wide] += g[j] * g[j];
                lra_free(g);
            }
        }
        assert_true(part[0] > 0 && part[1] > 0 && part[0] != part[1]);
        model_close(&f);
    }
}

/* ---- who cannot ------------------------------------------------------------------------------ */

static lra_tensor *encode_sum(const lra_build *b, lra_tensor *x)
{
    (void)b;
    return lra_cumsum(x, 1, false);
}

TEST(others_say_so)
{
    lra_err e = {{0}};
    const lra_key keys[] = {LRA_INT_KEY("width", "4", 1, 64, ""), LRA_KEYS_END};
    const lra_model sums = {.name = "sums",
                            .keys = keys,
                            .encode = encode_sum,
                            .no_limit_reason = "its sums run over all positions"};
    lra_config *c = lra_keys_config(keys);
    lra_network_spec s = {.vocab = 5, .outputs = 2, .limited = true};
    lra_network k = lra_network_build(LRA_F32, LRA_EVAL, &sums, c, &s, 1, 8);
    assert_int_equal(lra_graph_check(k.graph, &e), -1);
    assert_string_equal(e.msg, "a distance limit is undefined: its sums run over all positions");
    lra_graph_free(k.graph);
    lra_config_free(c);
    c = lra_keys_config(lra_model_tnn.keys);
    /* limits are undefined only for some settings */
    assert_null(lra_model_no_limit_reason(&lra_model_tnn, c));
    lra_config_set_int(c, "columns", 4);
    k = lra_network_build(LRA_F32, LRA_EVAL, &lra_model_tnn, c, &s, 1, 8);
    assert_int_equal(lra_graph_check(k.graph, &e), -1);
    assert_string_equal(
        e.msg, "a distance limit is undefined: its rows and columns have separate distances");
    lra_graph_free(k.graph);
    lra_config_free(c);
}
