/* Weight gradient of a convolution on a GPU: dw[k] = sum_{b,t} x[b][t + (k - (K-1)/2) dilation]^T
 * dy[b][t]. The B T rows are divided into parts, which are summed separately and added in order. */
#include "kernels/ops/columns_cuda.h"
#include "kernels/ops/conv/conv_dw_cuda.h"
#include "kernels/ops/conv/conv_dw_grouped_cuda.h"
#include "kernels/ops/conv/conv_tile_cuda.h"
#if LRA_TYPE_bf16
#include "kernels/ops/conv/conv_dw_mma.h"
#include "kernels/ops/conv/conv_dw_wgmma.h"
#endif

/* Grid: x = taps times groups (possibly more than 65,535), y = parts times tiles of input and
 * output channels. */
static __global__ void __launch_bounds__(LRA_BLOCK, 2) dw_tile_kernel(dw_job j)
{
    LRA_SHARED(real, xs);
    real *ds = xs + TILE_DEPTH * TILE_PITCH;
    const conv_dw_sizes *s = &j.s;
    int64_t columns = (s->n_out + TILE - 1) / TILE, part = blockIdx.y % j.n_parts;
    int64_t o0 = blockIdx.y / j.n_parts % columns * TILE,
            i0 = blockIdx.y / j.n_parts / columns * TILE;
    int64_t k = blockIdx.x / s->groups, g = blockIdx.x % s->groups, shift = dw_shift(&j, k);
    int64_t rows = s->B * s->T, D = s->groups * s->n_in, H = s->groups * s->n_out;
    int64_t first = part * rows / j.n_parts, end = (part + 1) * rows / j.n_parts;
    int tid = threadIdx.x, row = tid / 16 * TILE_SUMS, column = tid % 16 * TILE_SUMS;
    real sum[TILE_SUMS][TILE_SUMS] = {{0}};
    for (int64_t at = first; at < end; at += TILE_DEPTH) {
        __syncthreads();
        for (int e = tid; e < TILE * TILE_DEPTH; e += LRA_BLOCK) {
            int q = e / TILE, n = e % TILE;
            int64_t r = at + q, i = i0 + n, o = o0 + n;
            bool inside = r < end && dw_row(&j, r, shift);
            const elem *x = j.x + (r + shift) * D + g * s->n_in + i;
            const elem *dy = j.dy + r * H + g * s->n_out + o;
            xs[q * TILE_PITCH + n] = inside && i < s->n_in ? e_load(*x) : R(0.0);
            ds[q * TILE_PITCH + n] = inside && o < s->n_out ? e_load(*dy) : R(0.0);
        }
        __syncthreads();
        tile_add(xs, ds, row, column, sum);
    }
    real *to = j.part + (part * s->K + k) * s->n_in * H + g * s->n_out;
    for (int r = 0; r < TILE_SUMS; r++)
        for (int n = 0; n < TILE_SUMS; n++) {
            int64_t i = i0 + row + r, o = o0 + column + n;
            if (i < s->n_in && o < s->n_out) to[i * H + o] = sum[r][n];
        }
}

static void dw_tile_run(const dw_job *j, void *stream)
{
    const conv_dw_sizes *s = &j->s;
    int64_t tiles = (s->n_in + TILE - 1) / TILE * ((s->n_out + TILE - 1) / TILE);
    LRA_LAUNCH(dw_tile_kernel, dim3((unsigned)(s->K * s->groups), (unsigned)(tiles * j->n_parts)),
               LRA_BLOCK, 2 * TILE_DEPTH * TILE_PITCH * sizeof(real), stream, *j);
}

/* Scratch: (n_parts, K, n_in, H), if there is more than one part. */
LRA_CUDA_BODY(conv_dw)
{
    const conv_dw_args *a = (const conv_dw_args *)c->y->args;
    const lra_tensor *x = c->y->src[0];
    int64_t G = a->groups, D = lra_width(x), H = lra_width(c->y->src[1]);
    dw_job j = {{x->shape.d[0], x->shape.d[1], a->K, G, D / G, H / G, a->dilation},
                1,
                (const elem *)c->in[0],
                (const elem *)c->in[1],
                NULL,
                NULL};
    j.n_parts = conv_dw_parts(&j.s);
    if (a->has_length) j.length = (const int32_t *)c->in[2];
    j.part = j.n_parts > 1 ? (real *)c->scratch : (real *)c->out;
    if (gdw_fits(&j.s)) dw_grouped_run(&j, stream);
#if LRA_TYPE_bf16
    else if (lra_cuda_level() >= LRA_CUDA_WGMMA && dw_wgmma_fits(&j))
        dw_wgmma_run(&j, stream);
    else if (lra_cuda_level() >= LRA_CUDA_MMA && dw_mma_fits(&j))
        dw_mma_run(&j, stream);
#endif
    else
        dw_tile_run(&j, stream);
    if (j.n_parts > 1) add_blocks(j.part, 1, j.n_parts, conv_dw_size(&j.s), (real *)c->out, stream);
}
