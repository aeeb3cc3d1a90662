/* Sources and sizes of the ops matrix_state and matrix_state_grad (matrix_state.c). */
#ifndef LRA_OPS_SSM_MATRIX_STATE_H
#define LRA_OPS_SSM_MATRIX_STATE_H

#include "kernels/graph/op.h"

typedef struct {
    bool back;     /* from the last token of an example to the first */
    bool decays;   /* source w */
    bool corrects; /* sources a and b */
    bool has_length, has_limit;
} matrix_state_args;

/* Sources in this order, without those that are absent: q, k, v, w, a, b, length, limit. */
enum { STATE_Q, STATE_K, STATE_V, STATE_W, STATE_A, STATE_B, STATE_LENGTH, STATE_LIMIT, STATE_ALL };

/* B examples, T tokens, H heads; K: width of q, k, a, b; V: width of v; W: width of w, which is K
 * or 1 (0: there is no w). */
typedef struct {
    int64_t B, T, H, K, V, W;
} matrix_state_sizes;

/* Index of a source after `first`; -1: absent. */
static inline int matrix_state_source(const matrix_state_args *a, int which)
{
    const bool there[STATE_ALL] = {true,        true,        true,          a->decays,
                                   a->corrects, a->corrects, a->has_length, a->has_limit};
    int at = 0;
    for (int i = 0; i < which; i++) at += there[i];
    return there[which] ? at : -1;
}

/* Sizes of an op whose sources q, k, .. start at source number `first`. */
static inline matrix_state_sizes matrix_state_sizes_of(const lra_tensor *y, int first)
{
    const matrix_state_args *a = y->args;
    lra_tensor *const *src = y->src + first;
    const int64_t *q = src[0]->shape.d, *v = src[2]->shape.d;
    int w = matrix_state_source(a, STATE_W);
    return (matrix_state_sizes){q[0], q[1], q[2], q[3], v[3], w < 0 ? 0 : src[w]->shape.d[3]};
}

/* Checks sources that start at source number `first`; of both ops. lra_matrix_state_grad_sample():
 * samples of matrix_state_grad. */
int lra_matrix_state_check(const lra_tensor *y, int first, lra_err *e);
lra_tensor *lra_matrix_state_grad_sample(lra_graph *g, int i);

/* Position of token number k in the direction of the recurrence. */
static inline int64_t matrix_state_place(bool back, int64_t k, int64_t tokens)
{
    return back ? tokens - 1 - k : k;
}

/* Elements before the gradient of a source (STATE_Q .. STATE_B) in the result of matrix_state_grad;
 * STATE_LENGTH: all elements. */
static inline int64_t matrix_state_offset(const matrix_state_args *a, matrix_state_sizes s,
                                          int which)
{
    int64_t rows = s.B * s.T * s.H;
    const int64_t width[] = {s.K, s.K, s.V, s.W, a->corrects ? s.K : 0, a->corrects ? s.K : 0};
    int64_t at = 0;
    for (int i = 0; i < which; i++) at += rows * width[i];
    return at;
}

#endif
