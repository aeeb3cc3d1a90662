/* labels: slow timeout: 600 */
/* Every model on the GPU against the CPU: loss, output and all gradients of a step, float32 and bf16, then
 * losses of ten steps of AdamW, and the same bits from a second time.  Where there is no GPU the CPU with two
 * threads takes its place; LRA_NEED_GPU=1 makes that a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/cuda/device.h"
#include "models/network.h"

enum { B = 4, T = 150, VOCAB = 40, CLASSES = 5, STEPS = 10, MOST = 64 };

/* Everything that a run leaves: loss, output, gradients; losses of the steps. */
typedef struct {
    float *v[MOST + 2], loss[STEPS];
    int64_t n[MOST + 2];
    int n_parts;
    char path[MOST + 2][96];
} outcome;

static bool has_gpu(void)
{
    lra_err why = {{0}};
    if (lra_cuda_count(&why) > 0) return true;
    const char *need = getenv("LRA_NEED_GPU");
    if (need && *need) fail_msg("%s", why.msg);
    return false;
}

static void open_device(lra_device *d, bool second)
{
    lra_err e = {{0}};
    int rc = second && has_gpu() ? lra_cuda_device(d, 0, &e)
                                 : lra_cpu_device(d, second ? 2 : 1, &e);
    if (rc != 0) fail_msg("%s", e.msg);
}

static void set_batch(lra_plan *p, const lra_network *k)
{
    static const int32_t length[B] = {T, 97, 1, 64};
    int32_t token[B * T], label[B];
    lra_err e = {{0}};
    lra_rng r = lra_rng_new(5, 6, 7);
    for (int i = 0; i < B * T; i++) token[i] = (int32_t)lra_rng_below(&r, VOCAB);
    for (int b = 0; b < B; b++) label[b] = b == 2 ? -1 : (int32_t)lra_rng_below(&r, CLASSES);
    assert_int_equal(lra_set(p, k->tokens, token, &e), 0);
    assert_int_equal(lra_set(p, k->length, length, &e), 0);
    assert_int_equal(lra_set(p, k->label, label, &e), 0);
}

static lra_network build(const lra_model *m, lra_type type)
{
    lra_err e = {{0}};
    static const char *const small[] = {"layers=2", "width=64", "hidden=128"};
    lra_network_spec spec = {.vocab = VOCAB, .outputs = CLASSES};
    lra_config *c = lra_keys_config(m->keys);
    for (int i = 0; i < 3; i++)
        if (lra_keys_assign(m->keys, c, small[i], m->name, &e) != 0) fail_msg("%s", e.msg);
    lra_network k = lra_network_build(type, LRA_TRAIN, m, c, &spec, B, T);
    lra_config_free(c);
    return k;
}

static void keep(outcome *o, lra_plan *p, const lra_tensor *x, const char *path)
{
    lra_err e = {{0}};
    int i = o->n_parts++;
    o->n[i] = lra_elements(x);
    o->v[i] = lra_alloc_array((size_t)o->n[i], sizeof(float));
    snprintf(o->path[i], sizeof o->path[i], "%s", path);
    if (lra_get(p, x, o->v[i], &e) != 0) fail_msg("%s", e.msg);
}

static void gradients(const lra_model *m, lra_type type, bool second, outcome *o)
{
    lra_err e = {{0}};
    lra_device d;
    lra_tensor *param[MOST], *out[MOST + 2];
    open_device(&d, second);
    lra_network k = build(m, type);
    int n = lra_graph_params(k.graph, NULL);
    if (n > MOST) fail_msg("'%s' has more than %d parameters", m->name, MOST);
    lra_graph_params(k.graph, param);
    out[0] = k.loss, out[1] = k.output;
    lra_grad(k.loss, NULL, n, param, out + 2);
    lra_params *params = lra_params_new(&d, 3);
    lra_space *space = lra_space_new(&d);
    lra_plan *plan = lra_plan_new(k.graph, params, space, n + 2, out, &e);
    if (!plan) fail_msg("%s", e.msg);
    set_batch(plan, &k);
    if (lra_run(plan, &e) != 0) fail_msg("'%s': %s", m->name, e.msg);
    for (int i = 0; i < n + 2; i++)
        keep(o, plan, out[i], i == 0 ? "loss" : i == 1 ? "output" : lra_tensor_path(param[i - 2]));
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(k.graph);
}

static void steps(const lra_model *m, lra_type type, bool second, outcome *o)
{
    lra_err e = {{0}};
    lra_device d;
    lra_tensor *param[MOST];
    lra_adamw_spec spec = {0.9, 0.999, 1e-8, 0, 1, 0.01};
    open_device(&d, second);
    lra_network k = build(m, type);
    int n = lra_graph_params(k.graph, param);
    lra_tensor *update = lra_adamw(k.loss, n, param, &spec), *step = lra_step_input(k.graph);
    lra_params *params = lra_params_new(&d, 3);
    lra_space *space = lra_space_new(&d);
    lra_plan *plan = lra_plan_new(k.graph, params, space, 1, &update, &e);
    if (!plan) fail_msg("%s", e.msg);
    for (int i = 0; i < STEPS; i++) {
        lra_step now = {.seed = 1, .step = (uint64_t)i, .rate = 0.002f};
        float status[4];
        set_batch(plan, &k);
        if (lra_set(plan, step, &now, &e) != 0 || lra_run(plan, &e) != 0 ||
            lra_get(plan, update, status, &e) != 0)
            fail_msg("'%s': %s", m->name, e.msg);
        o->loss[i] = status[0];
    }
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(k.graph);
}

static outcome run(const lra_model *m, lra_type type, bool second)
{
    outcome o = {.n_parts = 0};
    gradients(m, type, second, &o);
    steps(m, type, second, &o);
    return o;
}

static void outcome_free(outcome *o)
{
    for (int i = 0; i < o->n_parts; i++) lra_free(o->v[i]);
}

/* Largest difference over the largest value of each part. */
static void expect_close(const lra_model *m, const outcome *a, const outcome *b, double tolerance)
{
    for (int i = 0; i < a->n_parts; i++) {
        double most = 0, off = 0;
        for (int64_t j = 0; j < a->n[i]; j++) {
            most = fmax(most, fabs((double)b->v[i][j]));
            double now = fabs((double)a->v[i][j] - (double)b->v[i][j]);
            off = now <= off ? off : now; /* NaN stays */
        }
        if (!(off <= tolerance * most + 1e-7))
            fail_msg("'%s': '%s' differs by %g of %g", m->name, a->path[i], off, most);
    }
    for (int i = 0; i < STEPS; i++) {
        double x = (double)a->loss[i], y = (double)b->loss[i];
        if (!(fabs(x - y) <= 10 * tolerance * y))
            fail_msg("'%s': loss %d is %g, expected %g", m->name, i, x, y);
    }
}

static void expect_same(const lra_model *m, const outcome *a, const outcome *b)
{
    for (int i = 0; i < a->n_parts; i++)
        if (memcmp(a->v[i], b->v[i], (size_t)a->n[i] * sizeof(float)) != 0)
            fail_msg("'%s': '%s' has other bits the second time", m->name, a->path[i]);
    if (memcmp(a->loss, b->loss, sizeof a->loss) != 0)
        fail_msg("'%s': losses have other bits the second time", m->name);
}

static void compare(lra_type type, double tolerance)
{
    if (!has_gpu()) printf("no GPU: the CPU with two threads takes its place\n");
    for (int i = 0; lra_model_at(i); i++) {
        const lra_model *m = lra_model_at(i);
        outcome cpu = run(m, type, false), gpu = run(m, type, true), again = run(m, type, true);
        expect_close(m, &gpu, &cpu, tolerance);
        expect_same(m, &again, &gpu);
        outcome_free(&cpu);
        outcome_free(&gpu);
        outcome_free(&again);
    }
}

/* Gradients pass through ten layers of sums: an order of magnitude above the tolerance of one op. */
static void models_in_float32(void **state)
{
    (void)state;
    compare(LRA_F32, 3e-4);
}

static void models_in_bf16(void **state)
{
    (void)state;
    compare(LRA_BF16, 0.04);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_in_float32),
        cmocka_unit_test(models_in_bf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
