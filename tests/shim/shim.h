/* CUDA on the host, for tests: kernels are compiled as C++ and run thread by thread on fibers
 * (fibers.c), so that CI checks them without a GPU. This file is included before all others.
 * Instructions of tensor cores: tensor.h. */
#ifndef LRA_TESTS_SHIM_SHIM_H
#define LRA_TESTS_SHIM_SHIM_H
#define LRA_SHIM 1

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    unsigned x, y, z;
} shim_dim;

#ifdef __cplusplus
extern "C" {
#endif
enum { SHIM_THREADS = 1024, SHIM_STACK = 128 << 10 };
extern shim_dim shim_thread, shim_block, shim_block_size, shim_grid_size;
extern void *shim_shared;  /* shared memory of the block; filled with NaN before the block starts */
extern int shim_backwards; /* true: blocks, warps and lanes run from last to first */
extern int shim_launches;  /* number of launches so far */
extern bool shim_dry;      /* true: launches are checked, but no thread runs */
/* Runs body(arg) as every thread of the grid; all threads must meet at the same barriers. */
void shim_launch(shim_dim grid, shim_dim block, size_t shared, void (*body)(void *arg), void *arg);
/* Conditions for which shim_wait() waits: all threads of the warp, of four warps, or of the
 * block. */
enum { SHIM_READY, SHIM_WARP, SHIM_GROUP, SHIM_BLOCK, SHIM_BAR, SHIM_DONE };
void shim_wait(int what);
void shim_sync(const char *file, int line); /* replaces __syncthreads() in kernels */
void shim_wait_bar(const void *bar, int parity);
int shim_lane(void);
int shim_id(void); /* index of the thread within its block */
/* 64 bytes of a lane that all lanes of the warp may read until the next wait */
void *shim_slot(int lane);
bool shim_is_shared(const void *at, size_t n);
/* checks an address passed to ldmatrix: 16 aligned bytes of shared memory */
void shim_check_row(const void *row);

/* cp.async: starts a copy, closes a group of copies, waits until at most `pending` groups
 * remain. */
void shim_copies_start(int n_threads);
void shim_copy(void *shared, const void *global, int n, bool valid);
void shim_copies_close(void);
void shim_copies_wait(int pending);

/* TMA (map.cpp): shim_bar_ended() returns true if the phase of this parity has ended.
 * shim_deliver() executes one of the started copies, and returns 0 if there is none. */
bool shim_bar_ended(const void *bar, int parity);
int shim_deliver(void);

/* Shadow memory (shadow.c) records the accesses of kernels. Two accesses of different threads to
 * the same address, at least one of them a write, without a barrier between them are a race.
 * Kernels are compiled with -fsanitize=thread, and shadow.c defines the functions that it calls;
 * copies and ldmatrix call shim_access(). */
enum { SHIM_READ, SHIM_WRITE, SHIM_ATOMIC };
extern int shim_now;             /* index of the running thread within its block */
extern const char *shim_stack;   /* lower end of the stack of the running thread */
extern size_t shim_shared_bytes; /* size of shim_shared */
extern int shim_races;           /* number of races so far */
extern char shim_race[256];      /* description of the first race */
void shim_access(const void *at, size_t n, int kind);
/* Marks a function whose accesses are not recorded in the shadow memory. */
#define SHIM_UNSEEN __attribute__((noinline, unused, no_sanitize("thread")))
enum { SHIM_NEW_LAUNCH, SHIM_NEW_BLOCK, SHIM_NEW_INTERVAL };
/* called when a launch or a block starts, and after each barrier of a block */
void shim_shadow_next(int what);
void shim_shadow_warp(int first); /* called after a barrier or shuffle of the warp */
void shim_shadow_stop(void);      /* ends the recording; called when the launch has ended */
extern const char *shim_kernel;   /* name of the last kernel that was launched */

/* Places at which kernels wait. Tests can make one of them faulty: SHIM_SYNC and SHIM_BOX_WAIT then
 * do not wait, and the others wait for one group less. */
enum { SHIM_SYNC, SHIM_COPY_WAIT, SHIM_PRODUCT_WAIT, SHIM_BOX_WAIT };
typedef struct {
    int kind, line;
    const char *file;
    int64_t visits; /* number of visits by threads since the count was reset */
} shim_site;
extern int shim_mutant; /* index of the faulty place; -1: none */
int shim_sites(void);
shim_site *shim_site_at(int i);
/* Counts a visit of a place. Returns true if the place is the faulty one. */
bool shim_visit(int kind, const char *file, int line);
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
#define __syncthreads() shim_sync(__FILE__, __LINE__)
#define __syncwarp()    shim_wait(SHIM_WARP)
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
/* Vector types have the alignment that they have on a GPU; the sanitizer of undefined behaviour
 * checks it. */
#define SHIM_VECTOR(name, n_bytes, ...)                                                            \
    struct alignas(n_bytes) name {                                                                 \
        __VA_ARGS__;                                                                               \
    };
SHIM_VECTOR(uint2, 8, unsigned x, y)
SHIM_VECTOR(uint4, 16, unsigned x, y, z, w)
SHIM_VECTOR(float4, 16, float x, y, z, w)

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
        shim_kernel = #kernel;                                                                     \
        shim_run(grid, block, shared, &shim_body);                                                 \
    } while (0)
#define LRA_SHARED(type, name) type *name = (type *)shim_shared
#endif
#endif
