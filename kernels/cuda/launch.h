/* Macros with which CUDA files launch kernels and declare shared memory. All differences between
 * nvcc and the host shim of the tests are in this file: the shim is included before anything else
 * and defines LRA_SHIM.
 *   LRA_LAUNCH(kernel, grid, block, shared, stream, args...)   shared: bytes of LRA_SHARED()
 *   LRA_SHARED(real, tile);                                    in a kernel: real *tile */
#ifndef LRA_CUDA_LAUNCH_H
#define LRA_CUDA_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cuda/grid.h"
#include "kernels/cuda/level.h"

#ifndef LRA_SHIM
#include <cuda_runtime.h>

/* True if CUDA allows a grid of this size. Otherwise false, and the error is stored in the
 * device. */
extern "C" bool lra_cuda_grid_fits(const char *kernel, unsigned x, unsigned y, unsigned z);
#define LRA_LAUNCH(kernel, grid, block, shared, stream, ...)                                       \
    do {                                                                                           \
        const dim3 lra_blocks = grid;                                                              \
        if (lra_cuda_grid_fits(#kernel, lra_blocks.x, lra_blocks.y, lra_blocks.z))                 \
            kernel<<<lra_blocks, block, shared, (cudaStream_t)(stream)>>>(__VA_ARGS__);            \
    } while (0)
#define LRA_SHARED(type, name)                                                                     \
    extern __shared__ __align__(128) unsigned char lra_shared_memory[];                            \
    type *name = (type *)lra_shared_memory
#endif

/* LRA_UNROLL unrolls the loop that follows, so that its arrays stay in registers. LRA_NO_UNROLL
 * prevents unrolling, for loops that would use too many registers. */
#ifdef LRA_SHIM
#define LRA_UNROLL
#define LRA_UNROLL_4
#define LRA_NO_UNROLL
#else
#define LRA_UNROLL    _Pragma("unroll")
#define LRA_UNROLL_4  _Pragma("unroll 4")
#define LRA_NO_UNROLL _Pragma("unroll 1")
#endif

/* Declares a device function, for kernels only. */
#define LRA_DEV static __device__ __forceinline__

enum { LRA_WARP = 32, LRA_BLOCK = 256, LRA_BLOCK_WARPS = LRA_BLOCK / LRA_WARP };

/* Number of blocks for n work items, per_block in each. It is limited; kernels therefore have a
 * grid-stride loop. */
static inline unsigned lra_grid(int64_t n, int64_t per_block)
{
    int64_t blocks = (n + per_block - 1) / per_block;
    return (unsigned)(blocks < 1 ? 1 : blocks < 1 << 20 ? blocks : 1 << 20);
}

/* Allows a kernel to use more than 48 KiB of shared memory, which must be requested once per
 * kernel. */
#ifndef LRA_SHIM
#define LRA_ALLOW_SHARED(kernel, n_bytes)                                                          \
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(n_bytes))
#else
#define LRA_ALLOW_SHARED(kernel, n_bytes) ((void)(n_bytes))
#endif

#endif
