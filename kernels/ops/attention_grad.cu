/* Gradients of attention on a GPU, in two passes so that nothing is added by two blocks:
 *   of queries: keys pass by as they do forward; with e_ij = exp(s_ij - max) and the maximum so far
 *     dq_i = sum_j f e_ij (dy_i v_j - dy_i y_i) k_j / sum_j e_ij,
 *     and the maximum, 1/sum and dy_i y_i of a row are left for the other pass;
 *   of keys: queries pass by, p_ij = e_ij / sum is known.
 * 3 and 4 products of 2 K FLOP a pair, 7 instead of the 5 of one pass with atomic sums; over the bus q, k, v, dy twice,
 * y and the gradients once. */
#include "kernels/ops/attention_cuda_fn.h"
#if LRA_PASS == 16
#include "kernels/ops/attention_back_mma_fn.h"
#endif

/* dot[i] = dy_i y_i of a thread's rows */
LRA_DEV void at_dot(const attention_job *j, const attention_place *p, real dot[AT_SUMS])
{
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        int t = p->t0 + at_row() + i;
        dot[i] = 0;
        for (int c = at_lane(); c < j->K; c += AT_LANES)
            dot[i] += at_load(j, p, j->dy, t, c) * at_load(j, p, j->y, t, c);
        dot[i] = at_sum(dot[i]);
    }
}

/* Leaves what the keys need of a thread's rows. */
LRA_DEV void at_leave(const attention_job *j, const attention_place *p, const at_softmax *r,
                      const real one[AT_SUMS], const real dot[AT_SUMS])
{
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        int t = p->t0 + at_row() + i;
        real *row = j->rows + (p->head * j->T + t) * ATTENTION_LEFT;
        if (t < p->n && at_lane() == 0) row[0] = r->max[i], row[1] = one[i], row[2] = dot[i];
    }
}

/* x: tiles of queries and heads; y: channels of dq */
template <int CHUNKS>
static __global__ void __launch_bounds__(LRA_BLOCK, 1) attention_dq_tile_kernel(attention_job j)
{
    LRA_SHARED(real, shared);
    real *tile = shared + AT_TILE * AT_PITCH;
    attention_place p = attention_find(&j, AT_TILE);
    attention_keys keys = attention_reach(&j, &p, p.t0 + AT_TILE, false);
    int c0 = (int)blockIdx.y * CHUNKS * AT_TILE;
    real sum[CHUNKS][AT_SUMS][AT_SUMS] = {{{0}}}, shrink[AT_SUMS], dot[AT_SUMS];
    at_softmax r;
    at_begin(&j, &p, &r);
    at_dot(&j, &p, dot);
    for (int j0 = (int)keys.from; j0 < keys.to; j0 += AT_TILE) {
        real s[AT_SUMS][AT_SUMS] = {{0}}, ds[AT_SUMS][AT_SUMS] = {{0}};
        at_products(&j, &p, j.q, p.t0, j.k, j0, shared, s);
        at_products(&j, &p, j.dy, p.t0, j.v, j0, shared, ds);
        at_exp(&p, j0, &r, s, shrink);
        at_shrink<CHUNKS>(shrink, sum);
        LRA_UNROLL for (int i = 0; i < AT_SUMS; i++) LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
        {
            int d = attention_distance(p.t0 + at_row() + i, j0 + at_lane() + AT_LANES * k);
            s[i][k] *= (ds[i][k] - dot[i]) * attention_factor(&p, d);
        }
        at_put(s, tile);
        at_add<CHUNKS>(&j, &p, tile, j.k, j0, c0, shared, sum);
    }
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++) shrink[i] = 1 / at_sum(r.sum[i]);
    if (blockIdx.y == 0) at_leave(&j, &p, &r, shrink, dot);
    at_finish<CHUNKS>(&j, &p, c0, shrink, sum, j.out);
}

/* Products k q (keys, queries from i0 on) become p, products v dy become f ds. */
LRA_DEV void at_differentiate(const attention_job *j, const attention_place *p, int i0,
                              real s[AT_SUMS][AT_SUMS], real ds[AT_SUMS][AT_SUMS])
{
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        int key = p->t0 + at_row() + i;
        attention_keys queries = {0, 0};
        if (key < p->n) queries = attention_queries_of(&j->a, key, p->n);
        LRA_UNROLL for (int k = 0; k < AT_SUMS; k++)
        {
            int t = i0 + at_lane() + AT_LANES * k, d = attention_distance(t, key);
            const real *row = j->rows + (p->head * j->T + t) * ATTENTION_LEFT;
            if (t >= queries.from && t < queries.to) {
                s[i][k] = r_exp(attention_score(p, s[i][k], d) - row[0]) * row[1];
                ds[i][k] = s[i][k] * (ds[i][k] - row[2]) * attention_factor(p, d);
            } else {
                s[i][k] = ds[i][k] = 0;
            }
        }
    }
}

/* x: tiles of keys and heads; y: channels of dk and dv */
template <int CHUNKS>
static __global__ void __launch_bounds__(LRA_BLOCK, 1) attention_dkv_tile_kernel(attention_job j)
{
    LRA_SHARED(real, shared);
    real *tile = shared + AT_TILE * AT_PITCH;
    attention_place p = attention_find(&j, AT_TILE);
    int c0 = (int)blockIdx.y * CHUNKS * AT_TILE;
    attention_keys queries = attention_reach(&j, &p, p.t0 + AT_TILE, true);
    real dk[CHUNKS][AT_SUMS][AT_SUMS] = {{{0}}}, dv[CHUNKS][AT_SUMS][AT_SUMS] = {{{0}}};
    for (int i0 = (int)queries.from; i0 < queries.to; i0 += AT_TILE) {
        real s[AT_SUMS][AT_SUMS] = {{0}}, ds[AT_SUMS][AT_SUMS] = {{0}};
        at_products(&j, &p, j.k, p.t0, j.q, i0, shared, s);
        at_products(&j, &p, j.v, p.t0, j.dy, i0, shared, ds);
        at_differentiate(&j, &p, i0, s, ds);
        at_put(s, tile);
        at_add<CHUNKS>(&j, &p, tile, j.dy, i0, c0, shared, dv);
        at_put(ds, tile);
        at_add<CHUNKS>(&j, &p, tile, j.q, i0, c0, shared, dk);
    }
    const real one[AT_SUMS] = {1, 1, 1, 1};
    at_finish<CHUNKS>(&j, &p, c0, one, dk, j.dk);
    at_finish<CHUNKS>(&j, &p, c0, one, dv, j.dv);
}

/* sources: dy, q, k, v, y, [length]; scratch: ATTENTION_LEFT for every query */
LRA_CUDA_BODY(attention_grad)
{
    const attention_args *a = (const attention_args *)c->y->args;
    const lra_tensor *q = c->y->src[1];
    const lra_shape *s = &q->shape;
    int64_t n = lra_elements(q);
    attention_job j = {*a, s->d[1], s->d[2], s->d[3]};
    j.length = a->has_length ? (const int32_t *)c->in[5] : NULL;
    j.dy = (const elem *)c->in[0], j.q = (const elem *)c->in[1], j.k = (const elem *)c->in[2];
    j.v = (const elem *)c->in[3], j.y = (const elem *)c->in[4];
    j.out = (elem *)c->out, j.dk = j.out + n, j.dv = j.out + 2 * n;
    j.rows = (real *)c->scratch;
#if LRA_PASS == 16
    if (lra_cuda_level() >= LRA_CUDA_MMA && attention_mma_fits(&j)) {
        AM_FOR_WIDTH(attention_back_mma_run, j.K, attention_is_distant(&j), &j, s, stream);
        return;
    }
#endif
    if (j.K <= AT_TILE) {
        LRA_LAUNCH(attention_dq_tile_kernel<1>, at_grid(s, 1), LRA_BLOCK, AT_SHARED, stream, j);
        LRA_LAUNCH(attention_dkv_tile_kernel<1>, at_grid(s, 1), LRA_BLOCK, AT_SHARED, stream, j);
    } else {
        LRA_LAUNCH(attention_dq_tile_kernel<2>, at_grid(s, 2), LRA_BLOCK, AT_SHARED, stream, j);
        LRA_LAUNCH(attention_dkv_tile_kernel<2>, at_grid(s, 2), LRA_BLOCK, AT_SHARED, stream, j);
    }
}
