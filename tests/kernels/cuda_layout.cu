/* Checks on a GPU of compute capability 9.0, within seconds, what the host shim cannot check: does
 * the hardware read operands in shared memory as described in kernels/cuda/wgmma.h, from any first
 * row, and how fast are the layouts?
 *   products  A in planes of 8 elements or in swizzled rows of 64, with K or M as the contiguous
 *             axis, starting 0 to 8 rows after an aligned address; B swizzled, as in all kernels.
 *             Results are compared with exact float32 sums on the host.
 *   rates     time of products by layout without copies, and of copies without products: eight
 *             boxes of 16-byte rows, or one swizzled box
 * The kernels use planes; the exit code is 1 if a product with planes is wrong. Swizzled A is an
 * alternative that they do not use. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda_bf16.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/wgmma.h"

enum { ROWS = 72, CHANNELS = 64, N = 128, LATE = 8, PLANE = ROWS * 16, STAGE = ROWS * WG_ROW };
enum { PLANES_K, SWIZZLED_K, PLANES_M, SWIZZLED_M, LAYOUTS };
enum {
    OF_B = 64 * N * 2,
    SHARED = 1024 + OF_B + 16384 + 64,
    STAGES = 6,
    BLOCKS = 132,
    TIMES = 2000
};
enum { T = 8192 };

#if LRA_HAS_WGMMA
/* Adds A (64,64) B (64,128) to d (64,128); A starts `late` rows after the address a. */
template <int LAYOUT> LRA_DEV void product(uint32_t a, uint32_t b, int late, float d[64])
{
    LRA_UNROLL for (int k = 0; k < 4; k++)
    {
        uint64_t of_b = wg_matrix(b + k * 16 * WG_ROW, OF_B / 2, WG_ATOM, true), of_a;
        if (LAYOUT == PLANES_K)
            of_a = wg_matrix(a + 2 * k * PLANE + late * 16, PLANE, 128, false);
        else if (LAYOUT == SWIZZLED_K)
            of_a = wg_matrix(a + late * WG_ROW + k * 32, 16, WG_ATOM, true);
        else if (LAYOUT == PLANES_M)
            of_a = wg_matrix(a + (k * 16 + late) * 16, 128, PLANE, false);
        else
            of_a = wg_matrix(a + (k * 16 + late) * WG_ROW, OF_B / 2, WG_ATOM, true);
        wg_mma<(LAYOUT >= PLANES_M), 1>(d, of_a, of_b);
    }
}

LRA_DEV unsigned char *whole_atoms(unsigned char *memory)
{
    return memory + (1024 - tc_address(memory) % 1024) % 1024;
}

/* Copies ROWS rows of 64 channels, starting at `row`, as one box or as eight. */
template <bool SWIZZLED>
LRA_DEV void copy_rows(unsigned char *to, const lra_map *x, int row, uint64_t *bar)
{
    if (SWIZZLED)
        tm_load(to, x, 0, row, 0, bar);
    else
        for (int c = 0; c < 8; c++) tm_load(to + c * PLANE, x, 8 * c, row, 0, bar);
}
#endif

template <int LAYOUT>
__global__ void __launch_bounds__(WG_THREADS, 1)
    product_kernel(const __grid_constant__ lra_map x, const __grid_constant__ lra_map w, int late,
                   float *y)
{
#if LRA_HAS_WGMMA
    LRA_SHARED(unsigned char, memory);
    unsigned char *b = whole_atoms(memory), *a = b + OF_B;
    uint64_t *bar = (uint64_t *)(a + 16384);
    if (threadIdx.x == 0) {
        bar_init(bar, 1);
        bar_fence();
        bar_expect(bar, OF_B + STAGE);
        for (int half = 0; half < 2; half++) tm_load(b + half * OF_B / 2, &w, 64 * half, 0, 0, bar);
        copy_rows<LAYOUT % 2>(a, &x, 0, bar);
    }
    __syncthreads();
    bar_wait(bar, 0);
    float d[64] = {0};
    wg_fence();
    product<LAYOUT>(tc_address(a), tc_address(b), late, d);
    wg_commit();
    wg_wait<0>();
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int j = 0; j < 16; j++)
        for (int h = 0; h < 2; h++)
            for (int i = 0; i < 2; i++)
                y[(16 * warp + 8 * h + lane / 4) * N + 8 * j + lane % 4 * 2 + i] =
                    d[4 * j + 2 * h + i];
#endif
}

/* Measures two groups of four warps that compute two sums each, as the kernels do; operands are
 * near 1. */
template <int LAYOUT>
__global__ void __launch_bounds__(2 * WG_THREADS, 1) rate_kernel(float *y, long long *clocks)
{
#if LRA_HAS_WGMMA
    LRA_SHARED(unsigned char, memory);
    unsigned char *b = whole_atoms(memory), *a = b + OF_B;
    for (unsigned i = threadIdx.x; i < (OF_B + 16384) / 4; i += 2 * WG_THREADS)
        ((unsigned *)b)[i] = 0x3F803F80u ^ (i * 2654435761u & 0x007F007Fu);
    bar_fence();
    __syncthreads();
    float d[2][64] = {{0}}, sum = 0;
    long long start = clock64();
    for (int i = 0; i < TIMES; i++) {
        wg_fence();
        for (int k = 0; k < 2; k++) product<LAYOUT>(tc_address(a), tc_address(b), i % 5 + k, d[k]);
        wg_commit();
        wg_wait<1>();
    }
    wg_wait<0>();
    if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - start;
    for (int k = 0; k < 64; k++) sum += d[0][k] + d[1][k];
    y[blockIdx.x * 2 * WG_THREADS + threadIdx.x] = sum;
#endif
}

/* One thread always has STAGES copies in progress. */
template <bool SWIZZLED>
__global__ void __launch_bounds__(32, 1)
    copy_kernel(const __grid_constant__ lra_map x, long long *clocks)
{
#if LRA_HAS_WGMMA
    LRA_SHARED(unsigned char, memory);
    unsigned char *to = whole_atoms(memory);
    uint64_t *bar = (uint64_t *)(to + STAGES * STAGE);
    if (threadIdx.x) return;
    for (int i = 0; i < STAGES; i++) bar_init(bar + i, 1);
    bar_fence();
    long long start = clock64();
    for (int i = 0; i < TIMES + STAGES; i++) {
        int s = i % STAGES;
        if (i >= STAGES) bar_wait(bar + s, (i / STAGES - 1) & 1);
        if (i >= TIMES) continue;
        bar_expect(bar + s, STAGE);
        copy_rows<SWIZZLED>(to + s * STAGE, &x, (i * 64 + (int)blockIdx.x * 997) % (T - ROWS),
                            bar + s);
    }
    clocks[blockIdx.x] = clock64() - start;
#endif
}

/* ---- the host -------------------------------------------------------------------------------- */

static void check(cudaError_t rc, const char *what)
{
    if (rc == cudaSuccess) return;
    fprintf(stderr, "cuda_layout: %s: %s\n", what, cudaGetErrorString(rc));
    exit(1);
}

typedef struct {
    float x[T * CHANNELS], w[64 * N], y[64 * N]; /* bf16 represents the values of x and w exactly */
    float *on_gpu;
    long long *clocks;
    lra_map planes, rows, of_w;
} trial;

/* Sets random multiples of 1/8 from -1 to 1, and copies them to the GPU as bf16. */
static void *fill(float *v, int n, uint64_t stream)
{
    __nv_bfloat16 *host = (__nv_bfloat16 *)lra_alloc_array((size_t)n, sizeof *host);
    void *there = NULL;
    lra_rng rng = lra_rng_new(1, 0, stream);
    for (int i = 0; i < n; i++) {
        v[i] = (float)lra_rng_below(&rng, 17) / 8 - 1;
        host[i] = __float2bfloat16(v[i]);
    }
    check(cudaMalloc(&there, (size_t)n * sizeof *host), "memory");
    check(cudaMemcpy(there, host, (size_t)n * sizeof *host, cudaMemcpyHostToDevice), "copying in");
    lra_free(host);
    return there;
}

static lra_map map_of(const void *data, int64_t width, int64_t n_rows, int box_width, int box_rows,
                      bool swizzled)
{
    const int64_t d[3] = {width, n_rows, 1};
    const int box[3] = {box_width, box_rows, 1};
    lra_map m;
    if (lra_cuda_map(&m, data, d, box, swizzled)) return m;
    fprintf(stderr, "cuda_layout: the driver makes no tensor map\n");
    exit(1);
}

template <int LAYOUT> static bool is_right(trial *t, int late)
{
    const lra_map *x = LAYOUT % 2 ? &t->rows : &t->planes;
    check(cudaMemset(t->on_gpu, 0xFF, sizeof t->y), "clearing memory");
    LRA_LAUNCH(product_kernel<LAYOUT>, 1, WG_THREADS, SHARED, NULL, *x, t->of_w, late, t->on_gpu);
    check(cudaMemcpy(t->y, t->on_gpu, sizeof t->y, cudaMemcpyDeviceToHost), "a product");
    for (int m = 0; m < 64; m++)
        for (int n = 0; n < N; n++) {
            double sum = 0;
            for (int k = 0; k < 64; k++) {
                int at = LAYOUT < PLANES_M ? (m + late) * CHANNELS + k : (k + late) * CHANNELS + m;
                sum += (double)t->x[at] * t->w[k * N + n];
            }
            if (!(fabs(sum - t->y[m * N + n]) < 1e-3)) return false;
        }
    return true;
}

static double clocks_of_first(const trial *t, const char *what)
{
    long long clocks = 0;
    check(cudaMemcpy(&clocks, t->clocks, sizeof clocks, cudaMemcpyDeviceToHost), what);
    return (double)clocks;
}

/* Returns the number of start rows for which the result is wrong. */
template <int LAYOUT> static int try_layout(trial *t, const char *name)
{
    int wrong = 0;
    LRA_ALLOW_SHARED(product_kernel<LAYOUT>, SHARED);
    LRA_ALLOW_SHARED(rate_kernel<LAYOUT>, SHARED);
    printf("%-26s wrong when started late by:", name);
    for (int late = 0; late <= LATE; late++) {
        if (is_right<LAYOUT>(t, late)) continue;
        printf(" %d", late);
        wrong++;
    }
    LRA_LAUNCH(rate_kernel<LAYOUT>, BLOCKS, 2 * WG_THREADS, SHARED, NULL, t->on_gpu, t->clocks);
    const double flop = 2.0 * 2 * 4 *
                        /* FLOP per iteration: 2 groups, 2 sums, 4 steps of k */
                        (2.0 * 64 * 128 * 16);
    printf("%s; %.0f FLOP a clock, of 4096\n", wrong ? "" : " none",
           TIMES * flop / clocks_of_first(t, "products"));
    return wrong;
}

template <bool SWIZZLED> static void try_copies(trial *t, const lra_map *x, const char *name)
{
    const int shared = 1024 + STAGES * STAGE + STAGES * 8;
    LRA_ALLOW_SHARED(copy_kernel<SWIZZLED>, shared);
    LRA_LAUNCH(copy_kernel<SWIZZLED>, BLOCKS, 32, shared, NULL, *x, t->clocks);
    printf("%-26s %.1f bytes a clock and multiprocessor\n", name,
           (double)TIMES * STAGE / clocks_of_first(t, "copies"));
}

int main(void)
{
    static trial t;
    lra_device device;
    lra_err e;
    cudaDeviceProp is;
    if (lra_cuda_device(&device, 0, &e) != 0) {
        fprintf(stderr, "cuda_layout: %s\n", e.msg);
        return 1;
    }
    check(cudaGetDeviceProperties(&is, 0), "asking the GPU");
    if (is.major != 9) {
        printf("skipped: compute capability %d.%d, only 9.0 has these products\n", is.major,
               is.minor);
        return 0;
    }
    void *x = fill(t.x, T * CHANNELS, 0), *w = fill(t.w, 64 * N, 1);
    check(cudaMalloc((void **)&t.on_gpu, 1 << 20), "memory");
    check(cudaMalloc((void **)&t.clocks, BLOCKS * sizeof *t.clocks), "memory");
    t.planes = map_of(x, CHANNELS, T, 8, ROWS, false);
    t.rows = map_of(x, CHANNELS, T, 64, ROWS, true);
    t.of_w = map_of(w, N, 64, 64, 64, true);
    int wrong = try_layout<PLANES_K>(&t, "planes, lines along K");
    try_layout<SWIZZLED_K>(&t, "swizzled, lines along K");
    wrong += try_layout<PLANES_M>(&t, "planes, lines along M");
    try_layout<SWIZZLED_M>(&t, "swizzled, lines along M");
    try_copies<false>(&t, &t.planes, "eight boxes of 16 bytes");
    try_copies<true>(&t, &t.rows, "one box of 128 bytes");
    return wrong > 0;
}
