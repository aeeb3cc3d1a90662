/* Rotary position embedding on a GPU. One kernel computes the cosines and sines for all examples
 * and heads, a second one rotates the rows.
 * Memory traffic: every element is read once and written once, and a table of 4 T K bytes stays in
 * the L2 cache. */
#include "kernels/ops/cuda_common.h"
#include "kernels/ops/attention/positions_body.h"

/* Fills turn (T,K/2,2) with cosines and sines. Angles are computed in double, as on the CPU,
 * because they grow with t. */
static __global__ void table_kernel(rotary_args a, int64_t T, int64_t pairs, real *turn)
{
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; at < T * pairs; at += (int64_t)gridDim.x * blockDim.x) {
        double angle = (double)(at / pairs) * rotary_speed(&a, at % pairs, pairs);
        turn[2 * at] = (real)cos(angle);
        turn[2 * at + 1] = (real)((a.back ? -1 : 1) * sin(angle));
    }
}

/* Rotates x, y: (rows of H heads, pairs, 2). Adjacent pairs may belong to two heads. */
static __global__ void turn_kernel(int64_t n, int64_t T, int64_t H, int64_t pairs, bool wide,
                                   const elem *x, const real *turn, elem *y)
{
    for (EACH8(i, n)) {
        real v[LRA_LANES], out[LRA_LANES];
        int64_t head = i / 2 / pairs, pair = i / 2 % pairs, t = head / H % T;
        load8(x, ELEM_TYPE, i, n - i, wide, v);
        for (int k = 0; k < LRA_LANES; k += 2) {
            real c = turn[2 * (t * pairs + pair)], s = turn[2 * (t * pairs + pair) + 1];
            out[k] = v[k] * c - v[k + 1] * s;
            out[k + 1] = v[k + 1] * c + v[k] * s;
            if (++pair < pairs) continue;
            pair = 0, head++;
            t = head / H % T;
        }
        store8(y, ELEM_TYPE, i, n - i, wide, out);
    }
}

/* Sources: x (B,T,H,K). Scratch: (T,K/2,2). */
LRA_CUDA_BODY(rotary)
{
    const lra_shape *s = &c->y->shape;
    int64_t n = lra_elements(c->y), T = s->d[1], H = s->d[2], pairs = s->d[3] / 2;
    real *turn = (real *)c->scratch;
    LRA_LAUNCH(table_kernel, lra_grid(T * pairs, LRA_BLOCK), LRA_BLOCK, 0, stream,
               *(const rotary_args *)c->y->args, T, pairs, turn);
    LRA_LAUNCH(turn_kernel, lra_grid(n, LRA_BLOCK * LRA_LANES), LRA_BLOCK, 0, stream, n, T, H,
               pairs, is_aligned(c->in[0], c->out, NULL), (const elem *)c->in[0], turn,
               (elem *)c->out);
}
