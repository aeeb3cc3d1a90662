/* AMX tile instructions for the files of this folder: eight tiles of 16 rows of 64 bytes. With
 * LRA_AMX_EMULATED they are plain C functions, so that a machine without AMX can test everything
 * else: the memory accesses of the callers and their order. */
#ifndef LRA_CPU_AMX_H
#define LRA_CPU_AMX_H

#include <stdint.h>
#include <string.h>

#if defined(LRA_AMX_EMULATED)
#define AMX
static _Thread_local struct {
    unsigned char byte[16][64];
} tiles[8];
static void tile_start(void) {}
static void tile_end(void)
{
    /* as the instruction does, loses the contents of the tiles; NaN makes a later read visible */
    memset(tiles, 0xFF, sizeof tiles);
}
#define TILE_ZERO(t) memset(&tiles[t], 0, sizeof tiles[t])
#define TILE_LOAD(t, from, stride)                                                                 \
    for (int r_ = 0; r_ < 16; r_++)                                                                \
    memcpy(tiles[t].byte[r_], (const char *)(from) + r_ * (int64_t)(stride), 64)
#define TILE_STREAM TILE_LOAD
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
/* Emulates TDPBF16PS: sum (m,n) += products of 16 pairs of k. A pair is contiguous in row m of a
 * and in column n of b. */
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
#include <immintrin.h>
#define AMX                          __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512vl,avx512bf16,prfchw")))
typedef struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;
/* Configures all eight tiles as 16 rows of 64 bytes. Inline assembly is used, because gcc 12's
 * intrinsic declares an operand of one byte, so that the stores to the rest of the configuration
 * are dropped. */
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
#define TILE_ZERO(t)                 _tile_zero(t)
#define TILE_LOAD(t, from, stride)   _tile_loadd(t, from, (int)(stride))
#define TILE_STREAM(t, from, stride) _tile_stream_loadd(t, from, (int)(stride))
#define TILE_STORE(t, to, stride)    _tile_stored(t, to, (int)(stride))
#define TILE_PRODUCT(c, a, b)        _tile_dpbf16ps(c, a, b)
#endif

#endif
