/* labels: slow timeout: 1200 */
/* The plain CUDA kernels on the host shim: the registry walk of op_test.c, float32 and bf16,
 * against the CPU bodies; the same bits when the threads of a block run backwards (no races), and
 * for the same run twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "kernels/cpu/device.h"
#include "kernels/cuda/joined.h"
#include "kernels/cuda/level.h"
#include "models/training/open.h"
#include "tests/folder.h"
#include "tests/model_trial.h"
#include "tests/shim/shim.h"
#include "tests/tiny_run.h"
#include "tests/trial.h"

extern lra_cuda_level_kind shim_level; /* of gemm.c */
extern int shim_columns;               /* of map.cpp */

/* ---- the shim as a device: the CPU's memory, the GPU's bodies -------------------------------- */

static int joined; /* nodes that ran with another */

static int shim_run_calls(lra_device *d, const lra_call *calls, int n, lra_err *e)
{
    (void)d;
    for (int i = 0, together; i < n; i += together) {
        together = lra_joined_calls(calls + i, n - i);
        const lra_op *op = calls[i].y->op;
        lra_cuda_body body = op->cuda[lra_graph_type(calls[i].y->graph)];
        if (!body) return lra_fail(e, "op '%s' has no CUDA body", op->name);
        joined += together - 1;
        if (together == 1)
            body(&calls[i], NULL);
        else
            (lra_graph_type(calls[i].y->graph) == LRA_BF16
                 ? lra_cuda_joined_16
                 : lra_cuda_joined_32)(&calls[i], together, NULL);
    }
    return 0;
}

static int one_thread(const lra_device *d)
{
    (void)d;
    return 1;
}

static int open_shim(lra_device *d, lra_err *e)
{
    static lra_backend shim;
    if (lra_cpu_device(d, 1, e) != 0) return LRA_FAILED;
    shim = *d->backend;
    shim.name = "shim", shim.run = shim_run_calls, shim.threads = one_thread;
    shim.scratch = lra_cuda_scratch;
    shim.joins = lra_cuda_joins, shim.joined_scratch = lra_cuda_joined_scratch;
    d->backend = &shim;
    return 0;
}

static int open_cpu(lra_device *d, lra_err *e)
{
    return lra_cpu_device(d, 1, e);
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* Whatever computes does so on a GPU, too. */
static void every_op_has_its_bodies(void **state)
{
    (void)state;
    const lra_op *op;
    for (int k = 0; (op = lra_op_at(k)) != NULL; k++) {
        if (op->flags & (LRA_LEAF | LRA_ALIAS)) continue;
        if (!op->cuda[LRA_F32] || !op->cuda[LRA_BF16] || op->cuda[LRA_F64])
            fail_msg("'%s' lacks a CUDA body for float32 or bf16, or has one for float64",
                     op->name);
    }
}

static void compare(const lra_op *op, int i, lra_type type, double tolerance)
{
    setting plain = {.n_threads = 1}, poisoned = {.n_threads = 1, .poison = true};
    trial_use(open_cpu);
    result expected = run_sample(op, i, type, plain);
    trial_use(open_shim);
    result got = run_sample(op, i, type, plain);
    expect_close(op, i, "of CUDA", &got, &expected, tolerance);
    shim_backwards = 1;
    result back = run_sample(op, i, type, poisoned);
    shim_backwards = 0;
    expect_same(op, i, "another order of threads", &back, &got);
    lra_free(expected.v);
    lra_free(got.v);
    lra_free(back.v);
}

static void both_types(const lra_op *op, int i)
{
    compare(op, i, LRA_F32, 1e-5);
    /* another order of sums may round a bf16 the other way */
    bool levels = op == &trial_large || op == &trial_attention || op == &trial_block;
    int first = levels ? LRA_CUDA_PLAIN : LRA_CUDA_MMA;
    int last = op == &trial_large ? LRA_CUDA_WGMMA : LRA_CUDA_MMA;
    for (int level = first; level <= last; level++) {
        shim_level = (lra_cuda_level_kind)level;
        for (shim_columns = 0; shim_columns <= 128; shim_columns += 128) {
            compare(op, i, LRA_BF16, 0.01);
            if (level < LRA_CUDA_WGMMA) break;
        }
        shim_columns = 0;
    }
}

static void of_registry(const lra_op *op, int i)
{
    if (op->cuda[LRA_F32]) both_types(op, i);
}

static void kernels_agree_with_the_cpu(void **state)
{
    (void)state;
    each_sample(of_registry);
    each_large_sample(both_types);
}

/* Float32: norm, sum of two ways, sums for gain and bias; bf16 also the product, its slope and the
 * sum of columns. */
static void nodes_run_as_one(void **state)
{
    (void)state;
    for (int type = LRA_F32; type <= LRA_BF16; type += LRA_BF16 - LRA_F32) {
        trial_use(open_shim);
        joined = 0;
        result r = run_sample(&trial_block, 0, (lra_type)type, (setting){.n_threads = 1});
        assert_int_equal(joined, type == LRA_BF16 ? 4 : 2);
        lra_free(r.v);
    }
}

/* ---- a trained model, opened ----------------------------------------------------------------- */

enum { ROWS = 6, CLASSES = 10 };

static int keep(const lra_view *v, const lra_batch *b, void *context, lra_err *e)
{
    float *logits = context, batch[64 * CLASSES];
    assert_true(v->rows <= 64);
    assert_int_equal(lra_get(v->plan, v->network.output, batch, e), 0);
    for (int64_t k = 0; k < v->rows; k++)
        if (b->row[k] >= 0)
            memcpy(logits + b->row[k] * CLASSES, batch + k * CLASSES, CLASSES * sizeof *logits);
    return 0;
}

/* Logits of the test split: whole, and with every distance above 1 cut off, in all heads, in every
 * other one (an op without heads: in every other op). */
enum { WHOLE, ALL, SOME, CUTS };
static void ask(const lra_train_spec *run, int (*open)(lra_device *, lra_err *),
                float logits[CUTS][ROWS * CLASSES])
{
    lra_err e = {{0}};
    lra_device device;
    lra_opened m;
    assert_int_equal(open(&device, &e), 0);
    if (lra_open(&m, run, &device, LRA_INITIAL_WEIGHTS, &e) != 0) fail_msg("%s", e.msg);
    if (lra_open_limited(&m, &e) != 0) fail_msg("%s", e.msg);
    lra_open_buckets(&m);
    for (int i = 0; i < m.n_views; i++) lra_view_ask(m.view[i], m.view[i]->network.output);
    if (lra_open_plan(&m, &e) != 0) fail_msg("%s", e.msg);
    for (int cut = WHOLE; cut < CUTS; cut++) {
        for (int i = 0; i < m.n_limits; i++)
            m.limit[i] = cut == WHOLE || (cut == SOME && i % 2) ? LRA_NO_LIMIT : 1;
        if (lra_open_run(&m, LRA_TEST_SPLIT, NULL, keep, logits[cut], &e) != 0)
            fail_msg("%s", e.msg);
    }
    lra_open_close(&m);
}

static void opened_models_answer_as_on_the_cpu(void **state)
{
    (void)state;
    lra_err e = {{0}};
    tiny_run run;
    shim_level = LRA_CUDA_PLAIN;
    if (tiny_run_open(&run, folder, "x=1\n", "", &e) != 0) fail_msg("%s", e.msg);
    for (int i = 0; lra_model_at(i); i++) {
        float cpu[CUTS][ROWS * CLASSES], gpu[CUTS][ROWS * CLASSES], most = 0;
        lra_train_spec spec = run.spec;
        lra_config *c = model_tiny(lra_model_at(i), "");
        spec.model = lra_model_at(i), spec.model_config = c;
        if (lra_model_unlimited(spec.model, c)) {
            lra_config_free(c);
            continue;
        }
        ask(&spec, open_cpu, cpu);
        ask(&spec, open_shim, gpu);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_has_its_bodies),
        cmocka_unit_test(kernels_agree_with_the_cpu),
        cmocka_unit_test(nodes_run_as_one),
        cmocka_unit_test(opened_models_answer_as_on_the_cpu),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
