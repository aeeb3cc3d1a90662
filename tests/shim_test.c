/* labels: slow timeout: 1200 */
/* The plain CUDA kernels on the host shim: the registry walk of op_test.c, float32 and bf16, against the CPU
 * bodies; the same bits when the threads of a block run backwards (no races), and for the same run twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kernels/cpu/device.h"
#include "kernels/cuda/level.h"
#include "tests/shim/shim.h"
#include "tests/trial.h"

extern lra_cuda_level_kind shim_level; /* of gemm.c */

/* ---- the shim as a device: the CPU's memory, the GPU's bodies ------------------------------------------ */

static int shim_run_calls(lra_device *d, const lra_call *calls, int n, lra_err *e)
{
    (void)d;
    for (int i = 0; i < n; i++) {
        const lra_op *op = calls[i].y->op;
        lra_cuda_body body = op->cuda[lra_graph_type(calls[i].y->graph)];
        if (!body) return lra_fail(e, "op '%s' has no CUDA body", op->name);
        body(&calls[i], NULL);
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
    d->backend = &shim;
    return 0;
}

static int open_cpu(lra_device *d, lra_err *e)
{
    return lra_cpu_device(d, 1, e);
}

/* ---- walks ---------------------------------------------------------------------------------------- */

/* Ops that the GPU does not have yet are named, not counted as tested. */
static void bodies_come_in_pairs(void **state)
{
    (void)state;
    const lra_op *op;
    for (int k = 0; (op = lra_op_at(k)) != NULL; k++) {
        if (op->flags & (LRA_LEAF | LRA_ALIAS)) continue;
        if (!op->cuda[LRA_F32] != !op->cuda[LRA_BF16] || op->cuda[LRA_F64])
            fail_msg("'%s': CUDA bodies are for float32 and bf16", op->name);
        if (!op->cuda[LRA_F32]) printf("'%s' has no CUDA body\n", op->name);
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
    bool levels = op == &trial_large || op == &trial_attention;
    int first = levels ? LRA_CUDA_PLAIN : LRA_CUDA_MMA;
    int last = op == &trial_large ? LRA_CUDA_WGMMA : LRA_CUDA_MMA;
    for (int level = first; level <= last; level++) {
        shim_level = (lra_cuda_level_kind)level;
        compare(op, i, LRA_BF16, 0.01);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_come_in_pairs),
        cmocka_unit_test(kernels_agree_with_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
