/* The loop of a scan on the CPU: it processes several vectors of adjacent channels of an example,
 * token by token. */
#ifndef LRA_OPS_SSM_SCAN_WALK_TEMPLATE_H
#define LRA_OPS_SSM_SCAN_WALK_TEMPLATE_H

#include "kernels/ops/lanes_template.h"
#include "kernels/ops/ssm/scan_body.h"

/* VECTORS: number of interleaved vectors. MAX_CHANNELS: channels of these vectors with the widest
 * instruction set, so that the size of scratch is the same for all. */
enum { VECTORS = LRA_TYPE_f64 ? 16 : 4, MAX_CHANNELS = 64 };
/* Channels of an example from n0 on, in `vectors` vectors of w channels each. */
typedef struct {
    int64_t T, N, tokens, n0, w;
    int vectors;
    bool back;
    lra_type type; /* type of u */
    const void *u;
    real *x;
    lanes re[VECTORS], im[VECTORS]; /* real and imaginary parts of lambda */
} walk;

typedef struct {
    lanes re[VECTORS], im[VECTORS];
} state;

static inline int64_t n_units(int64_t N)
{
    int64_t most = VECTORS * LANES;
    return N / most + (N % most + LANES - 1) / LANES;
}

/* Selects the channels of unit i: a block of VECTORS vectors, or one of the remaining vectors. */
static inline void set_unit(walk *p, int64_t i, int64_t N)
{
    int64_t most = VECTORS * LANES, blocks = N / most;
    p->N = N;
    p->vectors = i < blocks ? VECTORS : 1;
    p->n0 = i < blocks ? i * most : blocks * most + (i - blocks) * LANES;
    p->w = N - p->n0 < LANES ? N - p->n0 : LANES;
}

static inline walk walk_of(const lra_call *c, int64_t b, int64_t unit)
{
    const scan_args *a = c->y->args;
    scan_sizes s = scan_sizes_of(c->y);
    const real *lambda = c->in[1];
    real sign = a->conjugate ? -1 : 1;
    walk p = {.T = s.T, .tokens = s.T, .back = a->back};
    set_unit(&p, unit, s.N);
    if (a->has_length) p.tokens = ((const int32_t *)c->in[2])[b];
    p.type = c->y->src[0]->type;
    p.u = t_at(c->in[0], p.type, b * s.T * 2 * s.N);
    p.x = (real *)c->out + b * s.T * 2 * s.N;
    for (int v = 0; v < p.vectors; v++) {
        int64_t at = p.n0 + v * LANES;
        p.re[v] = lanes_load(lambda, LRA_F32, at, p.w);
        p.im[v] = sign * lanes_load(lambda, LRA_F32, s.N + at, p.w);
    }
    return p;
}

/* Index in u and x of vector v at token number k; its imaginary part is N elements later. */
LRA_ROW_FN int64_t at_step(const walk *p, int64_t k, int v)
{
    return scan_place(p->back, k, p->tokens) * 2 * p->N + p->n0 + v * LANES;
}

/* s = lambda s + u[k] */
LRA_ROW_FN void step(lra_type t, const walk *p, int64_t k, int vectors, int64_t w, state *s)
{
    LANES_UNROLL
    for (int v = 0; v < vectors; v++) {
        int64_t at = at_step(p, k, v);
        lanes re = s->re[v], im = s->im[v];
        s->re[v] = p->re[v] * re - p->im[v] * im + lanes_load(p->u, t, at, w);
        s->im[v] = p->re[v] * im + p->im[v] * re + lanes_load(p->u, t, at + p->N, w);
    }
}

/* Scans tokens [from, to), starting from state s, which is updated. Writes the states to x if
 * `written` is true. */
LRA_ROW_FN void walk_on(lra_type t, const walk *p, int64_t from, int64_t to, int vectors, int64_t w,
                        bool written, state *s)
{
    state now = *s;
    for (int64_t k = from; k < to; k++) {
        step(t, p, k, vectors, w, &now);
        for (int v = 0; written && v < vectors; v++) {
            int64_t at = at_step(p, k, v);
            lanes_store(p->x, LRA_F32, at, w, now.re[v]);
            lanes_store(p->x, LRA_F32, at + p->N, w, now.im[v]);
        }
    }
    *s = now;
}

static inline void walk_steps(const walk *p, int64_t from, int64_t to, bool written, state *s)
{
    if (to > p->tokens) to = p->tokens;
    if (p->vectors == VECTORS)
        LRA_BY_TYPE(walk_on, p->type, p, from, to, VECTORS, LANES, written, s);
    else if (p->w == LANES)
        LRA_BY_TYPE(walk_on, p->type, p, from, to, 1, LANES, written, s);
    else
        LRA_BY_TYPE(walk_on, p->type, p, from, to, 1, p->w, written, s);
}

/* Clears those of the tokens [from, to) of x that are padding. */
static inline void clear(const walk *p, int64_t from, int64_t to)
{
    size_t bytes = (size_t)(p->vectors == VECTORS ? VECTORS * LANES : p->w) * sizeof(real);
    for (int64_t t = from > p->tokens ? from : p->tokens; t < to; t++) {
        memset(p->x + t * 2 * p->N + p->n0, 0, bytes);
        memset(p->x + t * 2 * p->N + p->N + p->n0, 0, bytes);
    }
}

/* Loads a state from (2,N) reals; write_state() stores it. */
static inline state read_state(const walk *p, const real *from)
{
    state s = {0};
    for (int v = 0; v < p->vectors; v++) {
        s.re[v] = lanes_load(from, LRA_F32, p->n0 + v * LANES, p->w);
        s.im[v] = lanes_load(from, LRA_F32, p->N + p->n0 + v * LANES, p->w);
    }
    return s;
}
static inline void write_state(const walk *p, const state *s, real *to)
{
    for (int v = 0; v < p->vectors; v++) {
        lanes_store(to, LRA_F32, p->n0 + v * LANES, p->w, s->re[v]);
        lanes_store(to, LRA_F32, p->N + p->n0 + v * LANES, p->w, s->im[v]);
    }
}

#endif
