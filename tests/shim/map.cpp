/* Tensor maps, the copies of TMA, products of wgmma and the columns of blocks on the host shim. */
#include "tests/shim/wgmma.h"

extern "C" bool lra_cuda_map(lra_map *m, const void *data, const int64_t d[3], const int box[3],
                             bool swizzled)
{
    return shim_make_map(m, data, d, box, swizzled);
}

extern "C" int shim_columns;
int shim_columns;
extern "C" int lra_cuda_columns(void)
{
    return shim_columns;
}

/* ---- copies of boxes ------------------------------------------------------------------------- */

enum { BOXES = 4096 };
static struct {
    void *shared;
    shim_map map;
    int c[3];
    uint64_t *bar;
} box[BOXES];
static int n_boxes;

extern "C" bool shim_bar_ended(const void *bar, int parity)
{
    return ((const shim_bar *)bar)->phase != parity;
}

extern "C" void shim_load(void *shared, const lra_map *map, int c0, int c1, int c2, uint64_t *bar)
{
    shim_map s;
    memcpy(&s, map, sizeof s);
    uint32_t to = tc_address(shared);
    size_t n = (size_t)s.box[0] * (size_t)s.box[1] * (size_t)s.box[2] * 2;
    if (to % (s.swizzled ? 1024 : 128) != 0) lra_bug(__FILE__, __LINE__, "a box at %u", to);
    if (!shim_is_shared(shared, n) || n_boxes == BOXES)
        lra_bug(__FILE__, __LINE__, "a box outside shared memory, or too many under way");
    memset(shared, 0xFF, n);
    box[n_boxes++] = {shared, s, {c0, c1, c2}, bar};
}

static void write_box(int which)
{
    const shim_map &s = box[which].map;
    uint32_t at = 0;
    for (int k = 0; k < s.box[2]; k++)
        for (int j = 0; j < s.box[1]; j++)
            for (int i = 0; i < s.box[0]; i++, at += 2) {
                int64_t x = box[which].c[0] + i, y = box[which].c[1] + j, z = box[which].c[2] + k;
                bool inside = x >= 0 && x < s.d[0] && y >= 0 && y < s.d[1] && z >= 0 && z < s.d[2];
                uint16_t v = inside ? s.data[(z * s.d[1] + y) * s.d[0] + x] : (uint16_t)0;
                memcpy((char *)box[which].shared + (s.swizzled ? wg_swizzled(at) : at), &v,
                       sizeof v);
            }
    shim_bar_add(box[which].bar, 0, -(int)at);
}

/* The copy that was started last, or, where threads run backwards, any. */
extern "C" int shim_deliver(void)
{
    static uint32_t state = 1;
    if (n_boxes == 0) return 0;
    state = state * 1664525u + 1013904223u; /* Numerical Recipes, 7.1 */
    int which = (int)((uint64_t)state * (uint32_t)n_boxes >> 32);
    if (!shim_backwards) which = n_boxes - 1;
    write_box(which);
    box[which] = box[--n_boxes];
    return 1;
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

extern "C" void shim_multiply(const shim_product *p)
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
