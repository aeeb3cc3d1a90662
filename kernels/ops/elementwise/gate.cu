/* y = f(a) b on a GPU; da = b f'(a) dy and db = f(a) dy. */
#include "kernels/ops/elementwise/activation.h"
#include "kernels/ops/cuda_common.h"

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

/* y may be one of the source arrays. */
static __global__ void gate_kernel(each_args e, lra_gate_act f)
{
    for (EACH8(i, e.n)) {
        real a[LRA_LANES], b[LRA_LANES];
        load8(e.a, e.t, i, e.n - i, e.wide, a);
        load8(e.b, e.t, i, e.n - i, e.wide, b);
        for (int k = 0; k < LRA_LANES; k++) b[k] *= gate_value(f, a[k]);
        store8(e.y, e.t, i, e.n - i, e.wide, b);
    }
}

/* y receives da. db may follow it in memory. */
static __global__ void gate_grad_kernel(each_args e, lra_gate_act f, const void *dy, void *db)
{
    for (EACH8(i, e.n)) {
        real a[LRA_LANES], b[LRA_LANES], d[LRA_LANES];
        load8(e.a, e.t, i, e.n - i, e.wide, a);
        load8(e.b, e.t, i, e.n - i, e.wide, b);
        load8(dy, e.t, i, e.n - i, e.wide, d);
        for (int k = 0; k < LRA_LANES; k++) {
            b[k] *= d[k] * gate_slope(f, a[k]);
            d[k] *= gate_value(f, a[k]);
        }
        store8(e.y, e.t, i, e.n - i, e.wide, b);
        store8(db, e.t, i, e.n - i, e.wide, d);
    }
}

LRA_CUDA_BODY(gate)
{
    each_args e = each_of(c, c->in[0], c->in[1]);
    LRA_LAUNCH(gate_kernel, lra_grid(e.n, LRA_BLOCK * LRA_LANES), LRA_BLOCK, 0, stream, e,
               ((const gate_args *)c->y->args)->f);
}

LRA_CUDA_BODY(gate_grad)
{
    each_args e = each_of(c, c->in[0], c->in[1]);
    e.n /= 2;
    void *db = t_to(c->out, e.t, e.n);
    e.wide = e.wide && is_aligned(c->in[2], db, NULL);
    LRA_LAUNCH(gate_grad_kernel, lra_grid(e.n, LRA_BLOCK * LRA_LANES), LRA_BLOCK, 0, stream, e,
               ((const gate_args *)c->y->args)->f, c->in[2], db);
}
