/* State after an update: the bf16 copies of changed parameters, parameters without weight decay; if
 * the update is not finite, everything is unchanged. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"
#include "tests/fixtures/tiny_model.h"

static const lra_adamw_spec usual = {0.9, 0.999, 1e-8, 0.1, 0, 0.01};

static void check(int rc, const lra_err *e)
{
    if (rc != 0) fail_msg("%s", e->msg);
}

static void set(lra_plan *plan, const lra_tensor *x, const void *host)
{
    lra_err e = {{0}};
    check(lra_set(plan, x, host, &e), &e);
}

static void run(lra_plan *plan)
{
    lra_err e = {{0}};
    check(lra_run(plan, &e), &e);
}

static void set_step(lra_plan *plan, lra_graph *g, float rate)
{
    const lra_step step = {.seed = 1, .rate = rate};
    set(plan, lra_step_input(g), &step);
}

/* ---- shadows --------------------------------------------------------------------------------- */

enum { N = 96 }; /* N^2 elements are updated in several pieces */

static float rounded(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The product of the identity with a weight gives its bf16 copy. */
TEST(shadows_follow_their_parameters)
{
    for (int threads = 1; threads <= 2; threads++) {
        lra_err e = {{0}};
        lra_device device;
        check(lra_cpu_device(&device, threads, &e), &e);
        lra_graph *g = lra_graph_new(LRA_BF16, LRA_TRAIN);
        lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(N, N));
        lra_tensor *w = lra_param(g, "w", LRA_SHAPE(N, N), LRA_SPEC(LRA_NORMAL(1)));
        lra_tensor *y = lra_linear(lra_cast(x, LRA_BF16), w, NULL, LRA_ACT_NONE, NULL);
        lra_tensor *target = lra_input(g, "target", LRA_F32, LRA_SHAPE(N, N));
        lra_tensor *out[] = {lra_cast(y, LRA_F32), NULL};
        out[1] = lra_adamw(lra_mse(out[0], target), 1, &w, &usual);
        lra_params *params = lra_params_new(&device, 1);
        lra_space *space = lra_space_new(&device);
        lra_plan *plan = lra_plan_new(g, params, space, 2, out, &e);
        NOT_NULL(plan);
        lra_plan_threads(plan, threads);
        static float unit[N * N], none[N * N], before[N * N], after[N * N], seen[N * N];
        for (int i = 0; i < N; i++) unit[i * N + i] = 1;
        set(plan, x, unit);
        set(plan, target, none);
        for (int i = 0; i < 3; i++) {
            check(lra_params_get(params, "w", before, &e), &e);
            set_step(plan, g, 0.1f);
            run(plan);
            check(lra_get(plan, out[0], seen, &e), &e);
            for (int k = 0; k < N * N; k++)
                if (seen[k] != rounded(before[k]))
                    fail_msg("step %d: element %d is read as %.9g, it is %.9g", i, k,
                             (double)seen[k], (double)before[k]);
            check(lra_params_get(params, "w", after, &e), &e);
            int moved = 0;
            for (int k = 0; k < N * N; k++) moved += rounded(before[k]) != rounded(after[k]);
            assert_true(moved > N * N / 2);
        }
        lra_plan_free(plan);
        lra_space_free(space);
        lra_params_free(params);
        lra_graph_free(g);
    }
}

/* ---- decay ----------------------------------------------------------------------------------- */

static const char *last_word(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_one_of(const char *word, int n, const char *const *list)
{
    for (int i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0) return true;
    return false;
}

/* Returns the initial value of element j of parameter i. No value is 0, because decay would have no
 * effect on it, and no two arrays are equal, because they could cancel. */
static float start_of(int i, int64_t j)
{
    return 0.5f + 0.01f * (float)(j % 7) + 0.003f * (float)(i % 11);
}

/* Without a gradient an update consists of the weight decay alone: p - rate decay p; biases and
 * norms do not change. */
static void check_decay(const lra_model *m, const lra_config *c, lra_head head, int64_t vocab)
{
    static const char *const stay[] = {"b", "bias", "gain"}, *const fall[] = {"w", "kernel"};
    enum { T = 8, B = 2 };
    lra_err e = {{0}};
    lra_device device;
    check(lra_cpu_device(&device, 1, &e), &e);
    const lra_network_spec spec = {
        .head = head, .vocab = vocab, .channels = vocab ? 0 : 2, .outputs = 3};
    lra_network k = lra_network_build(LRA_F32, LRA_TRAIN, m, c, &spec, B, T);
    int n = lra_graph_params(k.graph, NULL), kept = 0, fallen = 0;
    lra_tensor **param = lra_alloc_array((size_t)n, sizeof *param);
    lra_graph_params(k.graph, param);
    lra_tensor *update = lra_adamw(lra_affine(k.loss, 0, 0), n, param, &usual);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(k.graph, params, space, 1, &update, &e);
    NOT_NULL(plan);
    for (int i = 0; i < n; i++) {
        int64_t size = lra_elements(param[i]);
        float *v = lra_alloc_array((size_t)size, sizeof *v);
        for (int64_t j = 0; j < size; j++) v[j] = start_of(i, j);
        check(lra_params_set(params, lra_tensor_path(param[i]), v, &e), &e);
        lra_free(v);
    }
    const int32_t length[] = {T, T, T, T};
    static const int32_t token[2 * B * T], label[B * T];
    static const float value[2 * B * T * 2];
    if (k.tokens) set(plan, k.tokens, token);
    if (k.values) set(plan, k.values, value);
    set(plan, k.length, length);
    set(plan, k.label, label);
    set_step(plan, k.graph, 0.5f);
    run(plan);
    for (int i = 0; i < n; i++) {
        const char *path = lra_tensor_path(param[i]), *name = last_word(path);
        int64_t size = lra_elements(param[i]);
        float *v = lra_alloc_array((size_t)size, sizeof *v);
        check(lra_params_get(params, path, v, &e), &e);
        bool state_space = strstr(
            path, "/ssm/"); /* its parameters have learning rates of their own and no decay */
        bool stays = is_one_of(name, 3, stay), falls = !state_space && is_one_of(name, 2, fall);
        if (strstr(path, "/s5/")) { /* parameter groups as published; b is the input matrix */
            const char *groups = lra_config_text(c, "groups");
            bool none = strcmp(groups, "nobcdecay") == 0, b = strcmp(name, "b") == 0;
            stays = b ? none || strcmp(groups, "standard") == 0 : none && strcmp(name, "c") == 0;
            falls = !none && (strcmp(name, "c") == 0 || strcmp(name, "skip") == 0);
        }
        for (int64_t j = 0; j < size; j++) {
            float start = start_of(i, j);
            if (stays && v[j] != start)
                fail_msg("%s: '%s' decays: %.9g was %.9g", m->name, path, (double)v[j],
                         (double)start);
            if (falls && !(fabsf(v[j] - 0.95f * start) < 1e-6f))
                fail_msg("%s: '%s' is %.9g, expected %.9g", m->name, path, (double)v[j],
                         0.95 * (double)start);
        }
        kept += stays, fallen += falls;
        lra_free(v);
    }
    if (kept < 3 || fallen < 2)
        fail_msg("%s: %d arrays stay and %d fall, expected 3 and 2 at least", m->name, kept,
                 fallen);
    lra_free(param);
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(k.graph);
}

static void decays_alone(const lra_model *m, const char *variant)
{
    lra_config *c = model_tiny(m, variant);
    check_decay(m, c, LRA_HEAD_CLASS, TRIAL_VOCAB);
    check_decay(m, c, LRA_HEAD_PAIR, TRIAL_VOCAB);
    check_decay(m, c, LRA_HEAD_CLASS, 0);
    lra_config_free(c);
}

TEST(biases_and_norms_do_not_decay)
{
    each_model(decays_alone);
}

/* ---- updates that are not finite ------------------------------------------------------------- */

enum { ARRAYS = 9 };
static const char *const arrays[ARRAYS] = {
    "w", "gain", "bias", "mean", "var", "adam/m/w", "adam/v/w", "adam/m/gain", "adam/v/gain"};

static void read_all(const lra_params *p, float to[ARRAYS][4])
{
    lra_err e = {{0}};
    for (int i = 0; i < ARRAYS; i++) check(lra_params_get(p, arrays[i], to[i], &e), &e);
}

/* Batch statistics change with an update. They do not change if the update is left out because rows
 * contain NaN (the statistics would be NaN), or because the loss is too large although all rows are
 * finite. */
TEST(what_is_left_out_moves_nothing)
{
    lra_err e = {{0}};
    lra_device device;
    check(lra_cpu_device(&device, 1, &e), &e);
    lra_graph *g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(3, 2)),
               *target = lra_input(g, "target", LRA_F32, LRA_SHAPE(3, 2));
    lra_tensor *p[] = {lra_param(g, "w", LRA_SHAPE(2, 2), LRA_SPEC(LRA_NORMAL(1))),
                       lra_param(g, "gain", LRA_SHAPE(2), LRA_SPEC(LRA_CONSTANT(1))),
                       lra_param(g, "bias", LRA_SHAPE(2), NULL)};
    lra_tensor *mean = lra_state(g, "mean", LRA_SHAPE(2), NULL);
    lra_tensor *var = lra_state(g, "var", LRA_SHAPE(2), LRA_SPEC(LRA_CONSTANT(1)));
    lra_tensor *y = lra_batch_norm(lra_matmul(x, p[0]), NULL, p[1], p[2], mean, var, 0.1, 1e-5);
    lra_tensor *update = lra_adamw(lra_mse(y, target), 3, p, &usual);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(g, params, space, 1, &update, &e);
    NOT_NULL(plan);
    static const float rows[] = {1, 2, 3, -1, 0, 5}, near[6] = {1}, far[6] = {1e30f};
    const float broken[] = {1, NAN, 3, -1, 0, 5};
    const struct {
        const float *rows, *target;
        bool applied;
        float in_a_row;
    } steps[] = {{rows, near, true, 0}, {broken, near, false, 1}, {rows, far, false, 2},
                 {rows, near, true, 0}, {rows, near, true, 0},    {broken, near, false, 1},
                 {rows, near, true, 0}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        float before[ARRAYS][4] = {{0}}, after[ARRAYS][4] = {{0}}, status[4];
        read_all(params, before);
        set(plan, x, steps[i].rows);
        set(plan, target, steps[i].target);
        set_step(plan, g, 0.1f);
        run(plan);
        check(lra_get(plan, update, status, &e), &e);
        read_all(params, after);
        assert_true((status[2] == 1) == steps[i].applied && status[3] == steps[i].in_a_row);
        for (int k = 0; k < ARRAYS; k++)
            if ((memcmp(before[k], after[k], sizeof *before) == 0) == steps[i].applied)
                fail_msg("step %d: '%s' %s", (int)i, arrays[k],
                         steps[i].applied ? "stands still" : "moved");
    }
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(g);
}
