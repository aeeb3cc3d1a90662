/* Matrix-product features of compute capability 9.0: barriers in shared memory that count bytes,
 * asynchronous copies of tensor boxes (TMA), and products of four warps with operands in shared
 * memory (PTX ISA 8.0: mbarrier, cp.async.bulk.tensor, wgmma). The host shim has the same functions
 * in tests/shim/wgmma.h.
 *
 * If LRA_HAS_WGMMA is 0 (another compute capability), the kernels that use these functions have no
 * body; they are not started on such GPUs. */
#ifndef LRA_CUDA_WGMMA_H
#define LRA_CUDA_WGMMA_H

#include <stdbool.h>

#include "kernels/cuda/tensor.h"

#if defined(LRA_SHIM) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define LRA_HAS_WGMMA 1
#else
#define LRA_HAS_WGMMA 0
#endif

enum { WG_THREADS = 128 };

/* ---- tensor maps: boxes of a tensor (d[2], d[1], d[0]) of bf16, d[0] fastest, contiguous ----- */

/* Tensor map (TMA descriptor). It is passed to a kernel by value, as `const __grid_constant__
 * lra_map`. */
typedef struct alignas(64) {
    unsigned char opaque[128];
} lra_map;

/* WG_ROW: bytes of a row of a swizzled box, 64 elements. WG_ATOM: eight such rows. */
enum { WG_ROW = 128, WG_ATOM = 8 * WG_ROW };

/* Creates the tensor map of an array with dimensions d, for copies of boxes. d[0] is a multiple of
 * 8, and data are aligned to 16 bytes. swizzled: box[0] is 64, and the 16-byte pieces of a row are
 * permuted by wg_swizzled(). Returns false, with the error stored in the device, if the driver
 * refuses. */
extern "C" bool lra_cuda_map(lra_map *m, const void *data, const int64_t d[3], const int box[3],
                             bool swizzled);

/* Columns per block of the convolution, set by tests: 64, 128, or 0 (the kernel's choice). */
extern "C" int lra_cuda_columns(void);

/* Offset of byte `at` in a swizzled box; both offsets are relative to a multiple of 1024 bytes. */
static inline __host__ __device__ uint32_t wg_swizzled(uint32_t at)
{
    return at ^ (at >> 7 & 7u) << 4;
}

/* ---- operands of a product ------------------------------------------------------------------- */

/* Descriptor of a matrix in shared memory at `address`, a multiple of 16. The matrix consists of
 * core matrices of eight lines. A line is 8 adjacent elements (16 bytes), and the next line follows
 * 16 bytes later. Swizzled: a line is 64 elements (128 bytes), the next line follows 128 bytes
 * later, and the matrix starts in the first rows of a 1024-byte block. Meaning of the strides, in
 * bytes:
 *   lines run along K (not transposed): `stride` from eight lines to the next eight, `leading` from
 *     8 elements to the next 8 along K (swizzled: not used);
 *   lines run along M or N (transposed): `leading` from 8 k to the next 8, `stride` from 8 elements
 *     to the next 8; swizzled: `leading` from 64 elements to the next 64, `stride` from 8 k to the
 *     next 8. */
static inline __host__ __device__ uint64_t wg_matrix(uint32_t address, uint32_t leading,
                                                     uint32_t stride, bool swizzled)
{
    return (uint64_t)((address & 0x3FFFFu) >> 4) | (uint64_t)((leading & 0x3FFFFu) >> 4) << 16 |
           (uint64_t)((stride & 0x3FFFFu) >> 4) << 32 | (uint64_t)(swizzled ? 1 : 0) << 62;
}

#if !defined(LRA_SHIM) && LRA_HAS_WGMMA
/* ---- barriers: a phase ends when `count` threads arrived and all expected bytes are there ---- */

LRA_DEV void bar_init(uint64_t *bar, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(tc_address(bar)), "r"(count)
                 : "memory");
}
/* Orders earlier writes of this thread to shared memory before later TMA and wgmma operations. */
LRA_DEV void bar_fence(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
LRA_DEV void bar_arrive(uint64_t *bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(tc_address(bar)) : "memory");
}
LRA_DEV void bar_expect(uint64_t *bar, int n_bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(tc_address(bar)),
                 "r"(n_bytes)
                 : "memory");
}
/* Waits until the phase of this parity has ended; the parity of consecutive phases is 0, 1, 0,
 * ... */
LRA_DEV void bar_wait(uint64_t *bar, int parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(tc_address(bar)),
                 "r"(parity)
                 : "memory");
}

/* Starts copying the box at (c0, c1, c2). Elements outside of the tensor become zero. All bytes of
 * the box are counted by the barrier. shared: aligned to 128 bytes; to 1024 if swizzled. */
LRA_DEV void tm_load(void *shared, const lra_map *map, int c0, int c1, int c2, uint64_t *bar)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(tc_address(shared)),
                 "l"((uint64_t)map), "r"(tc_address(bar)), "r"(c0), "r"(c1), "r"(c2)
                 : "memory");
}

/* ---- products -------------------------------------------------------------------------------- */

/* Required before the first product that uses registers which other instructions have written. */
LRA_DEV void wg_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
LRA_DEV void wg_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/* Waits until at most PENDING groups of products are in flight. */
template <int PENDING> LRA_DEV void wg_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

#define WG_OUT4(i)  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WG_OUT16(i) WG_OUT4(i), WG_OUT4(i + 4), WG_OUT4(i + 8), WG_OUT4(i + 12)
/* Queues d (64,128) += a (64,16) b (16,128). Thread 32 w + 4 r + c of the warpgroup holds row 16 w
 * + 8 h + r, column 8 j + 2 c + i in d[4 j + 2 h + i]. */
template <int TRANSPOSE_A, int TRANSPOSE_B> LRA_DEV void wg_mma(float d[64], uint64_t a, uint64_t b)
{
    asm volatile("{\n"
                 ".reg .pred add;\n"
                 "setp.eq.u32 add, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, add, 1, 1, %66, %67;\n"
                 "}"
                 : WG_OUT16(0), WG_OUT16(16), WG_OUT16(32), WG_OUT16(48)
                 : "l"(a), "l"(b), "n"(TRANSPOSE_A), "n"(TRANSPOSE_B));
}

/* Queues d (64,64) += a (64,16) b (16,64). */
template <int TRANSPOSE_A, int TRANSPOSE_B>
LRA_DEV void wg_mma_narrow(float d[32], uint64_t a, uint64_t b)
{
    asm volatile("{\n"
                 ".reg .pred add;\n"
                 "setp.eq.u32 add, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, add, 1, 1, %34, %35;\n"
                 "}"
                 : WG_OUT16(0), WG_OUT16(16)
                 : "l"(a), "l"(b), "n"(TRANSPOSE_A), "n"(TRANSPOSE_B));
}
#endif

#endif
