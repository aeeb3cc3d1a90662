/* Code shared by CUDA bodies: loads and stores of eight elements at a time (16 bytes of bf16, 32 of
 * float32), sums over a warp and a block in a fixed order, elementwise kernels. */
#ifndef LRA_OPS_CUDA_COMMON_H
#define LRA_OPS_CUDA_COMMON_H

#include "kernels/cuda/launch.h"
#include "kernels/ops/args.h"
#include "kernels/ops/typed.h"

enum { LRA_LANES = 8 };
/* Type of elem arrays in this compilation. */
#define ELEM_TYPE (LRA_TYPE_bf16 ? LRA_BF16 : LRA_F32)

/* ---- eight elements -------------------------------------------------------------------------- */

/* True if all addresses are multiples of 16 bytes, as vector access requires. */
static inline bool is_aligned(const void *a, const void *b, const void *c)
{
    return (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) & 15u) == 0;
}

LRA_DEV real bits_real(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* v = x[i .. i+n), followed by zeros; n <= 8. wide: x is aligned to 16 bytes and i is a multiple of
 * 8. */
LRA_DEV void load8(const void *x, lra_type t, int64_t i, int64_t n, bool wide, real v[LRA_LANES])
{
    if (!wide || n < LRA_LANES) {
        for (int k = 0; k < LRA_LANES; k++) v[k] = k < n ? t_load(x, t, i + k) : R(0.0);
        return;
    }
#if LRA_TYPE_bf16
    if (t == LRA_BF16) {
        uint4 p = *(const uint4 *)((const elem *)x + i);
        const uint32_t word[4] = {p.x, p.y, p.z, p.w};
        for (int k = 0; k < 4; k++) {
            v[2 * k] = bits_real(word[k] << 16);
            v[2 * k + 1] = bits_real(word[k] & 0xFFFF0000u);
        }
        return;
    }
#endif
    const float4 *p = (const float4 *)((const real *)x + i);
    v[0] = p[0].x, v[1] = p[0].y, v[2] = p[0].z, v[3] = p[0].w;
    v[4] = p[1].x, v[5] = p[1].y, v[6] = p[1].z, v[7] = p[1].w;
}

LRA_DEV void store8(void *y, lra_type t, int64_t i, int64_t n, bool wide, const real v[LRA_LANES])
{
    if (!wide || n < LRA_LANES) {
        for (int k = 0; k < LRA_LANES; k++)
            if (k < n) t_store(y, t, i + k, v[k]);
        return;
    }
#if LRA_TYPE_bf16
    if (t == LRA_BF16) {
        uint32_t word[4];
        for (int k = 0; k < 4; k++)
            word[k] = (uint32_t)e_store(v[2 * k]) | (uint32_t)e_store(v[2 * k + 1]) << 16;
        *(uint4 *)((elem *)y + i) = uint4{word[0], word[1], word[2], word[3]};
        return;
    }
#endif
    float4 *p = (float4 *)((real *)y + i);
    p[0] = float4{v[0], v[1], v[2], v[3]};
    p[1] = float4{v[4], v[5], v[6], v[7]};
}

/* Loop over n elements with all threads of the grid, eight at a time: for (EACH8(i, n)) { elements
 * i .. min(i + 8, n) - 1 }. */
#define EACH8(i, n)                                                                                \
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * LRA_LANES;                      \
    i < (n);                                                                                       \
    i += (int64_t)gridDim.x * blockDim.x * LRA_LANES

/* ---- elementwise kernels --------------------------------------------------------------------- */

/* Arguments of an elementwise function y = f(a, b; p, q); b is NULL for functions of one
 * variable. */
typedef struct {
    int64_t n;
    lra_type t;
    bool wide;
    const void *a, *b;
    void *y;
    real p, q;
} each_args;

/* EACH_KERNEL(name, value) defines a kernel that computes y[k] = value, an expression of a[k],
 * b[k], e.p and e.q. */
#define EACH_KERNEL(name, value)                                                                   \
    static __global__ void name(each_args e)                                                       \
    {                                                                                              \
        for (EACH8(i, e.n)) {                                                                      \
            real a[LRA_LANES], b[LRA_LANES] = {0}, y[LRA_LANES];                                   \
            load8(e.a, e.t, i, e.n - i, e.wide, a);                                                \
            if (e.b) load8(e.b, e.t, i, e.n - i, e.wide, b);                                       \
            for (int k = 0; k < LRA_LANES; k++) y[k] = value;                                      \
            store8(e.y, e.t, i, e.n - i, e.wide, y);                                               \
        }                                                                                          \
    }
#define EACH_LAUNCH(name, e, stream)                                                               \
    LRA_LAUNCH(name, lra_grid((e).n, LRA_BLOCK *LRA_LANES), LRA_BLOCK, 0, stream, e)

static inline each_args each_of(const lra_call *c, const void *a, const void *b)
{
    each_args e = {lra_elements(c->y), c->y->type, is_aligned(a, b, c->out), a, b, c->out, 0, 0};
    return e;
}

/* ---- sums in a fixed order ------------------------------------------------------------------- */

/* Sum (warp_sum) or maximum (warp_max) over a warp; every thread of the warp receives it. */
LRA_DEV real warp_sum(real v)
{
    for (int other = LRA_WARP / 2; other; other /= 2) v += __shfl_xor_sync(~0u, v, other);
    return v;
}
LRA_DEV double warp_sum_double(double v)
{
    for (int other = LRA_WARP / 2; other; other /= 2) v += __shfl_xor_sync(~0u, v, other);
    return v;
}
LRA_DEV real warp_max(real v)
{
    for (int other = LRA_WARP / 2; other; other /= 2) v = r_max(v, __shfl_xor_sync(~0u, v, other));
    return v;
}

/* Sum over a block of LRA_BLOCK threads; every thread receives it. shared: LRA_BLOCK_WARPS
 * doubles */
LRA_DEV double block_sum(double v, double *shared)
{
    int tid = (int)(threadIdx.y * blockDim.x + threadIdx.x);
    v = warp_sum_double(v);
    __syncthreads();
    if (tid % LRA_WARP == 0) shared[tid / LRA_WARP] = v;
    __syncthreads();
    double total = 0;
    for (int w = 0; w < LRA_BLOCK_WARPS; w++) total += shared[w];
    return total;
}

/* EACH_ROW: loop over rows with blocks of (32, 8) threads, one warp per row. */
#define ROW_BLOCK dim3(LRA_WARP, LRA_BLOCK_WARPS)
#define EACH_ROW(row, n_rows)                                                                      \
    int64_t row = (int64_t)blockIdx.x * LRA_BLOCK_WARPS + threadIdx.y;                             \
    row < (n_rows);                                                                                \
    row += (int64_t)gridDim.x * LRA_BLOCK_WARPS
/* EACH_LANE8: loop over a row of D elements; each thread of the warp processes eight at a time. */
#define EACH_LANE8(d, D)                                                                           \
    int64_t d = (int64_t)threadIdx.x * LRA_LANES;                                                  \
    d < (D);                                                                                       \
    d += LRA_WARP * LRA_LANES

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
