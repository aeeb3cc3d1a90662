/* The instructions of kernels/cuda/wgmma.h on the host shim.  Shared memory is addressed from its
 * start, as on a GPU.  Copies arrive at once and products are made when they are waited for: the
 * earliest and the latest moment, so that memory given back too soon shows. */
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

static inline void shim_bar_add(uint64_t *bar, int arrivals, int bytes)
{
    shim_bar *b = (shim_bar *)bar;
    b->missing = (int16_t)(b->missing - arrivals), b->bytes += bytes;
    if (b->missing == 0 && b->bytes == 0) b->phase ^= 1, b->missing = (int16_t)b->count;
}
static inline void bar_init(uint64_t *bar, int count)
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
static inline void bar_wait(uint64_t *bar, int parity)
{
    while (((shim_bar *)bar)->phase == parity) shim_wait(SHIM_READY);
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

static inline void tm_load(void *shared, const lra_map *map, int c0, int c1, int c2, uint64_t *bar)
{
    shim_map s;
    memcpy(&s, map, sizeof s);
    uint32_t to = tc_address(shared), at = 0;
    if (to % (s.swizzled ? 1024 : 128) != 0) lra_bug(__FILE__, __LINE__, "a box at %u", to);
    for (int k = 0; k < s.box[2]; k++)
        for (int j = 0; j < s.box[1]; j++)
            for (int i = 0; i < s.box[0]; i++, at += 2) {
                int64_t x = c0 + i, y = c1 + j, z = c2 + k;
                bool inside = x >= 0 && x < s.d[0] && y >= 0 && y < s.d[1] && z >= 0 && z < s.d[2];
                uint16_t v = inside ? s.data[(z * s.d[1] + y) * s.d[0] + x] : (uint16_t)0;
                memcpy((char *)shim_shared + to + (s.swizzled ? wg_swizzled(at) : at), &v,
                       sizeof v);
            }
    shim_bar_add(bar, 0, -(int)at);
}

/* ---- products -------------------------------------------------------------------------------- */

/* Element (line, k) of an operand, line along M or N. */
static inline float shim_operand(uint64_t matrix, bool transposed, int line, int k)
{
    uint32_t start = (uint32_t)(matrix & 0x3FFF) << 4;
    uint32_t leading = (uint32_t)(matrix >> 16 & 0x3FFF) << 4;
    uint32_t stride = (uint32_t)(matrix >> 32 & 0x3FFF) << 4, at;
    bool swizzled = matrix >> 62 == 1;
    uint32_t l = (uint32_t)line, q = (uint32_t)k;
    if (!swizzled && !transposed)
        at = l / 8 * stride + l % 8 * 16 + q / 8 * leading + q % 8 * 2;
    else if (!swizzled)
        at = q / 8 * leading + q % 8 * 16 + l / 8 * stride + l % 8 * 2;
    else if (!transposed)
        at = l / 8 * stride + l % 8 * WG_ROW + q * 2;
    else
        at = q / 8 * stride + q % 8 * WG_ROW + l / 64 * leading + l % 64 * 2;
    uint16_t v;
    memcpy(&v, (const char *)shim_shared + (swizzled ? wg_swizzled(start + at) : start + at), 2);
    return tc_half(v, 0);
}

enum { SHIM_QUEUE = 64 };
typedef struct {
    float *d;
    uint64_t a, b;
    int transposed, columns;
} shim_product;
static struct {
    shim_product product[SHIM_QUEUE];
    int n, closed; /* products queued, of them in closed groups */
    int group[SHIM_QUEUE], n_groups;
} shim_queue[1024];

static inline int shim_id(void)
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
static inline void shim_multiply(const shim_product *p)
{
    int lane = shim_lane(), warp = shim_id() / 32 % 4;
    for (int k = 0; k < 16; k++) {
        float a[2];
        for (int h = 0; h < 2; h++)
            a[h] = shim_operand(p->a, p->transposed & 1, 16 * warp + 8 * h + lane / 4, k);
        for (int j = 0; j < p->columns / 8; j++)
            for (int i = 0; i < 2; i++) {
                float b = shim_operand(p->b, p->transposed & 2, 8 * j + lane % 4 * 2 + i, k);
                for (int h = 0; h < 2; h++) p->d[4 * j + 2 * h + i] += a[h] * b;
            }
    }
}
/* The four warps of a group issue a product together and are done together. */
static inline void wg_fence(void)
{
    shim_wait(SHIM_GROUP);
}
static inline void wg_commit(void)
{
    auto *q = &shim_queue[shim_id()];
    q->group[q->n_groups++] = q->n - q->closed;
    q->closed = q->n;
}
static inline void shim_queue_product(shim_product p)
{
    auto *q = &shim_queue[shim_id()];
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
template <int PENDING> static inline void wg_wait(void)
{
    auto *q = &shim_queue[shim_id()];
    int done = 0, first = q->n_groups > PENDING ? q->n_groups - PENDING : 0;
    for (int g = 0; g < first; g++)
        for (int i = 0; i < q->group[g]; i++) shim_multiply(&q->product[done++]);
    for (int i = done; i < q->n; i++) q->product[i - done] = q->product[i];
    for (int g = first; g < q->n_groups; g++) q->group[g - first] = q->group[g];
    q->n -= done, q->closed -= done, q->n_groups -= first;
    shim_wait(SHIM_GROUP);
}

#endif
