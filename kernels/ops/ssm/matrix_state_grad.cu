/* Gradients of a matrix state on a GPU (matrix_state_grad.c). A block processes groups of rows of
 * the state of a head, one group after the other: first forward, storing the state before every
 * STATE_CHUNK tokens, then back, chunk by chunk, with the states of a chunk computed again. Threads
 * read only the states that they stored. The gradients of q, k, w, a, b are sums over rows: over
 * the rows of a warp by shuffles, over warps in shared memory, over groups in the order of the
 * groups, and over the blocks of a head by add_kernel, in order.
 * By count, an element of a state and token costs 35 FLOP and 8 bytes of the L2 cache (the states
 * of a chunk); at 24 bytes a clock and multiprocessor these are 105 of its 256 FLOP a clock.
 * With a distance limit, a warp processes a head, token by token. */
#include "kernels/ops/ssm/matrix_state_cuda.h"

typedef struct {
    state_view v;
    const void *dy;
    lra_type dy_type;
    int64_t offset[STATE_LENGTH]; /* of the gradients of the sources in `out` */
    int64_t sums;                 /* matrix_state_sums() */
    real *out, *states, *rest;    /* rest: sums of parts 1, 2, .., (parts-1,B,T,H,sums) */
} grad_view;

/* Gradient number j of the sums of a row of (B,T,H). */
LRA_DEV real *sum_at(const grad_view *g, int64_t part, int64_t row, int64_t j)
{
    const matrix_state_sizes *s = &g->v.s;
    if (part > 0) return g->rest + ((part - 1) * s->B * s->T * s->H + row) * g->sums + j;
    if (j < s->K) return g->out + g->offset[STATE_Q] + row * s->K + j;
    j -= s->K;
    if (j < s->K) return g->out + g->offset[STATE_K] + row * s->K + j;
    j -= s->K;
    if (j < s->W) return g->out + g->offset[STATE_W] + row * s->W + j;
    j -= s->W;
    if (j < s->K) return g->out + g->offset[STATE_A] + row * s->K + j;
    return g->out + g->offset[STATE_B] + row * s->K + j - s->K;
}

/* ---- recurrence ------------------------------------------------------------------------------ */

/* A block: its head, first row, memory. */
typedef struct {
    state_head h;
    int64_t part, first, chunks;
    bool adds;     /* sums are added to those of the groups of rows before */
    real *vectors; /* shared: staged tokens */
    real *sums;    /* shared: sums of the warps, (2,warps,sums) */
    real *states;  /* states before each chunk, then within a chunk */
} grad_block;

typedef real state_rows[STATE_ROWS][STATE_CHANNELS];

LRA_DEV void save_state(const grad_block *o, int64_t slot, const state_rows s)
{
    real *to = o->states + slot * STATE_ROWS * STATE_CHANNELS * blockDim.x + threadIdx.x;
    LRA_UNROLL
    for (int r = 0; r < STATE_ROWS; r++)
        for (int i = 0; i < STATE_CHANNELS; i++)
            to[(r * STATE_CHANNELS + i) * blockDim.x] = s[r][i];
}
LRA_DEV void load_state(const grad_block *o, int64_t slot, state_rows s)
{
    const real *from = o->states + slot * STATE_ROWS * STATE_CHANNELS * blockDim.x + threadIdx.x;
    LRA_UNROLL
    for (int r = 0; r < STATE_ROWS; r++)
        for (int i = 0; i < STATE_CHANNELS; i++)
            s[r][i] = from[(r * STATE_CHANNELS + i) * blockDim.x];
}

/* Adds x over the rows of the warp and writes the sums of its channels to `to` (K). In each round
 * two threads exchange the halves that they do not keep. */
template <int G> LRA_DEV void put_channels(real x[STATE_CHANNELS], int64_t K, real *to)
{
    enum { SHARES = 32 / G, KEPT = SHARES < STATE_CHANNELS ? STATE_CHANNELS / SHARES : 1 };
    int lane = (int)threadIdx.x % LRA_WARP, n = STATE_CHANNELS, first = 0;
    bool writes = true;
    LRA_UNROLL
    for (int other = LRA_WARP / 2; other >= G; other /= 2) {
        bool upper = lane & other;
        if (n == 1) {
            x[0] += __shfl_xor_sync(~0u, x[0], other);
            writes = writes && !upper;
            continue;
        }
        n /= 2;
        if (upper) first += n;
        LRA_UNROLL
        for (int i = 0; i < n; i++) {
            real own = upper ? x[i + n] : x[i], given = upper ? x[i] : x[i + n];
            x[i] = own + __shfl_xor_sync(~0u, given, other);
        }
    }
    LRA_UNROLL
    for (int i = 0; i < KEPT; i++) {
        int64_t c = channel_of<G>(first + i);
        if (writes && c < K) to[c] = x[i];
    }
}

/* Adds factor[r] x[r] over the rows of this thread. */
LRA_DEV void weigh_rows(const real factor[STATE_ROWS], const state_rows x, real y[STATE_CHANNELS])
{
    LRA_UNROLL
    for (int i = 0; i < STATE_CHANNELS; i++) y[i] = factor[0] * x[0][i];
    LRA_UNROLL
    for (int r = 1; r < STATE_ROWS; r++)
        for (int i = 0; i < STATE_CHANNELS; i++) y[i] += factor[r] * x[r][i];
}

/* x += factor[r] y for the rows of this thread. */
LRA_DEV void add_outer(state_rows x, const real factor[STATE_ROWS], const real y[STATE_CHANNELS])
{
    LRA_UNROLL
    for (int r = 0; r < STATE_ROWS; r++)
        for (int i = 0; i < STATE_CHANNELS; i++) x[r][i] += factor[r] * y[i];
}

/* Gradient of w, before G_(t-1) is computed. to: (W) */
template <int G>
LRA_DEV void put_decay(const state_view *v, const state_rows before, const state_rows grad,
                       real *to)
{
    real dw[STATE_CHANNELS] = {};
    LRA_UNROLL
    for (int r = 0; r < STATE_ROWS; r++)
        for (int i = 0; i < STATE_CHANNELS; i++) dw[i] += grad[r][i] * before[r][i];
    if (v->s.W > 1 || v->s.K == 1) {
        put_channels<G>(dw, v->s.K, to);
        return;
    }
    real sum = 0;
    LRA_UNROLL
    for (int i = 0; i < STATE_CHANNELS; i++) sum += dw[i];
    sum = warp_sum(sum);
    if (threadIdx.x % LRA_WARP == 0) to[0] = sum;
}

/* Backward step of a token. token: its staged q; value, dy: of the rows of this thread; before,
 * after: S_(t-1), S_t; grad: G, updated; dv: gradient of v; to: sums of this warp. */
template <int G>
LRA_DEV void step_back(const state_view *v, const real *token, const real *value, const real *dy,
                       const state_rows before, const state_rows after, state_rows grad,
                       real dv[STATE_ROWS], real *to)
{
    enum { SIZE = staged<G>::SIZE };
    int64_t K = v->s.K, W = v->s.W;
    real x[STATE_CHANNELS], sum[STATE_CHANNELS], u[STATE_ROWS], du[STATE_ROWS];
    load_channels<G>(token + STAGED_Q * SIZE, x);
    add_outer(grad, dy, x);
    weigh_rows(dy, after, sum);
    put_channels<G>(sum, K, to);
    load_channels<G>(token + STAGED_K * SIZE, x);
    LRA_UNROLL
    for (int r = 0; r < STATE_ROWS; r++) dv[r] = row_dot<G>(grad[r], x);
    weigh_rows(value, grad, sum);
    put_channels<G>(sum, K, to + K);
    if (v->x[STATE_W]) put_decay<G>(v, before, grad, to + 2 * K);
    if (v->x[STATE_A]) {
        load_channels<G>(token + STAGED_B * SIZE, x);
        LRA_UNROLL
        for (int r = 0; r < STATE_ROWS; r++) du[r] = -row_dot<G>(grad[r], x);
        load_channels<G>(token + STAGED_A * SIZE, x);
        LRA_UNROLL
        for (int r = 0; r < STATE_ROWS; r++) u[r] = -row_dot<G>(before[r], x);
        weigh_rows(u, grad, sum);
        put_channels<G>(sum, K, to + 3 * K + W);
        weigh_rows(du, before, sum);
        put_channels<G>(sum, K, to + 2 * K + W);
    }
    if (v->x[STATE_W]) {
        real w[STATE_CHANNELS];
        load_channels<G>(token + STAGED_W * SIZE, w);
        LRA_UNROLL
        for (int r = 0; r < STATE_ROWS; r++)
            for (int i = 0; i < STATE_CHANNELS; i++) grad[r][i] *= w[i];
    }
    if (v->x[STATE_A]) add_outer(grad, du, x);
}

/* Adds the sums of the warps, in order, and writes those of token number t. */
LRA_DEV void write_sums(const grad_view *g, const grad_block *o, int64_t t)
{
    int warps = (int)blockDim.x / LRA_WARP;
    const real *from = o->sums + t % 2 * warps * g->sums;
    int64_t row = row_at(&g->v, &o->h, t);
    __syncthreads();
    for (int64_t j = threadIdx.x; j < g->sums; j += blockDim.x) {
        real sum = from[j], *to = sum_at(g, o->part, row, j);
        for (int w = 1; w < warps; w++) sum += from[w * g->sums + j];
        *to = o->adds ? *to + sum : sum;
    }
}

/* Number of tokens from `from` on that are staged together. */
template <int G> LRA_DEV int staged_tokens(int64_t from, int64_t end)
{
    return end - from < staged<G>::TOKENS ? (int)(end - from) : (int)staged<G>::TOKENS;
}

/* Tokens [from, end) forward. slot: of the state before each token; -1: states are not stored. */
template <int G>
LRA_DEV void run_forward(const grad_view *g, const grad_block *o, int64_t from, int64_t end,
                         int64_t slot, state_rows s)
{
    const state_view *v = &g->v;
    const real *values = o->vectors + STAGED_ALL * staged<G>::SIZE;
    int own = (int)threadIdx.x / G * STATE_ROWS;
    for (; from < end; from += staged<G>::TOKENS) {
        int n = staged_tokens<G>(from, end);
        stage_tokens<G>(v, &o->h, o->first, from, n, o->vectors, NULL, LRA_F32);
        for (int t = 0; t < n; t++) {
            if (slot >= 0) save_state(o, slot++, s);
            step<G>(v, o->vectors + t * staged<G>::KP, values + t * v->n.rows + own, s);
        }
    }
}

/* Tokens [start, end) of a chunk, backward. s: state after the last one, overwritten; grad: G */
template <int G>
LRA_DEV void run_back(const grad_view *g, const grad_block *o, int64_t start, int64_t end,
                      state_rows s, state_rows grad)
{
    enum { TOKENS = staged<G>::TOKENS };
    const state_view *v = &g->v;
    const real *values = o->vectors + STAGED_ALL * staged<G>::SIZE;
    const real *dy = values + TOKENS * v->n.rows;
    int own = (int)threadIdx.x / G * STATE_ROWS, warp = (int)threadIdx.x / LRA_WARP;
    int warps = (int)blockDim.x / LRA_WARP;
    for (int64_t from = start + (end - start - 1) / TOKENS * TOKENS; from >= start;
         from -= TOKENS) {
        int n = staged_tokens<G>(from, end);
        stage_tokens<G>(v, &o->h, o->first, from, n, o->vectors, g->dy, g->dy_type);
        for (int t = n - 1; t >= 0; t--) {
            int64_t k = from + t, row = row_at(v, &o->h, k) * v->s.V + o->first + own;
            state_rows before;
            real dv[STATE_ROWS];
            load_state(o, o->chunks + k - start, before);
            step_back<G>(v, o->vectors + t * staged<G>::KP, values + t * v->n.rows + own,
                         dy + t * v->n.rows + own, before, s, grad, dv,
                         o->sums + (k % 2 * warps + warp) * g->sums);
            for (int r = 0; r < STATE_ROWS && threadIdx.x % G == 0; r++)
                if (o->first + own + r < v->s.V) g->out[g->offset[STATE_V] + row + r] = dv[r];
            write_sums(g, o, k);
            memcpy(s, before, sizeof before);
        }
    }
}

/* Clears the gradients of padding. */
LRA_DEV void clear_padding(const grad_view *g, const grad_block *o)
{
    const state_view *v = &g->v;
    for (int64_t t = o->h.tokens; t < v->s.T; t++) {
        int64_t row = row_at(v, &o->h, t), end = o->first + v->n.rows;
        for (int64_t j = threadIdx.x; j < g->sums && !o->adds; j += blockDim.x)
            *sum_at(g, o->part, row, j) = 0;
        for (int64_t r = o->first + threadIdx.x; r < end && r < v->s.V; r += blockDim.x)
            g->out[g->offset[STATE_V] + row * v->s.V + r] = 0;
    }
}

/* shared: staged vectors, v and dy of the rows, sums of the warps */
template <int G> static __global__ void back_kernel(grad_view g)
{
    LRA_SHARED(real, shared);
    const state_view *v = &g.v;
    grad_block o = {head_of(v, blockIdx.x / v->n.parts), blockIdx.x % v->n.parts};
    if (is_cut(v, o.h.h)) return;
    int64_t chunks = (v->s.T + STATE_CHUNK - 1) / STATE_CHUNK;
    int64_t last = (o.h.tokens - 1) / STATE_CHUNK;
    o.chunks = chunks, o.vectors = shared;
    o.sums = shared + STAGED_ALL * staged<G>::SIZE + 2 * staged<G>::TOKENS * v->n.rows;
    o.states = g.states + blockIdx.x * (chunks + STATE_CHUNK) * v->n.rows * staged<G>::KP;
    for (int64_t tile = o.part; tile < v->n.tiles; tile += v->n.parts) {
        state_rows s = {}, grad = {};
        o.first = tile * v->n.rows, o.adds = tile != o.part;
        for (int64_t i = 0; i <= last; i++) {
            save_state(&o, i, s);
            if (i < last) run_forward<G>(&g, &o, i * STATE_CHUNK, (i + 1) * STATE_CHUNK, -1, s);
        }
        for (int64_t i = last; i >= 0; i--) {
            int64_t start = i * STATE_CHUNK, end = start + STATE_CHUNK;
            if (end > o.h.tokens) end = o.h.tokens;
            load_state(&o, i, s);
            run_forward<G>(&g, &o, start, end, chunks, s);
            run_back<G>(&g, &o, start, end, s, grad);
        }
        clear_padding(&g, &o);
    }
}

/* Adds the sums of parts 1, 2, .. to those of part 0, in this order. */
static __global__ void add_kernel(grad_view g)
{
    const matrix_state_sizes *s = &g.v.s;
    int64_t n = s->B * s->T * s->H * g.sums, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        int64_t row = i / g.sums, j = i % g.sums;
        if (is_cut(&g.v, row % s->H)) continue;
        real *to = sum_at(&g, 0, row, j), sum = *to;
        for (int64_t part = 1; part < g.v.n.parts; part++) sum += *sum_at(&g, part, row, j);
        *to = sum;
    }
}

template <int G> static void launch_back(const grad_view *g, void *stream)
{
    const matrix_state_blocks *n = &g->v.n;
    int64_t heads = g->v.s.B * g->v.s.H;
    int64_t reals = STAGED_ALL * staged<G>::SIZE + 2 * staged<G>::TOKENS * n->rows +
                    2 * n->warps * g->sums;
    size_t shared = (size_t)reals * sizeof(real);
    LRA_ALLOW_SHARED(back_kernel<G>, shared);
    LRA_LAUNCH(back_kernel<G>, (unsigned)(heads * n->parts), (unsigned)(n->warps * LRA_WARP),
               shared, stream, *g);
    if (n->parts > 1)
        LRA_LAUNCH(add_kernel, lra_grid(heads * g->v.s.T * g->sums, LRA_BLOCK), LRA_BLOCK, 0,
                   stream, *g);
}

/* ---- with a distance limit ------------------------------------------------------------------- */

/* Gradient of a source at a row of (B,T,H). */
LRA_DEV real *gradient_at(const grad_view *g, int which, int64_t row, int64_t width)
{
    return g->out + g->offset[which] + row * width;
}

/* A warp that processes a head: its lane uses every 32nd channel and every 32nd value. z: (T,K),
 * dz: (K) */
typedef struct {
    state_head h;
    int64_t lane;
    real *z, *dz;
} grad_warp;

/* Dot product of a vector of a source with x (K), over the warp. 0 if the source is absent. */
LRA_DEV real warp_dot(const state_view *v, const grad_warp *o, int which, int64_t row,
                      const real *x)
{
    real sum = 0;
    if (!v->x[which]) return 0;
    for (int64_t c = o->lane; c < v->s.K; c += LRA_WARP)
        sum += value_at(v, which, row, v->s.K, c) * x[c];
    return warp_sum(sum);
}

/* Vectors z of the tokens t, t - 1, .., t - n + 1, from z = q of token t. */
LRA_DEV void store_window(const state_view *v, const grad_warp *o, int64_t t, int64_t n)
{
    int64_t K = v->s.K, row = row_at(v, &o->h, t);
    for (int64_t c = o->lane; c < K; c += LRA_WARP) o->z[c] = value_at(v, STATE_Q, row, K, c);
    for (int64_t i = 1; i < n; i++) {
        const real *z = o->z + (i - 1) * K;
        row = row_at(v, &o->h, t - i + 1);
        real share = warp_dot(v, o, STATE_B, row, z);
        for (int64_t c = o->lane; c < K; c += LRA_WARP) {
            real next = decay_at(v, row, c) * z[c];
            if (v->x[STATE_A]) next -= share * value_at(v, STATE_A, row, K, c);
            o->z[i * K + c] = next;
        }
    }
}

/* Adds the gradients of token number j from those of y of token t; z: of token j. */
LRA_DEV void back_token(const grad_view *g, const grad_warp *o, int64_t t, int64_t j, const real *z)
{
    const state_view *v = &g->v;
    int64_t K = v->s.K, V = v->s.V, row = row_at(v, &o->h, j), from = row_at(v, &o->h, t) * V;
    real change = 0, decay = 0, *dv = gradient_at(g, STATE_V, row, V);
    real weight = warp_dot(v, o, STATE_K, row, z), into = warp_dot(v, o, STATE_A, row, o->dz);
    real share = warp_dot(v, o, STATE_B, row, z), *dk = gradient_at(g, STATE_K, row, K);
    real *dw = gradient_at(g, STATE_W, row, v->s.W), *da = gradient_at(g, STATE_A, row, K);
    real *db = gradient_at(g, STATE_B, row, K);
    for (int64_t r = o->lane; r < V; r += LRA_WARP) {
        real dy = t_load(g->dy, g->dy_type, from + r);
        change += dy * value_at(v, STATE_V, row, V, r);
        dv[r] += weight * dy;
    }
    change = warp_sum(change);
    for (int64_t c = o->lane; c < K; c += LRA_WARP) {
        real old = o->dz[c];
        real next = change * value_at(v, STATE_K, row, K, c) + decay_at(v, row, c) * old;
        dk[c] += change * z[c];
        if (v->s.W == 1) decay += z[c] * old;
        if (v->s.W > 1) dw[c] += z[c] * old;
        if (v->x[STATE_A]) {
            next -= into * value_at(v, STATE_B, row, K, c);
            da[c] -= share * old, db[c] -= into * z[c];
        }
        o->dz[c] = next;
    }
    decay = warp_sum(decay);
    if (v->s.W == 1 && o->lane == 0) dw[0] += decay;
}

/* Clears the gradients of a head. */
LRA_DEV void clear_head(const grad_view *g, const grad_warp *o)
{
    const state_view *v = &g->v;
    const int64_t width[STATE_LENGTH] = {v->s.K, v->s.K, v->s.V, v->s.W, v->s.K, v->s.K};
    for (int64_t t = 0; t < v->s.T; t++)
        for (int which = STATE_Q; which < STATE_LENGTH; which++)
            for (int64_t c = o->lane; v->x[which] && c < width[which]; c += LRA_WARP)
                gradient_at(g, which, row_at(v, &o->h, t), width[which])[c] = 0;
}

static __global__ void window_kernel(grad_view g)
{
    const state_view *v = &g.v;
    int64_t K = v->s.K;
    grad_warp o = {head_of(v, blockIdx.x), threadIdx.x};
    if (!is_cut(v, o.h.h)) return;
    o.z = g.states + blockIdx.x * (v->s.T + 1) * K, o.dz = o.z + v->s.T * K;
    clear_head(&g, &o);
    for (int64_t t = 0; t < o.h.tokens; t++) {
        int64_t limit = limit_of(v, o.h.h), n = 1 + (t < limit ? t : limit);
        real *dq = gradient_at(&g, STATE_Q, row_at(v, &o.h, t), K);
        store_window(v, &o, t, n);
        for (int64_t c = o.lane; c < K; c += LRA_WARP) o.dz[c] = 0;
        for (int64_t i = n - 1; i >= 0; i--) back_token(&g, &o, t, t - i, o.z + i * K);
        for (int64_t c = o.lane; c < K; c += LRA_WARP) dq[c] = o.dz[c];
    }
}

/* Sources: dy, q, k, v, [w], [a, b], [length], [limit]. */
LRA_CUDA_BODY(matrix_state_grad)
{
    const matrix_state_args *a = (const matrix_state_args *)c->y->args;
    grad_view g = {state_view_of(c, 1), c->in[0], c->y->src[0]->type};
    for (int i = STATE_Q; i < STATE_LENGTH; i++) g.offset[i] = matrix_state_offset(a, g.v.s, i);
    g.sums = matrix_state_sums(a, g.v.s);
    g.out = (real *)c->out, g.states = (real *)c->scratch;
    g.rest = g.states + (g.v.n.lanes ? matrix_state_stored(g.v.s, g.v.n) : 0);
    STATE_BY_LANES(g.v.n.lanes, launch_back, &g, stream);
    if (g.v.limit || g.v.n.lanes == 0)
        LRA_LAUNCH(window_kernel, (unsigned)(g.v.s.B * g.v.s.H), LRA_WARP, 0, stream, g);
}
