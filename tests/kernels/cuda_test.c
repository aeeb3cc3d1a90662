/* labels: slow timeout: 900 */
/* Compares the GPU with the CPU for all registered operations in float32 and bf16 (see op_test.c);
 * a second run and a recorded step must be bitwise equal. Skipped without a GPU. */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "kernels/cuda/device.h"
#include "tests/fixtures/op_sample.h"

static int open_gpu(lra_device *d, lra_err *e)
{
    return lra_cuda_device(d, 0, e);
}

static int open_cpu(lra_device *d, lra_err *e)
{
    return lra_cpu_device(d, 1, e);
}

static void need_gpu(void)
{
    lra_err why = {{0}};
    if (lra_cuda_count(&why) > 0) return;
    const char *need = getenv("LRA_NEED_GPU");
    if (need && *need) fail_msg("%s", why.msg);
    printf("skipped: %s\n", why.msg);
    skip();
}

static void compare(const lra_op *op, int i, lra_type type, double tolerance)
{
    setting plain = {.n_threads = 1}, poisoned = {.n_threads = 1, .poison = true};
    op_sample_use(open_cpu);
    result expected = run_sample(op, i, type, plain);
    op_sample_use(open_gpu);
    result got = run_sample(op, i, type, plain), again = run_sample(op, i, type, poisoned);
    expect_close(op, i, "on the GPU", &got, &expected, tolerance);
    expect_same(op, i, "a second run on the GPU", &again, &got);
    lra_free(expected.v);
    lra_free(got.v);
    lra_free(again.v);
}

static void both_types(const lra_op *op, int i)
{
    compare(op, i, LRA_F32, 2e-5);
    /* sums in another order may round a bf16 to the other neighbour */
    compare(op, i, LRA_BF16, 0.01);
}

static void of_registry(const lra_op *op, int i)
{
    if (op->cuda[LRA_F32]) both_types(op, i);
}

TEST(ops_agree_with_the_cpu)
{
    need_gpu();
    each_sample(of_registry);
    each_large_sample(both_types);
    each_device_sample(both_types);
}

/* Runs a plan three times, the second and third time from its recording: all tensors that it does
 * not write are unchanged. */
static void same_from_recording(const lra_op *op, int i)
{
    if (!op->cuda[LRA_F32] || op->flags & LRA_WRITES) return;
    op_sample t;
    machine m;
    lra_err e = {{0}};
    op_sample_new(&t, op, i, LRA_F32);
    machine_new(&m, &t, false, (setting){.n_threads = 1});
    int64_t n = lra_elements(t.y);
    float *y[2] = {lra_alloc_array((size_t)n, sizeof **y), lra_alloc_array((size_t)n, sizeof **y)};
    for (int k = 0; k < t.n_leaves; k++) set_leaf(&m, &t, k);
    for (int run = 0; run < 3; run++)
        if (lra_run(m.plan, &e) != 0 || lra_get(m.plan, t.y, y[run > 0], &e) != 0)
            fail_msg("'%s': %s", op->name, e.msg);
    if (memcmp(y[0], y[1], (size_t)n * sizeof **y) != 0)
        fail_msg("'%s' sample %d: a recorded step changes bits", op->name, i);
    lra_free(y[0]);
    lra_free(y[1]);
    machine_free(&m);
    op_sample_free(&t);
}

TEST(recorded_steps_agree)
{
    need_gpu();
    op_sample_use(open_gpu);
    each_sample(same_from_recording);
}

/* Without a usable GPU the message gives the reason in one line; a device is opened only once. */
TEST(devices_explain_themselves)
{
    lra_device a, b;
    lra_err e = {{0}};
    if (lra_cuda_count(&e) == 0) {
        assert_true(e.msg[0] != 0);
        assert_null(strchr(e.msg, '\n'));
        assert_int_equal(lra_cuda_device(&a, 0, &e), LRA_FAILED);
        return;
    }
    assert_int_equal(lra_cuda_device(&a, 0, &e), 0);
    assert_int_equal(lra_cuda_device(&b, 0, &e), 0);
    assert_ptr_equal(a.name, b.name);
    assert_int_equal(lra_cuda_device(&b, 1000, &e), LRA_FAILED);
}
