/* By tiles (AMX), or by the dot-product instruction on registers, whose operands are the same.
 * What limits tiles: a product of tiles takes 16 cycles, a load of one 8, a store of one 16.  The
 * operands of attention are short in k (one to four steps), so that sums leave and enter the tiles
 * almost as often as they are multiplied; hence two pairs of tiles for sums, one of which is stored
 * while the other is worked on: 188 ns instead of 235 for 64 x 64 x 32. */
#include "kernels/cpu/tiles.h"

#include "kernels/base/err.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/gemm.h"

#if defined(LRA_AMX_EMULATED)
enum { TILES = 1 };
#else
#define TILES (lra_cpu_bf16() == LRA_BF16_AMX)
#endif

bool lra_tiles_usable(void)
{
    return TILES || lra_gemm_bf16_fast();
}

lra_tiles_unit lra_tiles_units(void)
{
    return TILES ? (lra_tiles_unit){16, 32} : (lra_tiles_unit){1, 2};
}

#if defined(__x86_64__) || defined(LRA_AMX_EMULATED)
#include "kernels/cpu/amx_fn.h"

#define START(t, at)                                                                               \
    if (j->add) {                                                                                  \
        TILE_LOAD(t, at, 4 * j->ld);                                                               \
    } else {                                                                                       \
        TILE_ZERO(t);                                                                              \
    }

/* 16 rows from m on and 32 columns from n on, into tiles c0 and c1, through tile t. */
#define PRODUCTS(c0, c1, t, m, n)                                                                  \
    do {                                                                                           \
        const uint16_t *a = j->a + (m)*j->row, *b = j->b + (n) / 16 * j->panel;                    \
        START(c0, j->c + (m)*j->ld + (n))                                                          \
        START(c1, j->c + (m)*j->ld + (n) + 16)                                                     \
        for (int64_t k = 0; k < K; k += 32, a += 32, b += 512) {                                   \
            TILE_LOAD(t, a, 2 * j->row);                                                           \
            TILE_LOAD(6, b, 64);                                                                   \
            TILE_PRODUCT(c0, t, 6);                                                                \
            TILE_LOAD(7, b + j->panel, 64);                                                        \
            TILE_PRODUCT(c1, t, 7);                                                                \
        }                                                                                          \
    } while (0)
#define STORES(c0, c1, m, n)                                                                       \
    do {                                                                                           \
        TILE_STORE(c0, j->c + (m)*j->ld + (n), 4 * j->ld);                                         \
        TILE_STORE(c1, j->c + (m)*j->ld + (n) + 16, 4 * j->ld);                                    \
    } while (0)

/* 32 columns from n on of all M rows.  The sums of 16 rows are stored while the next 16 are
 * multiplied. */
AMX static void strip(const lra_tiles_job *j, int64_t M, int64_t n, int64_t K)
{
    for (int64_t m = 0; m < M; m += 32) {
        PRODUCTS(0, 1, 4, m, n);
        if (m > 0) STORES(2, 3, m - 16, n);
        if (m + 16 < M) PRODUCTS(2, 3, 5, m + 16, n);
        STORES(0, 1, m, n);
    }
    if (M % 32 == 0) STORES(2, 3, M - 16, n);
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
    if (TILES) tile_start();
}
void lra_tiles_end(void)
{
    if (TILES) tile_end();
}

void lra_tiles_product(int64_t M, int64_t N, int64_t K, const lra_tiles_job *j)
{
    const lra_tiles_unit u = lra_tiles_units();
    if (M % u.rows || N % 16 || K % u.depth)
        LRA_BUG("product of %lld x %lld x %lld", (long long)M, (long long)N, (long long)K);
    if (!TILES) {
        const lra_pairs_bf16 a = {j->a, j->row, 2};
        lra_gemm_bf16(M, N, K, a, j->b, j->panel, j->add, j->c, j->ld);
        return;
    }
    for (int64_t n = 0; n < N; n += 32)
        if (n + 32 <= N)
            strip(j, M, n, K);
        else
            for (int64_t m = 0; m < M; m += 16) block_16_16(j, m, n, K);
}
#else
void lra_tiles_begin(void) {}
void lra_tiles_end(void) {}
void lra_tiles_product(int64_t M, int64_t N, int64_t K, const lra_tiles_job *j)
{
    (void)M, (void)N, (void)K, (void)j;
    LRA_BUG("this processor does not multiply bf16");
}
#endif
