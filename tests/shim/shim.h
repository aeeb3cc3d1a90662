/* CUDA on the host, for tests: kernels compiled as C++ run thread by thread on fibers (fibers.c),
 * so that CI checks them without a GPU.  Included before everything else; instructions of tensor
 * cores: tensor.h. */
#ifndef LRA_TESTS_SHIM_H
#define LRA_TESTS_SHIM_H
#define LRA_SHIM 1

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    unsigned x, y, z;
} shim_dim;

#ifdef __cplusplus
extern "C" {
#endif
extern shim_dim shim_thread, shim_block, shim_block_size, shim_grid_size;
extern void *shim_shared;  /* of the block, filled with NaN before it starts */
extern int shim_backwards; /* threads run from last to first: a race then changes results */
/* Runs body(arg) as every thread of the grid; all threads must meet at the same barriers. */
void shim_launch(shim_dim grid, shim_dim block, size_t shared, void (*body)(void *arg), void *arg);
/* Waits for the threads of the warp, four warps, the block; SHIM_READY lets the others run, and
 * looks again. */
enum { SHIM_READY, SHIM_WARP, SHIM_GROUP, SHIM_BLOCK, SHIM_DONE };
void shim_wait(int what);
int shim_lane(void);
void *shim_slot(int lane); /* 64 bytes that all lanes of the warp may read between two waits */
#ifdef __cplusplus
}

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define threadIdx       shim_thread
#define blockIdx        shim_block
#define blockDim        shim_block_size
#define gridDim         shim_grid_size
#define __syncthreads() shim_wait(SHIM_BLOCK)
#define __syncwarp()    shim_wait(SHIM_WARP)
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
#define SHIM_VECTOR(name, ...)                                                                     \
    struct name {                                                                                  \
        __VA_ARGS__;                                                                               \
    };
SHIM_VECTOR(uint2, unsigned x, y)
SHIM_VECTOR(uint4, unsigned x, y, z, w)
SHIM_VECTOR(float4, float x, y, z, w)

template <class T> static inline T __shfl_sync(unsigned, T value, int from)
{
    memcpy(shim_slot(shim_lane()), &value, sizeof value);
    shim_wait(SHIM_WARP);
    memcpy(&value, shim_slot(from & 31), sizeof value);
    shim_wait(SHIM_WARP);
    return value;
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int other)
{
    return __shfl_sync(mask, value, shim_lane() ^ other);
}

template <class F> static void shim_run(dim3 g, dim3 b, size_t shared, F *f)
{
    shim_launch(
        {g.x, g.y, g.z}, {b.x, b.y, b.z}, shared, [](void *p) { (*(F *)p)(); }, f);
}
#define LRA_LAUNCH(kernel, grid, block, shared, stream, ...)                                       \
    do {                                                                                           \
        auto shim_body = [&] { kernel(__VA_ARGS__); };                                             \
        (void)(stream);                                                                            \
        shim_run(grid, block, shared, &shim_body);                                                 \
    } while (0)
#define LRA_SHARED(type, name) type *name = (type *)shim_shared
#endif
#endif
