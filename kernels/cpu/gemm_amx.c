/* bf16 products on tiles (AMX): a tile holds 16 rows of 64 bytes, and one instruction adds to a 16 x 16 tile
 * of float32 sums the product of 16 rows of 32 bf16 with 16 pairs of rows of 16 columns, which is how
 * lra_pack_bf16() packs b.  Four tiles of sums share two tiles of a and two of b.
 * Rows of a are read where they stand; pairs of lra_pair_bf16() are transposed into tiles first.
 *
 * With LRA_AMX_EMULATED the instructions are plain C, so that a machine without tiles tests everything else. */
#include "kernels/cpu/gemm_amx.h"

#include <string.h>

#include "kernels/base/err.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(LRA_AMX_EMULATED)
#define AMX
static _Thread_local struct {
    unsigned char byte[16][64];
} tiles[8];
static void tile_start(void) {}
static void tile_end(void)
{
    memset(tiles, 0xFF, sizeof tiles); /* nothing survives: NaN */
}
#define TILE_ZERO(t) memset(&tiles[t], 0, sizeof tiles[t])
#define TILE_LOAD(t, from, stride)                                                                 \
    for (int r_ = 0; r_ < 16; r_++)                                                                \
    memcpy(tiles[t].byte[r_], (const char *)(from) + r_ * (int64_t)(stride), 64)
#define TILE_STORE(t, to, stride)                                                                  \
    for (int r_ = 0; r_ < 16; r_++)                                                                \
    memcpy((char *)(to) + r_ * (int64_t)(stride), tiles[t].byte[r_], 64)
static float wide(const unsigned char *p)
{
    uint32_t bits = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 24;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static void emulate(int c, int a, int b)
{
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 16; n++) {
            float sum;
            memcpy(&sum, tiles[c].byte[m] + 4 * n, sizeof sum);
            for (int k = 0; k < 16; k++) {
                sum += wide(tiles[a].byte[m] + 4 * k) * wide(tiles[b].byte[k] + 4 * n);
                sum += wide(tiles[a].byte[m] + 4 * k + 2) * wide(tiles[b].byte[k] + 4 * n + 2);
            }
            memcpy(tiles[c].byte[m] + 4 * n, &sum, sizeof sum);
        }
}
#define TILE_PRODUCT(c, a, b) emulate(c, a, b)
#else
#define AMX                        __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw")))
typedef struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;
/* All eight tiles 16 x 64.  As an instruction: gcc 12's intrinsic declares an operand of one byte, and the
 * stores to the rest are dropped. */
AMX static void tile_start(void)
{
    tile_config c __attribute__((aligned(64))) = {.palette = 1};
    for (int t = 0; t < 8; t++) c.row_bytes[t] = 64, c.rows[t] = 16;
    __asm__ volatile("ldtilecfg %0" : : "m"(c));
}
AMX static void tile_end(void)
{
    _tile_release();
}
#define TILE_ZERO(t)               _tile_zero(t)
#define TILE_LOAD(t, from, stride) _tile_loadd(t, from, (int)(stride))
#define TILE_STORE(t, to, stride)  _tile_stored(t, to, (int)(stride))
#define TILE_PRODUCT(c, a, b)      _tile_dpbf16ps(c, a, b)
#endif

enum { DEPTH = 512 }; /* k per pass: two panels of b stay in the first cache */

/* a: two tiles of rows `a_next` apart, steps of k `a_step` apart, rows `stride` bytes apart; b: two panels. */
typedef struct {
    const uint16_t *a, *a_next, *b, *b_next;
    int64_t a_step, stride, steps;
    float *c;
    int64_t ldc;
    bool add;
} tile_job;

#define START(t, at)                                                                               \
    if (j->add) {                                                                                  \
        TILE_LOAD(t, at, 4 * j->ldc);                                                              \
    } else {                                                                                       \
        TILE_ZERO(t);                                                                              \
    }

AMX static void block_32_32(const tile_job *j)
{
    float *c = j->c, *below = j->c + 16 * j->ldc;
    START(0, c)
    START(1, c + 16)
    START(2, below)
    START(3, below + 16)
    for (int64_t k = 0; k < j->steps; k++) {
        TILE_LOAD(6, j->b + k * 512, 64);
        TILE_LOAD(4, j->a + k * j->a_step, j->stride);
        TILE_PRODUCT(0, 4, 6);
        TILE_LOAD(7, j->b_next + k * 512, 64);
        TILE_PRODUCT(1, 4, 7);
        TILE_LOAD(5, j->a_next + k * j->a_step, j->stride);
        TILE_PRODUCT(2, 5, 6);
        TILE_PRODUCT(3, 5, 7);
    }
    TILE_STORE(0, c, 4 * j->ldc);
    TILE_STORE(1, c + 16, 4 * j->ldc);
    TILE_STORE(2, below, 4 * j->ldc);
    TILE_STORE(3, below + 16, 4 * j->ldc);
}

AMX static void block_16_16(const tile_job *j)
{
    START(0, j->c)
    for (int64_t k = 0; k < j->steps; k++) {
        TILE_LOAD(6, j->b + k * 512, 64);
        TILE_LOAD(4, j->a + k * j->a_step, j->stride);
        TILE_PRODUCT(0, 4, 6);
    }
    TILE_STORE(0, j->c, 4 * j->ldc);
}

/* A block of up to 32 x 32 sums. */
AMX static void block(tile_job j, int64_t rows, int64_t columns)
{
    if (rows == 32 && columns == 32) {
        block_32_32(&j);
        return;
    }
    const tile_job whole = j;
    for (int64_t m = 0; m < rows; m += 16)
        for (int64_t n = 0; n < columns; n += 16) {
            j.a = m ? whole.a_next : whole.a, j.b = n ? whole.b_next : whole.b;
            j.c = whole.c + m * whole.ldc + n;
            block_16_16(&j);
        }
}

/* to[i][p] = from[p][i], 16 x 16 words of 32 bits; rows of from `step` words apart. */
__attribute__((target("avx512f"))) static void transpose(const uint16_t *from, int64_t step,
                                                         uint16_t *to)
{
    __m512i r[16], t[16];
    for (int i = 0; i < 16; i++) r[i] = _mm512_loadu_si512(from + i * step);
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int k = 0; k < 2; k++) {
            r[i + 2 * k] = _mm512_unpacklo_epi64(t[i + k], t[i + k + 2]);
            r[i + 2 * k + 1] = _mm512_unpackhi_epi64(t[i + k], t[i + k + 2]);
        }
    for (int i = 0; i < 4; i++) { /* quarters of 128 bits */
        __m512i a = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        __m512i b = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xDD);
        __m512i c = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        __m512i d = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xDD);
        t[i] = _mm512_shuffle_i32x4(a, c, 0x88), t[i + 8] = _mm512_shuffle_i32x4(a, c, 0xDD);
        t[i + 4] = _mm512_shuffle_i32x4(b, d, 0x88), t[i + 12] = _mm512_shuffle_i32x4(b, d, 0xDD);
    }
    for (int i = 0; i < 16; i++) _mm512_storeu_si512(to + 32 * i, t[i]);
}

void lra_gemm_amx(int64_t M, int64_t N, int64_t K, lra_pairs_bf16 a, const uint16_t *b,
                  int64_t panel, bool add, float *c, int64_t ldc)
{
    static _Thread_local uint16_t copy[2][DEPTH / 32][512] __attribute__((aligned(64)));
    if (M % 16 || N % 16 || K % 32) LRA_BUG("tiles of %lld rows", (long long)M);
    bool stored = a.step == 2;
    tile_start();
    for (int64_t k = 0; k < K; k += DEPTH) {
        int64_t steps = (K - k < DEPTH ? K - k : DEPTH) / 32;
        for (int64_t m = 0; m < M; m += 32) {
            int64_t rows = M - m < 32 ? M - m : 32;
            const uint16_t *at = a.a + m * a.row + k / 2 * a.step;
            for (int64_t i = 0; i < rows / 16 && !stored; i++)
                for (int64_t s = 0; s < steps; s++)
                    transpose(at + i * 16 * a.row + s * 16 * a.step, a.step, copy[i][s]);
            tile_job j = {.a = stored ? at : copy[0][0],
                          .a_next = stored ? at + 16 * a.row : copy[1][0],
                          .a_step = stored ? 32 : 512,
                          .stride = stored ? 2 * a.row : 64,
                          .steps = steps,
                          .ldc = ldc,
                          .add = add || k > 0};
            for (int64_t n = 0; n < N; n += 32) {
                j.b = b + n / 16 * panel + k * 16, j.b_next = j.b + panel;
                j.c = c + m * ldc + n;
                block(j, rows, N - n < 32 ? N - n : 32);
            }
        }
    }
    tile_end();
}

AMX float lra_amx_burst(void)
{
    float sum[16][16], zero[16][16] = {{0}};
    tile_start();
    TILE_LOAD(4, zero, 64);
    TILE_LOAD(6, zero, 64);
    TILE_ZERO(0);
    TILE_ZERO(1);
    TILE_ZERO(2);
    TILE_ZERO(3);
    for (int i = 0; i < LRA_AMX_BURST / 4; i++) {
        TILE_PRODUCT(0, 4, 6);
        TILE_PRODUCT(1, 4, 6);
        TILE_PRODUCT(2, 4, 6);
        TILE_PRODUCT(3, 4, 6);
    }
    TILE_STORE(0, sum, 64);
    tile_end();
    return sum[0][0];
}

#endif
