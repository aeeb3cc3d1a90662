/* MT19937, and the two ways in which public pipelines shuffle with it.
 * Generator: Matsumoto & Nishimura 1998, "Mersenne Twister", seeded by the single-word initialiser
 * of 2002: mt[i] = 1812433253 (mt[i-1] ^ mt[i-1] >> 30) + i.
 *   torch: for i = 0..n-2: swap r[i] with r[i + u32 mod (n-i)]      (biased, as in torch)
 *   numpy: for i = n-1..1: swap r[i] with r[j], j in [0,i] by masked rejection
 * Known: torch, seed 42, n = 10 gives 2 6 1 8 4 5 0 9 3 7; numpy, seed 0 gives 2 8 4 9 1 6 7 3 0
 * 5. */
#include "datasets/loader/split.h"

#include <math.h>

enum { N = 624, M = 397 };

typedef struct {
    uint32_t word[N];
    int next;
} twister;

static void seed_twister(twister *t, uint32_t seed)
{
    t->word[0] = seed;
    for (uint32_t i = 1; i < N; i++) {
        uint32_t before = t->word[i - 1];
        t->word[i] = 1812433253u * (before ^ (before >> 30)) + i;
    }
    t->next = N;
}

static void twist(twister *t)
{
    for (int i = 0; i < N; i++) {
        uint32_t y = (t->word[i] & 0x80000000u) | (t->word[(i + 1) % N] & 0x7FFFFFFFu);
        t->word[i] = t->word[(i + M) % N] ^ (y >> 1) ^ (y & 1 ? 0x9908B0DFu : 0);
    }
    t->next = 0;
}

static uint32_t draw(twister *t)
{
    if (t->next == N) twist(t);
    uint32_t y = t->word[t->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9D2C5680u;
    y ^= (y << 15) & 0xEFC60000u;
    return y ^ (y >> 18);
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t old = *a;
    *a = *b;
    *b = old;
}

void lra_split_torch(uint32_t seed, int64_t n, int64_t *order)
{
    twister t;
    seed_twister(&t, seed);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = 0; i < n - 1; i++) swap(&order[i], &order[i + draw(&t) % (n - i)]);
}

void lra_split_numpy(uint32_t seed, int64_t n, int64_t *order)
{
    twister t;
    seed_twister(&t, seed);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        uint32_t mask = (uint32_t)i;
        for (int shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
        uint32_t j = draw(&t) & mask;
        while (j > (uint32_t)i) j = draw(&t) & mask;
        swap(&order[i], &order[j]);
    }
}

int64_t lra_split_carve(uint32_t seed, int64_t n, double share, int64_t *order)
{
    int64_t kept = (int64_t)floor((double)n * (1 - share));
    lra_split_torch(seed, n, order);
    if (kept == n && n > 1) kept--;
    return kept < 1 && n > 0 ? 1 : kept;
}

int64_t lra_split_spaced(int64_t k, int64_t n, int64_t taken)
{
    return k * n / taken;
}
