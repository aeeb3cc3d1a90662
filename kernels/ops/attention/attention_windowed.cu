/* attention_windowed on a GPU. A warp processes one row, key by key, in two loops: the first finds
 * the largest score, the second computes the weights. The sums of the row are in scratch; each of
 * them belongs to one thread. */
#include "kernels/ops/attention/attention_windowed.h"
#include "kernels/ops/cuda_common.h"

typedef struct {
    attention_windowed_args a;
    int64_t B, T, H, K, V;
    const elem *whole, *q, *k, *v;
    const int32_t *limit, *length;
    real *sum; /* accumulators, (B,T,H,V) */
    elem *y;
} windowed_job;

/* Score of key k for query i of a head. All threads of the warp get the same result. */
LRA_DEV real near_score(const windowed_job *j, int64_t row, int64_t key_row, int64_t head,
                        int64_t i, int64_t k)
{
    real product = 0;
    for (int64_t d = threadIdx.x; d < j->K; d += LRA_WARP)
        product += e_load(j->q[row * j->K + d]) * e_load(j->k[key_row * j->K + d]);
    return attention_windowed_score(&j->a, head, warp_sum(product), i, k);
}

LRA_DEV void near_row(const windowed_job *j, int64_t row, int64_t head, int64_t i, int64_t n)
{
    attention_range window = attention_windowed_window(
        &j->a, i, n, attention_windowed_limit(&j->a, head, j->limit));
    attention_range keys = attention_windowed_keys(&j->a, window, i);
    int64_t V = j->V, first = row - i * j->H;
    real most = -INFINITY, all = 0, kept = 0, *sum = j->sum + row * V;
    for (int64_t d = threadIdx.x; d < V; d += LRA_WARP) sum[d] = 0;
    for (int64_t k = keys.from; k < keys.to && !j->a.product; k++)
        most = r_max(most, near_score(j, row, first + k * j->H, head, i, k));
    for (int64_t k = keys.from; k < keys.to; k++) {
        attention_range c = attention_windowed_columns(&j->a, window, i, k);
        real w = near_score(j, row, first + k * j->H, head, i, k);
        if (!j->a.product) w = r_exp(w - most);
        all += w, kept += w * (real)(c.to - c.from);
        for (int64_t at = c.from; at < c.to; at++)
            for (int64_t d = threadIdx.x; d < V; d += LRA_WARP)
                sum[d] += w * e_load(j->v[(first + at * j->H) * V + d]);
    }
    real over = j->a.a.renorm || j->a.remask ? kept : all * (real)j->a.a.smooth;
    if (j->a.product) over = R(1.0);
    for (int64_t d = threadIdx.x; d < V; d += LRA_WARP)
        j->y[row * V + d] = e_store(over > 0 ? sum[d] / over : R(0.0));
}

static __global__ void attention_windowed_kernel(windowed_job j)
{
    for (EACH_ROW(row, j.B * j.T * j.H)) {
        int64_t i = row / j.H % j.T, b = row / (j.H * j.T), n = j.length ? j.length[b] : j.T;
        bool whole = attention_windowed_limit(&j.a, row % j.H, j.limit) >= j.T - 1;
        if (!whole && i < n) {
            near_row(&j, row, row % j.H, i, n);
            continue;
        }
        for (int64_t d = threadIdx.x; d < j.V; d += LRA_WARP)
            j.y[row * j.V + d] = whole ? j.whole[row * j.V + d] : e_store(R(0.0));
    }
}

/* Sources: y without a limit, q, k, v, limit, [length]. */
LRA_CUDA_BODY(attention_windowed)
{
    const attention_windowed_args *a = (const attention_windowed_args *)c->y->args;
    const int64_t *d = c->y->shape.d;
    windowed_job j = {*a, d[0], d[1], d[2], lra_width(c->y->src[1]), d[3]};
    j.whole = (const elem *)c->in[0], j.q = (const elem *)c->in[1], j.k = (const elem *)c->in[2];
    j.v = (const elem *)c->in[3], j.limit = (const int32_t *)c->in[4];
    j.length = (const int32_t *)(a->has_length ? c->in[5] : NULL);
    j.sum = (real *)c->scratch, j.y = (elem *)c->out;
    LRA_LAUNCH(attention_windowed_kernel, lra_grid(j.B * j.T * j.H, LRA_BLOCK_WARPS), ROW_BLOCK, 0,
               stream, j);
}
