/* The instructions of kernels/cuda/wgmma.h on the host shim. Shared memory is addressed from its
 * start, as on a GPU. A copy (map.cpp) overwrites its box with NaN when it starts. Copies arrive as
 * late as possible, when no thread can continue without them: the last one first, or in random
 * order. */
#ifndef LRA_TESTS_SHIM_WGMMA_H
#define LRA_TESTS_SHIM_WGMMA_H

#include "tests/shim/tensor.h"

#define __grid_constant__
#include "kernels/cuda/wgmma.h"

/* ---- barriers -------------------------------------------------------------------------------- */

typedef struct {
    int bytes;
    int16_t missing;
    uint16_t count : 15, phase : 1;
} shim_bar;
static_assert(sizeof(shim_bar) == sizeof(uint64_t), "a barrier of another size");

SHIM_UNSEEN static void shim_bar_add(uint64_t *bar, int arrivals, int bytes)
{
    shim_bar *b = (shim_bar *)bar;
    b->missing = (int16_t)(b->missing - arrivals), b->bytes += bytes;
    if (b->missing == 0 && b->bytes == 0) b->phase ^= 1, b->missing = (int16_t)b->count;
}
SHIM_UNSEEN static void bar_init(uint64_t *bar, int count)
{
    *(shim_bar *)bar = shim_bar{0, (int16_t)count, (uint16_t)(count & 0x7FFF), 0};
}
static inline void bar_fence(void) {}
static inline void bar_arrive(uint64_t *bar)
{
    shim_bar_add(bar, 1, 0);
}
static inline void bar_expect(uint64_t *bar, int n_bytes)
{
    shim_bar_add(bar, 0, n_bytes);
    shim_bar_add(bar, 1, 0);
}
static inline void bar_wait(uint64_t *bar, int parity, const char *file = __builtin_FILE(),
                            int line = __builtin_LINE())
{
    if (!shim_visit(SHIM_BOX_WAIT, file, line)) shim_wait_bar(bar, parity);
}

/* ---- tensor maps ----------------------------------------------------------------------------- */

typedef struct {
    const uint16_t *data;
    int64_t d[3];
    int box[3], swizzled;
} shim_map;

static inline bool shim_make_map(lra_map *m, const void *data, const int64_t d[3], const int box[3],
                                 bool swizzled)
{
    shim_map s = {(const uint16_t *)data, {d[0], d[1], d[2]}, {box[0], box[1], box[2]}, swizzled};
    if (d[0] % 8 || (uintptr_t)data % 16 || box[0] > 256 || box[1] > 256 || box[2] > 256 ||
        box[0] % 8 || (swizzled && box[0] != 64))
        return false;
    memcpy(m, &s, sizeof s);
    return true;
}

static inline uint32_t tc_address(const void *shared)
{
    return (uint32_t)((const char *)shared - (const char *)shim_shared);
}

extern "C" void shim_load(void *shared, const lra_map *map, int c0, int c1, int c2, uint64_t *bar);
static inline void tm_load(void *shared, const lra_map *map, int c0, int c1, int c2, uint64_t *bar)
{
    shim_load(shared, map, c0, c1, c2, bar);
}

/* ---- products -------------------------------------------------------------------------------- */

enum { SHIM_QUEUE = 64 };
typedef struct {
    float *d;
    uint64_t a, b;
    int transposed, columns;
} shim_product;
static struct {
    shim_product product[SHIM_QUEUE];
    int n, closed; /* number of queued products, and how many of them are in closed groups */
    int group[SHIM_QUEUE], n_groups;
} shim_queue[SHIM_THREADS];

extern "C" void shim_multiply(const shim_product *p); /* defined in map.cpp */
/* The products of the four warps of a group end together. A product may start as soon as its warp
 * issues it, or only after all four warps did; the direction of threads selects which. */
static inline void wg_fence(void)
{
    shim_wait(shim_backwards ? SHIM_GROUP : SHIM_WARP);
}
static inline void wg_commit(void)
{
    auto *q = &shim_queue[shim_id()];
    q->group[q->n_groups++] = q->n - q->closed;
    q->closed = q->n;
}
/* Hardware may read the operands at any moment between the call and the wait. The shim reads them
 * at the first of these moments, or at the last if threads run backwards. */
static inline void shim_queue_product(shim_product p)
{
    auto *q = &shim_queue[shim_id()];
    if (!shim_backwards) {
        shim_multiply(&p);
        return;
    }
    if (q->n == SHIM_QUEUE) lra_bug(__FILE__, __LINE__, "too many products under way");
    q->product[q->n++] = p;
}
template <int TRANSPOSE_A, int TRANSPOSE_B>
static inline void wg_mma(float d[64], uint64_t a, uint64_t b)
{
    shim_queue_product(shim_product{d, a, b, TRANSPOSE_A | TRANSPOSE_B << 1, 128});
}
template <int TRANSPOSE_A, int TRANSPOSE_B>
static inline void wg_mma_narrow(float d[32], uint64_t a, uint64_t b)
{
    shim_queue_product(shim_product{d, a, b, TRANSPOSE_A | TRANSPOSE_B << 1, 64});
}
template <int PENDING>
static inline void wg_wait(const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    auto *q = &shim_queue[shim_id()];
    int pending = PENDING + shim_visit(SHIM_PRODUCT_WAIT, file, line);
    int done = 0, first = q->n_groups > pending ? q->n_groups - pending : 0;
    for (int g = 0; g < first; g++)
        for (int i = 0; i < q->group[g]; i++) shim_multiply(&q->product[done++]);
    for (int i = done; i < q->n; i++) q->product[i - done] = q->product[i];
    for (int g = first; g < q->n_groups; g++) q->group[g - first] = q->group[g];
    q->n -= done, q->closed -= done, q->n_groups -= first;
    /* if no product has to end, warps do not wait for each other */
    shim_wait(first > 0 ? SHIM_GROUP : SHIM_WARP);
}

#endif
