/* y = f(a) b on a GPU, and da = b f'(a) dy. */
#include "kernels/ops/activation.h"
#include "kernels/ops/cuda_fn.h"

LRA_DEV real gate_value(lra_gate_act f, real x)
{
    if (f == LRA_GATE_GELU) return act_gelu(x);
    return f == LRA_GATE_SILU ? act_silu(x) : act_sigmoid(x);
}
LRA_DEV real gate_slope(lra_gate_act f, real x)
{
    if (f == LRA_GATE_GELU) return act_gelu_slope(x);
    return f == LRA_GATE_SILU ? act_silu_slope(x) : act_sigmoid_slope(x);
}

/* Nullable: dy; then y, else da.  y may be any of the others. */
static __global__ void gate_kernel(each_args e, lra_gate_act f, const void *dy)
{
    for (EACH8(i, e.n)) {
        real a[LRA_LANES], b[LRA_LANES], d[LRA_LANES] = {0};
        load8(e.a, e.t, i, e.n - i, e.wide, a);
        load8(e.b, e.t, i, e.n - i, e.wide, b);
        if (dy) load8(dy, e.t, i, e.n - i, e.wide, d);
        for (int k = 0; k < LRA_LANES; k++)
            b[k] = dy ? d[k] * b[k] * gate_slope(f, a[k]) : gate_value(f, a[k]) * b[k];
        store8(e.y, e.t, i, e.n - i, e.wide, b);
    }
}

static void run(const lra_call *c, const void *a, const void *b, const void *dy, void *stream)
{
    each_args e = each_of(c, a, b);
    e.wide = e.wide && is_aligned(dy, NULL, NULL);
    LRA_LAUNCH(gate_kernel, lra_grid(e.n, LRA_BLOCK * LRA_LANES), LRA_BLOCK, 0, stream, e,
               ((const gate_args *)c->y->args)->f, dy);
}

LRA_CUDA_BODY(gate)
{
    run(c, c->in[0], c->in[1], NULL, stream);
}
LRA_CUDA_BODY(gate_grad)
{
    run(c, c->in[1], c->in[0], c->in[2], stream);
}
