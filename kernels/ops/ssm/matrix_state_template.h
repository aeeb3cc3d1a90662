/* One head of one example on the CPU: its vectors as reals, in the order of the recurrence, with
 * widths padded by zeros to full vectors (K) and full blocks of rows (V). */
#ifndef LRA_OPS_SSM_MATRIX_STATE_TEMPLATE_H
#define LRA_OPS_SSM_MATRIX_STATE_TEMPLATE_H

#include "kernels/ops/lanes_template.h"
#include "kernels/ops/ssm/matrix_state.h"

/* ROWS: rows of the state that are processed together. WIDTH: K is padded to a multiple of it, for
 * every instruction level, so that the size of scratch is the same. CHUNK: tokens between two
 * stored states of the backward pass. */
enum { ROWS = 4, WIDTH = 16, CHUNK = 32 };

static inline int64_t padded(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* Vectors of a head: q, k, w, a, b (T,KP), v (T,VP). w is NULL for decay 1; a and b are NULL
 * without a correction. A decay that is the same for all channels is repeated KP times. */
typedef struct {
    int64_t tokens, KP, VP, limit;
    real *q, *k, *v, *w, *a, *b;
} head;

/* Reals of the vectors of a head. */
static inline int64_t head_reals(matrix_state_sizes s)
{
    return s.T * (5 * padded(s.K, WIDTH) + padded(s.V, ROWS));
}

typedef struct {
    int64_t b, h, tokens, KP;
    matrix_state_sizes s;
    bool back;
} head_place;

/* Element 0 of token number k of a head in an array (B,T,H,width). */
LRA_ROW_FN int64_t head_at(const head_place *p, int64_t k, int64_t width)
{
    int64_t t = matrix_state_place(p->back, k, p->tokens);
    return ((p->b * p->s.T + t) * p->s.H + p->h) * width;
}

/* Copies `width` channels of all tokens of a head to (T,stride), the rest of a row to 0. */
LRA_ROW_FN void copy_rows(lra_type type, const head_place *p, const void *x, int64_t width,
                          int64_t stride, real *to)
{
    for (int64_t k = 0; k < p->tokens; k++, to += stride) {
        int64_t at = head_at(p, k, width);
        for (int64_t i = 0; i < width; i++) to[i] = t_load(x, type, at + i);
        for (int64_t i = width; i < stride; i++) to[i] = 0;
    }
}
static inline real *pack(const lra_call *c, int source, const head_place *p, int64_t width,
                         int64_t stride, real **at)
{
    real *to = *at;
    lra_type type = c->y->src[source]->type;
    LRA_BY_TYPE(copy_rows, type, p, c->in[source], width, stride, to);
    *at += p->s.T * stride;
    return to;
}

/* Repeats channel 0 of each row. */
static inline void repeat_first(real *x, int64_t rows, int64_t stride)
{
    for (int64_t k = 0; k < rows; k++, x += stride)
        for (int64_t i = 1; i < stride; i++) x[i] = x[0];
}

/* Head number i = b H + h of a call whose sources q, k, .. start at `first`. at: scratch of
 * head_reals(), advanced. */
static inline head read_head(const lra_call *c, int first, int64_t i, head_place *p, real **at)
{
    const matrix_state_args *a = c->y->args;
    matrix_state_sizes s = matrix_state_sizes_of(c->y, first);
    int length = matrix_state_source(a, STATE_LENGTH), limit = matrix_state_source(a, STATE_LIMIT);
    *p = (head_place){i / s.H, i % s.H, s.T, padded(s.K, WIDTH), s, a->back};
    if (length >= 0) p->tokens = ((const int32_t *)c->in[first + length])[p->b];
    head x = {.tokens = p->tokens, .KP = p->KP, .VP = padded(s.V, ROWS), .limit = s.T};
    if (limit >= 0) {
        const lra_tensor *l = c->y->src[first + limit];
        x.limit = ((const int32_t *)c->in[first + limit])[l->shape.d[0] == 1 ? 0 : p->h];
        if (x.limit < 0) x.limit = 0;
    }
    x.q = pack(c, first + STATE_Q, p, s.K, x.KP, at);
    x.k = pack(c, first + STATE_K, p, s.K, x.KP, at);
    x.v = pack(c, first + STATE_V, p, s.V, x.VP, at);
    if (a->decays) {
        x.w = pack(c, first + matrix_state_source(a, STATE_W), p, s.W, x.KP, at);
        if (s.W == 1) repeat_first(x.w, p->tokens, x.KP);
    }
    if (a->corrects) {
        x.a = pack(c, first + matrix_state_source(a, STATE_A), p, s.K, x.KP, at);
        x.b = pack(c, first + matrix_state_source(a, STATE_B), p, s.K, x.KP, at);
    }
    return x;
}

/* Adds one token to ROWS rows of the state: s = s (diag(w) - a b^T) + v k^T; y[r] = s[r] . q, if y
 * is not NULL. u[r] = s[r] . a of the state before. w, a: NULL as in head. */
LRA_ROW_FN void step_rows(int64_t KP, const real *w, const real *a, const real *b, const real *k,
                          const real *q, const real *v, const real *from, real *to, real *u,
                          real *y)
{
    lanes sum[ROWS], out[ROWS];
    for (int r = 0; r < ROWS; r++) sum[r] = out[r] = lanes_of(0), u[r] = 0;
    if (a) {
        for (int64_t j = 0; j < KP; j += LANES)
            for (int r = 0; r < ROWS; r++)
                sum[r] += lanes_read(from + r * KP + j) * lanes_read(a + j);
        for (int r = 0; r < ROWS; r++) u[r] = lanes_sum(sum[r]);
    }
    for (int64_t j = 0; j < KP; j += LANES) {
        lanes wj = w ? lanes_read(w + j) : lanes_of(1), kj = lanes_read(k + j);
        lanes bj = b ? lanes_read(b + j) : lanes_of(0), qj = lanes_read(q + j);
        for (int r = 0; r < ROWS; r++) {
            lanes s = lanes_read(from + r * KP + j) * wj + v[r] * kj;
            if (b) s -= u[r] * bj;
            lanes_write(to + r * KP + j, s);
            out[r] += s * qj;
        }
    }
    if (!y) return;
    for (int r = 0; r < ROWS; r++) y[r] = lanes_sum(out[r]);
}

/* Row i of a (T,stride) array, which may be absent. */
LRA_ROW_FN const real *row_of(const real *x, int64_t i, int64_t stride)
{
    return x ? x + i * stride : NULL;
}

/* Dot product of two padded vectors. */
LRA_ROW_FN real dot(const real *x, const real *y, int64_t KP)
{
    lanes sum = lanes_of(0);
    for (int64_t j = 0; j < KP; j += LANES) sum += lanes_read(x + j) * lanes_read(y + j);
    return lanes_sum(sum);
}

/* z' = w z - (b . z) a: the vector with which an earlier state is multiplied, one token further
 * back. Returns b . z. */
LRA_ROW_FN real step_back(const head *x, int64_t t, const real *z, real *to)
{
    int64_t KP = x->KP;
    const real *w = row_of(x->w, t, KP), *a = row_of(x->a, t, KP);
    real share = a ? dot(x->b + t * KP, z, KP) : 0;
    for (int64_t j = 0; j < KP; j += LANES) {
        lanes zj = lanes_read(z + j);
        if (w) zj *= lanes_read(w + j);
        if (a) zj -= share * lanes_read(a + j);
        lanes_write(to + j, zj);
    }
    return share;
}

#endif
