/* Attention on a GPU.  2 products of 2 K FLOP for each pair of query and key; q, k, v and y once over the bus, so
 * that T / 4 FLOP and more stand against a byte of bf16: arithmetic limits it at every length that matters. */
#include "kernels/ops/attention_cuda_fn.h"
#if LRA_PASS == 16
#include "kernels/ops/attention_mma_fn.h"
#endif

/* x: tiles and heads; y: channels of y */
template <int CHUNKS>
static __global__ void __launch_bounds__(LRA_BLOCK, 1) attention_tile_kernel(attention_job j)
{
    LRA_SHARED(real, shared);
    real *tile = shared + AT_TILE * AT_PITCH;
    attention_place p = attention_find(&j, AT_TILE);
    attention_keys keys = attention_reach(&j, &p, p.t0 + AT_TILE, false);
    int c0 = (int)blockIdx.y * CHUNKS * AT_TILE;
    real sum[CHUNKS][AT_SUMS][AT_SUMS] = {{{0}}}, shrink[AT_SUMS];
    at_softmax r;
    at_begin(&j, &p, &r);
    for (int j0 = (int)keys.from; j0 < keys.to; j0 += AT_TILE) {
        real s[AT_SUMS][AT_SUMS] = {{0}};
        at_products(&j, &p, j.q, p.t0, j.k, j0, shared, s);
        at_exp(&p, j0, &r, s, shrink);
        at_shrink<CHUNKS>(shrink, sum);
        at_put(s, tile);
        at_add<CHUNKS>(&j, &p, tile, j.v, j0, c0, shared, sum);
    }
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++) shrink[i] = 1 / at_sum(r.sum[i]);
    at_finish<CHUNKS>(&j, &p, c0, shrink, sum, j.out);
}

/* sources: q, k, v, [length] */
LRA_CUDA_BODY(attention)
{
    const attention_args *a = (const attention_args *)c->y->args;
    const lra_shape *s = &c->y->shape;
    attention_job j = {*a, s->d[1], s->d[2], s->d[3]};
    j.length = a->has_length ? (const int32_t *)c->in[3] : NULL;
    j.q = (const elem *)c->in[0], j.k = (const elem *)c->in[1], j.v = (const elem *)c->in[2];
    j.out = (elem *)c->out;
#if LRA_PASS == 16
    if (lra_cuda_level() >= LRA_CUDA_MMA && attention_mma_fits(&j)) {
        AM_FOR_WIDTH(attention_mma_run, j.K, attention_is_distant(&j), &j, s, stream);
        return;
    }
#endif
    if (j.K <= AT_TILE)
        LRA_LAUNCH(attention_tile_kernel<1>, at_grid(s, 1), LRA_BLOCK, AT_SHARED, stream, j);
    else
        LRA_LAUNCH(attention_tile_kernel<2>, at_grid(s, 2), LRA_BLOCK, AT_SHARED, stream, j);
}
