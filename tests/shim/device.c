/* The host shim as a compute device. */
#include "tests/shim/device.h"

#include "kernels/base/core/err.h"
#include "kernels/cpu/device.h"
#include "kernels/cuda/fused.h"
#include "tests/shim/shim.h"

int shim_fused;

static int run_calls(lra_device *d, const lra_call *calls, int n, lra_err *e)
{
    (void)d;
    for (int i = 0, together; i < n; i += together) {
        together = lra_fused_calls(calls + i, n - i);
        const lra_op *op = calls[i].y->op;
        lra_cuda_body body = op->cuda[lra_graph_type(calls[i].y->graph)];
        if (!body) return lra_fail(e, "op '%s' has no CUDA body", op->name);
        shim_fused += together - 1;
        if (together == 1)
            body(&calls[i], NULL);
        else
            (lra_graph_type(calls[i].y->graph) == LRA_BF16
                 ? lra_cuda_fused_bf16
                 : lra_cuda_fused_f32)(&calls[i], together, NULL);
    }
    return 0;
}

static int one_thread(const lra_device *d)
{
    (void)d;
    return 1;
}

int shim_open(lra_device *d, lra_err *e)
{
    static lra_backend shim;
    if (lra_cpu_device(d, 1, e) != 0) return LRA_FAILED;
    shim = *d->backend;
    shim.name = "shim", shim.run = run_calls, shim.threads = one_thread;
    shim.scratch = lra_cuda_scratch;
    shim.fuses = lra_cuda_fuses, shim.fused_scratch = lra_cuda_fused_scratch;
    d->backend = &shim;
    return 0;
}

void shim_each_case(const lra_op *op, int i, void (*f)(const shim_case *c))
{
    shim_case c = {op, i, LRA_F32, LRA_CUDA_MMA, 0, 1e-5};
    f(&c);
    /* sums in another order may be rounded to the other neighbour */
    c.type = LRA_BF16, c.tolerance = 0.01;
    bool convolution = op == &op_sample_large || op == &op_sample_device;
    bool levels = convolution || op == &op_sample_attention || op == &op_sample_block;
    int last = convolution ? LRA_CUDA_WGMMA : LRA_CUDA_MMA;
    for (int level = levels ? LRA_CUDA_PLAIN : LRA_CUDA_MMA; level <= last; level++) {
        c.level = (lra_cuda_level_kind)level;
        for (c.columns = 0; c.columns <= (level < LRA_CUDA_WGMMA ? 0 : 128); c.columns += 128)
            f(&c);
    }
}

result shim_run_case(const shim_case *c, bool backwards, bool poison)
{
    setting s = {.n_threads = 1, .poison = poison};
    op_sample_use(shim_open);
    shim_level = c->level, shim_columns = c->columns, shim_backwards = backwards;
    result r = run_sample(c->op, c->i, c->type, s);
    shim_level = LRA_CUDA_MMA, shim_columns = shim_backwards = 0;
    return r;
}
