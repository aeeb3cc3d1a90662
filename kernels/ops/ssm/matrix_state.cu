/* A matrix state on a GPU (matrix_state.c): one block for a group of rows of the state of a head.
 * The state is in registers, tokens are in order, and dot products with the state are sums of
 * shuffles (matrix_state_cuda.h). For each token a warp of K 64 reads 10 times 128 bytes of shared
 * memory for 80 multiply-adds a thread: by count, products are the limit, not shared memory.
 * With a distance limit, a warp processes one token: it walks back over the window and keeps z and
 * y in shared memory. So do all heads with K above 256, at T / 2 steps a token. */
#include "kernels/ops/ssm/matrix_state_cuda.h"

template <int G> static __global__ void state_kernel(state_view v, elem *y)
{
    LRA_SHARED(real, vectors);
    enum { KP = staged<G>::KP, TOKENS = staged<G>::TOKENS };
    const real *values = vectors + STAGED_ALL * staged<G>::SIZE;
    state_head h = head_of(&v, blockIdx.x / v.n.tiles);
    if (is_cut(&v, h.h)) return;
    int64_t first = blockIdx.x % v.n.tiles * v.n.rows;
    int own = (int)threadIdx.x / G * STATE_ROWS;
    bool leads = threadIdx.x % G == 0;
    real s[STATE_ROWS][STATE_CHANNELS] = {};
    for (int64_t from = 0; from < h.tokens; from += TOKENS) {
        int n = h.tokens - from < TOKENS ? (int)(h.tokens - from) : (int)TOKENS;
        stage_tokens<G>(&v, &h, first, from, n, vectors, NULL, LRA_F32);
        for (int t = 0; t < n; t++) {
            const real *token = vectors + t * KP;
            real q[STATE_CHANNELS];
            step<G>(&v, token, values + t * v.n.rows + own, s);
            load_channels<G>(token, q);
            elem *out = y + row_at(&v, &h, from + t) * v.s.V + first + own;
            LRA_UNROLL
            for (int r = 0; r < STATE_ROWS; r++) {
                real sum = row_dot<G>(s[r], q);
                if (leads && first + own + r < v.s.V) out[r] = e_store(sum);
            }
        }
    }
    for (int64_t t = h.tokens; t < v.s.T; t++)
        for (int64_t r = first + threadIdx.x; r < first + v.n.rows && r < v.s.V; r += blockDim.x)
            y[row_at(&v, &h, t) * v.s.V + r] = e_store(0);
}

/* y of token number t of a head with a distance limit, by one warp. z (K), sum (V): shared memory
 * of which each lane uses every 32nd element */
LRA_DEV void walk_window(const state_view *v, const state_head *h, int64_t t, real *z, real *sum,
                         elem *y)
{
    int64_t K = v->s.K, V = v->s.V, limit = limit_of(v, h->h), lane = threadIdx.x % LRA_WARP;
    int64_t to = row_at(v, h, t);
    bool corrects = v->x[STATE_A] != NULL;
    for (int64_t r = lane; r < V; r += LRA_WARP) sum[r] = 0;
    for (int64_t c = lane; c < K; c += LRA_WARP) z[c] = value_at(v, STATE_Q, to, K, c);
    for (int64_t j = t; j >= 0 && t - j <= limit && t < h->tokens; j--) {
        int64_t row = row_at(v, h, j);
        real weight = 0, share = 0;
        for (int64_t c = lane; c < K; c += LRA_WARP) {
            weight += value_at(v, STATE_K, row, K, c) * z[c];
            if (corrects) share += value_at(v, STATE_B, row, K, c) * z[c];
        }
        weight = warp_sum(weight), share = warp_sum(share);
        for (int64_t r = lane; r < V; r += LRA_WARP)
            sum[r] += weight * value_at(v, STATE_V, row, V, r);
        for (int64_t c = lane; c < K; c += LRA_WARP) {
            real next = decay_at(v, row, c) * z[c];
            if (corrects) next -= share * value_at(v, STATE_A, row, K, c);
            z[c] = next;
        }
    }
    for (int64_t r = lane; r < V; r += LRA_WARP) y[to * V + r] = e_store(sum[r]);
}

static __global__ void window_kernel(state_view v, elem *y)
{
    LRA_SHARED(real, shared);
    int64_t warp = threadIdx.x / LRA_WARP, warps = blockDim.x / LRA_WARP;
    real *z = shared + warp * (v.s.K + v.s.V);
    for (int64_t i = blockIdx.x * warps + warp; i < v.s.B * v.s.H * v.s.T; i += gridDim.x * warps) {
        state_head h = head_of(&v, i / v.s.T);
        if (is_cut(&v, h.h)) walk_window(&v, &h, i % v.s.T, z, z + v.s.K, y);
    }
}

template <int G> static void launch_states(const state_view *v, elem *y, void *stream)
{
    size_t reals = (size_t)(STAGED_ALL * staged<G>::SIZE + staged<G>::TOKENS * v->n.rows);
    LRA_ALLOW_SHARED(state_kernel<G>, reals * sizeof(real));
    LRA_LAUNCH(state_kernel<G>, (unsigned)(v->s.B * v->s.H * v->n.tiles),
               (unsigned)(v->n.warps * LRA_WARP), reals * sizeof(real), stream, *v, y);
}

/* Sources: q, k, v, [w], [a, b], [length], [limit]. */
LRA_CUDA_BODY(matrix_state)
{
    state_view v = state_view_of(c, 0);
    elem *y = (elem *)c->out;
    STATE_BY_LANES(v.n.lanes, launch_states, &v, y, stream);
    if (!v.limit && v.n.lanes > 0) return;
    /* warps of a block: their z and y take at most 40 KiB, if one warp does */
    int64_t warps = 10240 / (v.s.K + v.s.V), tokens = v.s.B * v.s.H * v.s.T;
    warps = warps < 1 ? 1 : smaller(warps, LRA_BLOCK_WARPS);
    size_t shared = (size_t)(warps * (v.s.K + v.s.V)) * sizeof(real);
    LRA_ALLOW_SHARED(window_kernel, shared);
    LRA_LAUNCH(window_kernel, lra_grid(tokens, warps), (unsigned)(warps * LRA_WARP), shared, stream,
               v, y);
}
