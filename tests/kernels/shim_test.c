/* labels: slow timeout: 1200 */
/* The plain CUDA kernels on the host shim: all registered operations in float32 and bf16, compared
 * with the CPU (see op_test.c); results are bitwise equal if blocks, warps and lanes run from last
 * to first; no two accesses to the same memory are without a barrier between them (shadow.c). */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <string.h>

#include <math.h>

#include "kernels/cpu/device.h"
#include "kernels/cuda/grid.h"
#include "models/training/loaded_model.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/shim/device.h"
#include "tests/shim/shim.h"
#include "tests/fixtures/tiny_run.h"

static int open_cpu(lra_device *d, lra_err *e)
{
    return lra_cpu_device(d, 1, e);
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* Every operation that computes has a GPU implementation. */
TEST(every_op_has_its_bodies)
{
    const lra_op *op;
    for (int k = 0; (op = lra_op_at(k)) != NULL; k++) {
        if (op->flags & (LRA_LEAF | LRA_ALIAS)) continue;
        if (!op->cuda[LRA_F32] || !op->cuda[LRA_BF16] || op->cuda[LRA_F64])
            fail_msg("'%s' lacks a CUDA body for float32 or bf16, or has one for float64",
                     op->name);
    }
}

static void compare(const shim_case *c)
{
    op_sample_use(open_cpu);
    result expected = run_sample(c->op, c->i, c->type, (setting){.n_threads = 1});
    result got = shim_run_case(c, false, false);
    expect_close(c->op, c->i, "of CUDA", &got, &expected, c->tolerance);
    result back = shim_run_case(c, true, true);
    expect_same(c->op, c->i, "another order of threads", &back, &got);
    if (shim_races) fail_msg("'%s' sample %d: %s", c->op->name, c->i, shim_race);
    lra_free(expected.v);
    lra_free(got.v);
    lra_free(back.v);
}

static void both_types(const lra_op *op, int i)
{
    shim_each_case(op, i, compare);
}

static void of_registry(const lra_op *op, int i)
{
    if (op->cuda[LRA_F32]) both_types(op, i);
}

static void launch(const shim_case *c)
{
    lra_err e = {{0}};
    lra_device device;
    lra_graph *g = lra_graph_new(c->type, LRA_TRAIN);
    lra_tensor *y = c->op->sample(g, c->i), *out[MAX_LEAVES] = {y}, *x[MAX_LEAVES];
    int n = 0, before = shim_launches;
    for (int id = 0; id < g->n_nodes; id++)
        if (g->node[id]->op == &lra_op_input && g->node[id]->type != LRA_I32) x[n++] = g->node[id];
    lra_tensor *dy = lra_cast(lra_sample_input(g, "dy", "normal", y->shape), y->type);
    lra_grad(y, dy, n, x, out + 1);
    OK(shim_open(&device, &e));
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(g, params, space, n + 1, out, &e);
    if (!plan) fail_msg("'%s': %s", c->op->name, e.msg);
    shim_level = c->level, shim_columns = c->columns;
    OK(lra_run(plan, &e));
    shim_level = LRA_CUDA_MMA, shim_columns = 0;
    /* at least one launch for y, and one for each gradient */
    assert_in_range(shim_launches - before, 1 + n, 100);
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(g);
}

static void launch_only(const lra_op *op, int i)
{
    shim_each_case(op, i, launch);
}

TEST(kernels_agree_with_the_cpu)
{
    each_sample(of_registry);
    each_large_sample(both_types);
}

/* The convolution at its published size is too large for threads on the host: only its launches are
 * checked. */
TEST(launches_of_the_published_convolution_are_allowed)
{
    assert_true(lra_grid_allowed(INT32_MAX, 65535, 65535));
    assert_false(lra_grid_allowed(1u << 31, 1, 1));
    assert_false(lra_grid_allowed(1, 65536, 1));
    assert_false(lra_grid_allowed(1, 1, 65536));
    assert_false(lra_grid_allowed(0, 1, 1));
    shim_dry = true;
    each_device_sample(launch_only);
    shim_dry = false;
}

/* Number of fused nodes. Float32: norm, sum of two gradients, sums for gain and bias; bf16 also the
 * product, its slope and the sum of columns. */
TEST(nodes_run_as_one)
{
    for (int type = LRA_F32; type <= LRA_BF16; type += LRA_BF16 - LRA_F32) {
        op_sample_use(shim_open);
        shim_fused = 0;
        result r = run_sample(&op_sample_block, 0, (lra_type)type, (setting){.n_threads = 1});
        assert_int_equal(shim_fused, type == LRA_BF16 ? 4 : 2);
        lra_free(r.v);
    }
}

/* ---- a trained model, opened ----------------------------------------------------------------- */

enum { ROWS = 6, CLASSES = 10 };

static int keep(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    float *logits = context, batch[64 * CLASSES];
    assert_true(v->rows <= 64);
    assert_int_equal(lra_get(v->plan, v->network.output, batch, e), 0);
    for (int64_t k = 0; k < v->rows; k++)
        if (b->row[k] >= 0)
            memcpy(logits + b->row[k] * CLASSES, batch + k * CLASSES, CLASSES * sizeof *logits);
    return 0;
}

/* Logits of the test split: without limits (WHOLE), with distance limit 1 in all heads (ALL), and
 * in every second head, or every second operation if it has no heads (SOME). */
enum { WHOLE, ALL, SOME, CUTS };
static void ask(const lra_train_spec *run, int (*open)(lra_device *, lra_err *),
                float logits[CUTS][ROWS * CLASSES])
{
    lra_err e = {{0}};
    lra_device device;
    lra_loaded_model m;
    assert_int_equal(open(&device, &e), 0);
    OK(lra_load_model(&m, run, &device, LRA_INITIAL_WEIGHTS, &e));
    OK(lra_loaded_limit(&m, &e));
    lra_loaded_buckets(&m);
    for (int i = 0; i < m.n_views; i++)
        lra_length_graph_output(m.view[i], m.view[i]->network.output);
    OK(lra_loaded_plan(&m, &e));
    for (int cut = WHOLE; cut < CUTS; cut++) {
        for (int i = 0; i < m.n_limits; i++)
            m.limit[i] = cut == WHOLE || (cut == SOME && i % 2) ? LRA_NO_LIMIT : 1;
        OK(lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, keep, logits[cut], &e));
    }
    lra_loaded_free(&m);
}

TEST(opened_models_answer_as_on_the_cpu)
{
    lra_err e = {{0}};
    tiny_run run;
    shim_level = LRA_CUDA_PLAIN;
    if (tiny_run_open(&run, folder, "x=1\n", "", &e) != 0) fail_msg("%s", e.msg);
    for (int i = 0; lra_model_at(i); i++) {
        float cpu[CUTS][ROWS * CLASSES], gpu[CUTS][ROWS * CLASSES], most = 0;
        lra_train_spec spec = run.spec;
        lra_config *c = model_tiny(lra_model_at(i), "");
        spec.model = lra_model_at(i), spec.model_config = c;
        if (lra_model_no_limit_reason(spec.model, c)) {
            lra_config_free(c);
            continue;
        }
        ask(&spec, open_cpu, cpu);
        ask(&spec, shim_open, gpu);
        for (int cut = WHOLE; cut < CUTS; cut++)
            for (int k = 0; k < ROWS * CLASSES; k++)
                most = fmaxf(most, fabsf(cpu[cut][k] - gpu[cut][k]));
        if (!(most < 1e-5f)) fail_msg("%s: logits differ by %g", spec.model->name, (double)most);
        assert_memory_not_equal(gpu[WHOLE], gpu[ALL], sizeof gpu[WHOLE]);
        assert_memory_not_equal(gpu[WHOLE], gpu[SOME], sizeof gpu[WHOLE]);
        lra_config_free(c);
    }
    tiny_run_close(&run);
}

GROUP(make_folder, remove_folder);
