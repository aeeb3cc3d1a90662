/* Parts of the CUDA kernels of a matrix state (matrix_state.cu, matrix_state_grad.cu). G threads
 * hold STATE_ROWS rows of the state in registers, STATE_CHANNELS channels of each row a thread: the
 * channels 4 l .. 4 l + 3 and 4 (G + l) .. 4 (G + l) + 3 of thread l, so that the threads of a row
 * read adjacent 16 bytes of shared memory. Vectors of up to 32 tokens are staged in shared memory,
 * with channels padded by zeros to 8 G. */
#ifndef LRA_OPS_SSM_MATRIX_STATE_CUDA_H
#define LRA_OPS_SSM_MATRIX_STATE_CUDA_H

#include "kernels/ops/cuda_common.h"
#include "kernels/ops/ssm/matrix_state.h"

/* Sources of the kernels: x and type are indexed by STATE_Q .. STATE_B; NULL: absent. */
typedef struct {
    matrix_state_sizes s;
    matrix_state_blocks n;
    bool back;
    const void *x[STATE_LENGTH];
    lra_type type[STATE_LENGTH];
    const int32_t *length, *limit;
    int64_t limits; /* 1, or one for each head */
} state_view;

/* Sources start at source number `first`. */
static inline state_view state_view_of(const lra_call *c, int first)
{
    const matrix_state_args *a = (const matrix_state_args *)c->y->args;
    state_view v = {};
    v.s = matrix_state_sizes_of(c->y, first), v.n = matrix_state_blocks_of(v.s);
    v.back = a->back;
    for (int i = STATE_Q; i < STATE_LENGTH; i++) {
        int at = matrix_state_source(a, i);
        if (at < 0) continue;
        v.x[i] = c->in[first + at], v.type[i] = c->y->src[first + at]->type;
    }
    int length = matrix_state_source(a, STATE_LENGTH), limit = matrix_state_source(a, STATE_LIMIT);
    if (length >= 0) v.length = (const int32_t *)c->in[first + length];
    if (limit >= 0) {
        v.limit = (const int32_t *)c->in[first + limit];
        v.limits = c->y->src[first + limit]->shape.d[0];
    }
    return v;
}

/* Calls launch<G>(..) for the number of lanes of a row; not if K is above 256. */
#define STATE_BY_LANES(lanes, launch, ...)                                                         \
    do {                                                                                           \
        if ((lanes) == 2) launch<2>(__VA_ARGS__);                                                  \
        if ((lanes) == 4) launch<4>(__VA_ARGS__);                                                  \
        if ((lanes) == 8) launch<8>(__VA_ARGS__);                                                  \
        if ((lanes) == 16) launch<16>(__VA_ARGS__);                                                \
        if ((lanes) == 32) launch<32>(__VA_ARGS__);                                                \
    } while (0)

/* ---- a head ---------------------------------------------------------------------------------- */

typedef struct {
    int64_t b, h, tokens;
} state_head;

/* Head number i = b H + h. */
LRA_DEV state_head head_of(const state_view *v, int64_t i)
{
    state_head o = {i / v->s.H, i % v->s.H, v->s.T};
    if (v->length) o.tokens = v->length[o.b];
    return o;
}

/* Maximum distance between two tokens of a head. */
LRA_DEV int64_t limit_of(const state_view *v, int64_t h)
{
    if (!v->limit) return v->s.T;
    int64_t limit = v->limit[v->limits == 1 ? 0 : h];
    return limit < 0 ? 0 : limit;
}
/* True if the head is processed by the kernels of distance limits. */
LRA_DEV bool is_cut(const state_view *v, int64_t h)
{
    return v->n.lanes == 0 || limit_of(v, h) < v->s.T - 1;
}

/* Row of arrays (B,T,H,width) of token number k in the direction of the recurrence; of padding,
 * k = tokens, ... */
LRA_DEV int64_t row_at(const state_view *v, const state_head *h, int64_t k)
{
    int64_t t = k < h->tokens ? matrix_state_place(v->back, k, h->tokens) : k;
    return (h->b * v->s.T + t) * v->s.H + h->h;
}

/* Channel c of a row of a source. */
LRA_DEV real value_at(const state_view *v, int which, int64_t row, int64_t width, int64_t c)
{
    return t_load(v->x[which], v->type[which], row * width + c);
}
LRA_DEV real decay_at(const state_view *v, int64_t row, int64_t c)
{
    if (!v->x[STATE_W]) return R(1.0);
    return value_at(v, STATE_W, row, v->s.W, v->s.W == 1 ? 0 : c);
}

/* ---- vectors in shared memory ---------------------------------------------------------------- */

/* Staged vectors of each source, (TOKENS,KP), in this order. */
enum { STAGED_Q, STAGED_K, STAGED_W, STAGED_A, STAGED_B, STAGED_ALL };
template <int G> struct staged {
    enum { KP = STATE_CHANNELS * G, TOKENS = KP > 64 ? 2048 / KP : 32, SIZE = TOKENS * KP };
};

LRA_DEV void stage_source(const state_view *v, const state_head *h, int which, int64_t from, int n,
                          int KP, real *to)
{
    for (int i = (int)threadIdx.x; i < n * KP; i += (int)blockDim.x) {
        int64_t row = row_at(v, h, from + i / KP), c = i % KP;
        real x = 0;
        if (c < v->s.K)
            x = which == STATE_W ? decay_at(v, row, c) : value_at(v, which, row, v->s.K, c);
        to[i] = x;
    }
}

/* Stages channels first .. first + rows - 1 of x (B,T,H,V): (n,rows). */
LRA_DEV void stage_values(const state_view *v, const state_head *h, const void *x, lra_type type,
                          int64_t first, int64_t from, int n, real *to)
{
    for (int i = (int)threadIdx.x; i < n * v->n.rows; i += (int)blockDim.x) {
        int64_t row = row_at(v, h, from + i / v->n.rows), c = first + i % v->n.rows;
        to[i] = c < v->s.V ? t_load(x, type, row * v->s.V + c) : R(0.0);
    }
}

/* Stages n tokens from token number `from` on; first: first row of the state in the block. All
 * threads of the block call this function. values: (TOKENS,rows), after the vectors. */
template <int G>
LRA_DEV void stage_tokens(const state_view *v, const state_head *h, int64_t first, int64_t from,
                          int n, real *vectors, const void *dy, lra_type dy_type)
{
    enum { KP = staged<G>::KP, SIZE = staged<G>::SIZE };
    real *values = vectors + STAGED_ALL * SIZE;
    __syncthreads();
    stage_source(v, h, STATE_Q, from, n, KP, vectors + STAGED_Q * SIZE);
    stage_source(v, h, STATE_K, from, n, KP, vectors + STAGED_K * SIZE);
    if (v->x[STATE_W]) stage_source(v, h, STATE_W, from, n, KP, vectors + STAGED_W * SIZE);
    if (v->x[STATE_A]) {
        stage_source(v, h, STATE_A, from, n, KP, vectors + STAGED_A * SIZE);
        stage_source(v, h, STATE_B, from, n, KP, vectors + STAGED_B * SIZE);
    }
    stage_values(v, h, v->x[STATE_V], v->type[STATE_V], first, from, n, values);
    if (dy) stage_values(v, h, dy, dy_type, first, from, n, values + staged<G>::TOKENS * v->n.rows);
    __syncthreads();
}

/* Channels of this thread in a staged vector. */
template <int G> LRA_DEV void load_channels(const real *vector, real x[STATE_CHANNELS])
{
    const float4 *p = (const float4 *)vector + threadIdx.x % G;
    float4 low = p[0], high = p[G];
    x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
    x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
}
template <int G> LRA_DEV int64_t channel_of(int i)
{
    return (i / 4 * G + (int)threadIdx.x % G) * 4 + i % 4;
}

/* ---- one token ------------------------------------------------------------------------------- */

/* Sum over the threads of a row. */
template <int G> LRA_DEV real row_sum(real x)
{
    LRA_UNROLL
    for (int other = G / 2; other; other /= 2) x += __shfl_xor_sync(~0u, x, other);
    return x;
}
template <int G> LRA_DEV real row_dot(const real x[STATE_CHANNELS], const real y[STATE_CHANNELS])
{
    real sum = 0;
    LRA_UNROLL
    for (int i = 0; i < STATE_CHANNELS; i++) sum += x[i] * y[i];
    return row_sum<G>(sum);
}

/* s = s (diag(w) - a b^T) + v k^T for the rows of this thread. token: staged q of the token;
 * values: v of the rows. */
template <int G>
LRA_DEV void step(const state_view *v, const real *token, const real *values,
                  real s[STATE_ROWS][STATE_CHANNELS])
{
    enum { SIZE = staged<G>::SIZE };
    real x[STATE_CHANNELS], u[STATE_ROWS];
    if (v->x[STATE_A]) {
        load_channels<G>(token + STAGED_A * SIZE, x);
        LRA_UNROLL
        for (int r = 0; r < STATE_ROWS; r++) u[r] = row_dot<G>(s[r], x);
    }
    if (v->x[STATE_W]) {
        load_channels<G>(token + STAGED_W * SIZE, x);
        LRA_UNROLL
        for (int r = 0; r < STATE_ROWS; r++)
            for (int i = 0; i < STATE_CHANNELS; i++) s[r][i] *= x[i];
    }
    if (v->x[STATE_A]) {
        load_channels<G>(token + STAGED_B * SIZE, x);
        LRA_UNROLL
        for (int r = 0; r < STATE_ROWS; r++)
            for (int i = 0; i < STATE_CHANNELS; i++) s[r][i] -= u[r] * x[i];
    }
    load_channels<G>(token + STAGED_K * SIZE, x);
    LRA_UNROLL
    for (int r = 0; r < STATE_ROWS; r++)
        for (int i = 0; i < STATE_CHANNELS; i++) s[r][i] += values[r] * x[i];
}

#endif
