/* Four tiles of sums share two of a and two of b: 4 products (64 cycles) for 4 loads (32).  Operands of attention are
 * short in k, so that sums leave and enter the tiles as often as they are multiplied; a store of a tile takes 16 cycles,
 * beside the products. */
#include "kernels/cpu/tiles.h"

#include "kernels/base/err.h"
#include "kernels/cpu/features.h"

bool lra_tiles_usable(void)
{
    return lra_cpu_bf16() == LRA_BF16_AMX;
}

#if defined(__x86_64__)
#include "kernels/cpu/amx_fn.h"

#define START(t, at)                                                                               \
    if (j->add) {                                                                                  \
        TILE_LOAD(t, at, 4 * j->ld);                                                               \
    } else {                                                                                       \
        TILE_ZERO(t);                                                                              \
    }

/* 32 x 32 sums at (m,n). */
AMX static void block_32_32(const lra_tiles_job *j, int64_t m, int64_t n, int64_t K)
{
    const uint16_t *a = j->a + m * j->row, *b = j->b + n / 16 * j->panel;
    float *c = j->c + m * j->ld + n, *below = c + 16 * j->ld;
    START(0, c)
    START(1, c + 16)
    START(2, below)
    START(3, below + 16)
    for (int64_t k = 0; k < K; k += 32, a += 32, b += 512) {
        TILE_LOAD(6, b, 64);
        TILE_LOAD(4, a, 2 * j->row);
        TILE_PRODUCT(0, 4, 6);
        TILE_LOAD(7, b + j->panel, 64);
        TILE_PRODUCT(1, 4, 7);
        TILE_LOAD(5, a + 16 * j->row, 2 * j->row);
        TILE_PRODUCT(2, 5, 6);
        TILE_PRODUCT(3, 5, 7);
    }
    TILE_STORE(0, c, 4 * j->ld);
    TILE_STORE(1, c + 16, 4 * j->ld);
    TILE_STORE(2, below, 4 * j->ld);
    TILE_STORE(3, below + 16, 4 * j->ld);
}

AMX static void block_16_16(const lra_tiles_job *j, int64_t m, int64_t n, int64_t K)
{
    const uint16_t *a = j->a + m * j->row, *b = j->b + n / 16 * j->panel;
    float *c = j->c + m * j->ld + n;
    START(0, c)
    for (int64_t k = 0; k < K; k += 32, a += 32, b += 512) {
        TILE_LOAD(6, b, 64);
        TILE_LOAD(4, a, 2 * j->row);
        TILE_PRODUCT(0, 4, 6);
    }
    TILE_STORE(0, c, 4 * j->ld);
}

void lra_tiles_begin(void)
{
    tile_start();
}
void lra_tiles_end(void)
{
    tile_end();
}

void lra_tiles_product(int64_t M, int64_t N, int64_t K, const lra_tiles_job *j)
{
    if (M % 16 || N % 16 || K % 32) LRA_BUG("tiles of %lld x %lld", (long long)M, (long long)N);
    for (int64_t m = 0; m < M; m += 32)
        for (int64_t n = 0; n < N; n += 32) {
            if (m + 32 <= M && n + 32 <= N) {
                block_32_32(j, m, n, K);
                continue;
            }
            for (int64_t i = m; i < M && i < m + 32; i += 16)
                for (int64_t k = n; k < N && k < n + 32; k += 16) block_16_16(j, i, k, K);
        }
}
#else
void lra_tiles_begin(void) {}
void lra_tiles_end(void) {}
void lra_tiles_product(int64_t M, int64_t N, int64_t K, const lra_tiles_job *j)
{
    (void)M, (void)N, (void)K, (void)j;
    LRA_BUG("this processor has no tiles");
}
#endif
