/* Peak rates of a processor: multiply-adds on registers only, and copies. Each thread has twelve
 * independent sums, which is more than latency times throughput of current cores. Their initial
 * values differ, because the compiler would otherwise merge them. The best of several runs is the
 * peak, because other load can only make a run slower. */
#include "kernels/cpu/peak.h"

#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/gemm_amx.h"
#include "kernels/graph/op.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { SUMS = 12, RUNS = 10, ROUNDS = 1 << 21 };

/* One burst of ROUNDS x SUMS instructions. It returns a number that depends on the result, so that
 * the compiler does not remove the loop. */
typedef float (*burst)(void);

static float burst_portable(void)
{
    float sum[SUMS][4], x = 1.0000001f;
    for (int k = 0; k < SUMS; k++)
        for (int l = 0; l < 4; l++) sum[k][l] = (float)(4 * k + l);
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < SUMS; k++)
            for (int l = 0; l < 4; l++) sum[k][l] = sum[k][l] * x + x;
    float total = 0;
    for (int k = 0; k < SUMS; k++) total += sum[k][0] + sum[k][1] + sum[k][2] + sum[k][3];
    return total;
}

#if defined(__x86_64__)
#if defined(__clang__)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 12")
#endif

__attribute__((target("avx2,fma"))) static float burst_avx2(void)
{
    __m256 sum[SUMS], x = _mm256_set1_ps(1.0000001f);
    UNROLL for (int k = 0; k < SUMS; k++) sum[k] = _mm256_set1_ps((float)k);
    for (int i = 0; i < ROUNDS; i++)
        UNROLL for (int k = 0; k < SUMS; k++) sum[k] = _mm256_fmadd_ps(sum[k], x, x);
    float total = 0;
    UNROLL for (int k = 0; k < SUMS; k++) total += _mm256_cvtss_f32(sum[k]);
    return total;
}

__attribute__((target("avx512f"))) static float burst_avx512(void)
{
    __m512 sum[SUMS], x = _mm512_set1_ps(1.0000001f);
    UNROLL for (int k = 0; k < SUMS; k++) sum[k] = _mm512_set1_ps((float)k);
    for (int i = 0; i < ROUNDS; i++)
        UNROLL for (int k = 0; k < SUMS; k++) sum[k] = _mm512_fmadd_ps(sum[k], x, x);
    float total = 0;
    UNROLL for (int k = 0; k < SUMS; k++) total += _mm512_cvtss_f32(sum[k]);
    return total;
}

__attribute__((target("avx512f,avx512bf16"))) static float burst_avx512bf16(void)
{
    __m512 sum[SUMS];
    const __m512i x = _mm512_set1_epi32(0x3F803F80); /* 32 bf16 numbers 1.0 */
    UNROLL for (int k = 0; k < SUMS; k++) sum[k] = _mm512_set1_ps((float)k);
    for (int i = 0; i < ROUNDS; i++)
        UNROLL for (int k = 0; k < SUMS; k++)
            sum[k] = _mm512_dpbf16_ps(sum[k], (__m512bh)x, (__m512bh)x);
    float total = 0;
    UNROLL for (int k = 0; k < SUMS; k++) total += _mm512_cvtss_f32(sum[k]);
    return total;
}
#endif

/* FLOP/s of n_threads threads; flops: FLOP per burst. */
static double rate(burst run, double flops, int n_threads)
{
    double best = 0;
    for (int r = 0; r < RUNS; r++) {
        float sink = 0;
        double start = lra_now();
#pragma omp parallel num_threads(n_threads) reduction(+ : sink)
        sink += run();
        if (sink < 0) LRA_BUG("a sum of positive numbers is negative");
        double speed = n_threads * flops / (lra_now() - start);
        if (speed > best) best = speed;
    }
    return best;
}

/* Memory bandwidth in bytes/s, read plus written. Each thread repeatedly copies the second half of
 * its memory to the first half. */
static double copy_rate(size_t bytes_per_thread, int n_threads)
{
    size_t half = bytes_per_thread / 2;
    int repeats = (int)((512u << 20) / bytes_per_thread) + 1;
    char *memory = lra_alloc_array((size_t)n_threads, bytes_per_thread);
    /* touch all pages: untouched ones would all map to one zero page */
    memset(memory, 1, (size_t)n_threads * bytes_per_thread);
    double best = 0;
    for (int r = 0; r < RUNS; r++) {
        double start = lra_now();
#pragma omp parallel num_threads(n_threads)
        {
            char *own = memory + (size_t)omp_get_thread_num() * bytes_per_thread;
            for (int i = 0; i < repeats; i++) {
                memcpy(own, own + half, half);
                own[half + (size_t)i % half]++;
            }
        }
        double speed = (double)repeats * (double)bytes_per_thread * n_threads / (lra_now() - start);
        if (speed > best) best = speed;
    }
    lra_free(memory);
    return best;
}

double lra_cpu_peak(bool bf16, int n_threads)
{
    const double portable = 2.0 * ROUNDS * SUMS * 4;
#if defined(__x86_64__)
    if (bf16 && lra_cpu_bf16() == LRA_BF16_AMX)
        return rate(lra_amx_burst, 2.0 * 16 * 16 * 32 * LRA_AMX_BURST, n_threads);
    if (bf16 && lra_cpu_bf16() != LRA_BF16_NONE)
        return rate(burst_avx512bf16, 8 * portable, n_threads);
    if (lra_cpu_level() == LRA_LEVEL_AVX512) return rate(burst_avx512, 4 * portable, n_threads);
    if (lra_cpu_level() == LRA_LEVEL_AVX2) return rate(burst_avx2, 2 * portable, n_threads);
#endif
    (void)bf16;
    return rate(burst_portable, portable, n_threads);
}

lra_peaks lra_cpu_peaks(int n_threads)
{
    return (lra_peaks){
        .f32 = lra_cpu_peak(false, n_threads),
        .bf16 = lra_cpu_bf16() != LRA_BF16_NONE ? lra_cpu_peak(true, n_threads) : 0,
        .dram = copy_rate(256u << 20, n_threads),
        .cache = copy_rate(4u << 20, n_threads),
    };
}
