/* Forward and backward pass of one channel of an LSTM, for C and CUDA, and the layout of the op's
 * result. */
#ifndef LRA_OPS_SSM_LSTM_BODY_H
#define LRA_OPS_SSM_LSTM_BODY_H

#include "kernels/ops/elementwise/activation.h"

typedef struct {
    bool back, has_length;
} lstm_args;

typedef struct {
    int64_t B, T, H;
    bool back;
} lstm_sizes;

/* The op's result is one array of reals: h and c (B,T,H) each, then the gates i, f, g, o
 * (B,T,4,H). */
enum { LSTM_PLANES = 6 };
LRA_FN int64_t lstm_plane(const lstm_sizes *s)
{
    return s->B * s->T * s->H;
}

/* lstm_step(): position of token number `step` in the order of the recurrence. lstm_before():
 * position of the previous token; -1: there is none. */
LRA_FN int64_t lstm_step(const lstm_sizes *s, int64_t step)
{
    return s->back ? s->T - 1 - step : step;
}
LRA_FN int64_t lstm_before(const lstm_sizes *s, int64_t t)
{
    return s->back ? (t + 1 < s->T ? t + 1 : -1) : t - 1;
}

/* Computes the gates from their sums a (elements H apart), stores them in `gate`, updates c, and
 * returns h. before: c of the previous token. */
LRA_FN real lstm_forward(const real *a, int64_t H, real before, real *gate, real *c)
{
    real i = act_sigmoid(a[0]), f = act_sigmoid(a[H]), g = r_tanh(a[2 * H]);
    real o = act_sigmoid(a[3 * H]);
    gate[0] = i, gate[H] = f, gate[2 * H] = g, gate[3 * H] = o;
    *c = f * before + i * g;
    return o * r_tanh(*c);
}

/* Computes the gradients da of the gates' sums from dh and dc of a token, and returns dc of the
 * previous token. */
LRA_FN real lstm_backward(const real *gate, int64_t H, real c, real before, real dh, real dc,
                          real *da)
{
    real i = gate[0], f = gate[H], g = gate[2 * H], o = gate[3 * H], bent = r_tanh(c);
    dc += dh * o * (1 - bent * bent);
    da[0] = dc * g * i * (1 - i);
    da[H] = dc * before * f * (1 - f);
    da[2 * H] = dc * i * (1 - g * g);
    da[3 * H] = dh * bent * o * (1 - o);
    return dc * f;
}

#endif
