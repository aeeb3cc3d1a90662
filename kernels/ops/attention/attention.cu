/* Attention on a GPU. Each pair of query and key costs two products, K channels each, that is 4 K
 * FLOP. q, k, v and y cross the memory bus once. In bf16 that is at least T / 4 FLOP per byte, so
 * that the kernel is compute bound at every practical length. */
#include "kernels/ops/attention/attention_cuda.h"
#if LRA_TYPE_bf16
#include "kernels/ops/attention/attention_mma.h"
#endif

/* Grid: x = tiles of queries times heads, y = groups of output channels. */
template <int CHUNKS>
static __global__ void __launch_bounds__(LRA_BLOCK, 1) attention_tile_kernel(attention_job j)
{
    LRA_SHARED(real, shared);
    real *tile = shared + AT_TILE * AT_PITCH;
    const attention_block b = attention_begin(&j, AT_TILE, false);
    const attention_place &p = b.p;
    int c0 = (int)blockIdx.y * CHUNKS * AT_TILE;
    real sum[CHUNKS][AT_SUMS][AT_SUMS] = {{{0}}}, shrink[AT_SUMS];
    at_softmax r;
    at_begin(&p, &r);
    for (int j0 = (int)b.met.from; j0 < b.met.to; j0 += AT_TILE) {
        if (!at_meet(&p, p.t0, j0)) continue;
        real s[AT_SUMS][AT_SUMS] = {{0}};
        at_products(j.q, &b.of.q, p.t0, j.k, &b.of.k, j0, shared, s);
        at_exp(&p, j0, &r, s, shrink);
        at_shrink<CHUNKS>(shrink, sum);
        at_drop(&j, &p, j0, s);
        at_put(s, tile);
        at_add<CHUNKS>(tile, j.v, &b.of.v, j0, c0, shared, sum);
    }
    LRA_UNROLL for (int i = 0; i < AT_SUMS; i++)
    {
        real total = at_sum(r.sum[i]);
        shrink[i] = at_one_of(&p, total);
        if (blockIdx.y == 0 && at_lane() == 0)
            at_leave_sum(&j, &p, p.t0 + at_row() + i, r.max[i] * AT_LOG2E, total);
    }
    at_finish<CHUNKS>(&p, c0, shrink, sum, j.out, &b.of.y);
}

/* Sources: q, k, v, optional sources. */
LRA_CUDA_BODY(attention)
{
    attention_job j = attention_job_of(c, 0, 3);
    j.out = (elem *)c->out, j.left = j.out + j.s.B * j.s.Tq * j.s.H * j.s.V;
#if LRA_TYPE_bf16
    if (lra_cuda_level() >= LRA_CUDA_MMA && attention_mma_fits(&j)) {
        AM_FOR_WIDTH(attention_mma_run, j.s.K, attention_is_distant(&j), &j, stream);
        return;
    }
#endif
    AT_LAUNCH(attention_tile_kernel, j, false, j.s.V, stream);
}
