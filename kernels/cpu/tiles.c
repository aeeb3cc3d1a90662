/* bf16 products of operands in tile layout, on AMX tiles or with the dot-product instruction on
 * registers.
 * Bottlenecks of AMX: a tile product takes 16 cycles, a load 8, a store 16. The operands of
 * attention are short in k (one to four steps), so that sums are stored and cleared almost as often
 * as they are multiplied. There are therefore four tiles of sums, and each is stored just before it
 * is cleared, while the others are in use: 134 ns for 64 x 64 x 32, of which 70 are products; 144
 * ns if tiles are stored in pairs. With two steps of k the right operand of 16 columns stays in two
 * tiles: 111 instead of 116 ns for 64 x 32 x 64; 120 instead of 145 ns if sums are accumulated.
 * These times hold while the AMX unit is busy. After an idle time of 0.5 microseconds the next
 * products take 300 ns more. Callers with other work between products should thus split it into
 * short pieces (attention_tiles_forward_template.h). */
#include "kernels/cpu/tiles.h"

#include "kernels/base/core/err.h"
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
#include "kernels/cpu/amx.h"

#define START(t, at)                                                                               \
    if (j->add) {                                                                                  \
        TILE_LOAD(t, at, 4 * j->ld);                                                               \
    } else {                                                                                       \
        TILE_ZERO(t);                                                                              \
    }

#define SUMS(t, r, s)                                                                              \
    if (k == 0) {                                                                                  \
        if (held) {                                                                                \
            TILE_STORE(t, held + (r)*j->ld + (s), 4 * j->ld);                                      \
        }                                                                                          \
        START(t, c + (r)*j->ld + (s))                                                              \
    }

/* Computes columns [n, n + 32) of M rows, a multiple of 32. */
AMX static void strip(const lra_tiles_job *j, int64_t M, int64_t n, int64_t K)
{
    float *held = NULL; /* destination of the sums that are still in tile registers */
    for (int64_t m = 0; m < M; m += 32) {
        const uint16_t *a = j->a + m * j->row, *b = j->b + n / 16 * j->panel;
        float *c = j->c + m * j->ld + n;
        for (int64_t k = 0; k < K; k += 32, a += 32, b += 512) {
            TILE_LOAD(6, b, 64);
            TILE_LOAD(4, a, 2 * j->row);
            SUMS(0, 0, 0)
            TILE_PRODUCT(0, 4, 6);
            TILE_LOAD(7, b + j->panel, 64);
            SUMS(1, 0, 16)
            TILE_PRODUCT(1, 4, 7);
            TILE_LOAD(5, a + 16 * j->row, 2 * j->row);
            SUMS(2, 16, 0)
            TILE_PRODUCT(2, 5, 6);
            SUMS(3, 16, 16)
            TILE_PRODUCT(3, 5, 7);
        }
        held = c;
    }
    if (!held) return;
    TILE_STORE(0, held, 4 * j->ld);
    TILE_STORE(1, held + 16, 4 * j->ld);
    TILE_STORE(2, held + 16 * j->ld, 4 * j->ld);
    TILE_STORE(3, held + 16 * j->ld + 16, 4 * j->ld);
}

/* Computes 16 rows of 16 columns in tile t; the right operand is in tiles 6 and 7. */
#define ROWS(t, a, c)                                                                              \
    do {                                                                                           \
        START(t, c)                                                                                \
        TILE_LOAD(4, a, 2 * j->row);                                                               \
        TILE_PRODUCT(t, 4, 6);                                                                     \
        TILE_LOAD(5, (a) + 32, 2 * j->row);                                                        \
        TILE_PRODUCT(t, 5, 7);                                                                     \
    } while (0)

/* Computes columns [n, n + 16) of M rows, a multiple of 32, for K = 64 (two steps of k). */
AMX static void column(const lra_tiles_job *j, int64_t M, int64_t n)
{
    const uint16_t *b = j->b + n / 16 * j->panel;
    TILE_LOAD(6, b, 64);
    TILE_LOAD(7, b + 512, 64);
    for (int64_t m = 0; m < M; m += 32) {
        const uint16_t *a = j->a + m * j->row;
        float *c = j->c + m * j->ld + n;
        ROWS(0, a, c);
        if (m > 0) {
            TILE_STORE(1, c - 16 * j->ld, 4 * j->ld);
        }
        ROWS(1, a + 16 * j->row, c + 16 * j->ld);
        TILE_STORE(0, c, 4 * j->ld);
    }
    if (M > 0) {
        TILE_STORE(1, j->c + (M - 16) * j->ld + n, 4 * j->ld);
    }
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
    int64_t rows = M / 32 * 32, columns = N / 32 * 32;
    for (int64_t n = 0; n < N && K == 64; n += 16) column(j, rows, n);
    for (int64_t n = 0; n < columns && K != 64; n += 32) strip(j, rows, n, K);
    for (int64_t n = columns; n < N && K != 64; n += 16)
        for (int64_t m = 0; m < rows; m += 16) block_16_16(j, m, n, K);
    for (int64_t n = 0; n < N && rows < M; n += 16) block_16_16(j, rows, n, K);
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
