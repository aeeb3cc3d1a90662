/* CUDA on the host, for tests: kernels compiled as C++ run thread by thread on fibers (fibers.c),
 * so that CI checks them without a GPU.  Included before everything else; instructions of tensor
 * cores: tensor.h. */
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
enum { SHIM_THREADS = 1024 };
extern shim_dim shim_thread, shim_block, shim_block_size, shim_grid_size;
extern void *shim_shared;  /* of the block, filled with NaN before it starts */
extern int shim_backwards; /* blocks, warps and lanes run from last to first */
extern int shim_launches;  /* so far */
extern bool shim_dry;      /* launches are checked, and no thread runs */
/* Runs body(arg) as every thread of the grid; all threads must meet at the same barriers. */
void shim_launch(shim_dim grid, shim_dim block, size_t shared, void (*body)(void *arg), void *arg);
/* Waits for the threads of the warp, of four warps, of the block. */
enum { SHIM_READY, SHIM_WARP, SHIM_GROUP, SHIM_BLOCK, SHIM_BAR, SHIM_DONE };
void shim_wait(int what);
void shim_sync(const char *file, int line); /* __syncthreads() of a kernel */
void shim_wait_bar(const void *bar, int parity);
int shim_lane(void);
int shim_id(void);         /* of the thread within its block */
void *shim_slot(int lane); /* 64 bytes that all lanes of the warp may read between two waits */
bool shim_is_shared(const void *at, size_t n);
void shim_check_row(const void *row); /* of ldmatrix: 16 aligned bytes of shared memory */

/* cp.async: starts one, closes a group of them, waits until at most `pending` groups are left. */
void shim_copies_start(int n_threads);
void shim_copy(void *shared, const void *global, int n, bool valid);
void shim_copies_close(void);
void shim_copies_wait(int pending);

/* TMA (map.cpp): true if the phase of this parity has ended; writes one of the copies under way,
 * 0: there is none. */
bool shim_bar_ended(const void *bar, int parity);
int shim_deliver(void);

/* Shadow memory (shadow.c): accesses of kernels; two of different threads to the same address, one
 * of them a write, with no barrier between them are a race.  Kernels are compiled with
 * -fsanitize=thread, whose calls shadow.c receives; copies and ldmatrix call shim_access(). */
enum { SHIM_READ, SHIM_WRITE, SHIM_ATOMIC };
extern int shim_races;      /* so far */
extern char shim_race[256]; /* the first one */
void shim_access(const void *at, size_t n, int kind);
/* A function whose accesses shadow memory does not see. */
#define SHIM_UNSEEN __attribute__((noinline, unused, no_sanitize("thread")))
enum { SHIM_NEW_LAUNCH, SHIM_NEW_BLOCK, SHIM_NEW_INTERVAL };
void shim_shadow_next(int what);    /* a launch or a block starts, a block has met at a barrier */
void shim_shadow_warp(int first);   /* the warp of this thread has met */
void shim_shadow_stop(void);        /* the launch has ended */
bool shim_is_stack(const void *at); /* of the thread that runs */
extern const char *shim_kernel;     /* name of the kernel that was started last */

/* Places in kernels that wait.  One of them can be faulty: SHIM_SYNC and SHIM_BOX_WAIT do not wait,
 * the others leave one group more under way. */
enum { SHIM_SYNC, SHIM_COPY_WAIT, SHIM_PRODUCT_WAIT, SHIM_BOX_WAIT };
typedef struct {
    int kind, line;
    const char *file;
    int64_t visits; /* by threads, since the count was last set to 0 */
} shim_site;
extern int shim_mutant; /* number of the faulty place, -1: none */
int shim_sites(void);
shim_site *shim_site_at(int i);
/* Counts a visit; true if the place is the faulty one. */
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
/* Aligned as on a GPU, which the sanitizer of undefined behaviour checks. */
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
