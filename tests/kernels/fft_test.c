/* Fourier transforms compared with the sums that define them, in both types, for every kind of
 * length; round trips; use from several threads at the same time. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/base/core/philox.h"
#include "kernels/cpu/fft.h"

enum { MAX_N = 16384, ROW = MAX_N + 32 };
static const int64_t length[] = {2,  4,  6,   8,   10,  12,  16,   18,   20,   30,
                                 50, 90, 128, 150, 240, 486, 1000, 1024, 2250, 16384};
#define N_LENGTHS ((int)(sizeof length / sizeof *length))

static double x[ROW], own[ROW], other[ROW];
static float own_f32[ROW];

static void fill(int64_t n)
{
    lra_rng r = lra_rng_new(11, 3, 0);
    for (int64_t i = 0; i < n; i++) x[i] = 2 * lra_rng_u01(&r) - 1;
}

static double worst(int64_t n, const double *a, const double *b)
{
    double difference = 0, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        difference = fmax(difference, fabs(a[i] - b[i]));
        largest = fmax(largest, fabs(b[i]));
    }
    return difference / largest;
}

TEST(forth_is_the_sum)
{
    for (int i = 0; i < N_LENGTHS && length[i] <= 1024; i++) {
        int64_t n = length[i];
        fill(n);
        for (int64_t k = 0; k <= n / 2; k++) {
            double re = 0, im = 0;
            for (int64_t t = 0; t < n; t++) {
                double angle = -2 * 3.14159265358979323846 * (double)(k * t % n) / (double)n;
                re += x[t] * cos(angle), im += x[t] * sin(angle);
            }
            other[2 * k] = re, other[2 * k + 1] = im;
        }
        memcpy(own, x, sizeof own);
        lra_fft_f64(n, own);
        assert_true(worst(n + 2, own, other) < 1e-14 * sqrt((double)n));
    }
}

/* A transform and its inverse multiply by n; the float32 result is the rounded float64 result. */
TEST(comes_back_in_both_types)
{
    for (int i = 0; i < N_LENGTHS; i++) {
        int64_t n = length[i];
        fill(n);
        memcpy(own, x, sizeof own);
        for (int64_t t = 0; t < n; t++) own_f32[t] = (float)x[t];
        lra_fft_f64(n, own), lra_fft_f32(n, own_f32);
        for (int64_t t = 0; t < n + 2; t++) other[t] = own_f32[t];
        assert_true(worst(n + 2, other, own) < 1e-6);
        lra_fft_back_f64(n, own), lra_fft_back_f32(n, own_f32);
        for (int64_t t = 0; t < n; t++) other[t] = (double)n * x[t];
        assert_true(worst(n, own, other) < 2e-15);
        for (int64_t t = 0; t < n; t++) own[t] = own_f32[t];
        assert_true(worst(n, own, other) < 1e-6);
    }
}

/* The imaginary parts of the first and the last frequency are ignored, because they are 0 for real
 * sequences. */
TEST(back_ignores_what_cannot_be)
{
    enum { N = 60 };
    fill(N + 2);
    memcpy(own, x, sizeof own), memcpy(other, x, sizeof other);
    other[1] = other[N + 1] = 0;
    lra_fft_back_f64(N, own), lra_fft_back_f64(N, other);
    assert_memory_equal(own, other, N * sizeof *own);
}

static void *many(void *result)
{
    double mine[1026], first[1026];
    bool equal = true;
    for (int round = 0; round < 50; round++) {
        lra_rng r = lra_rng_new(5, 1, 0);
        for (int i = 0; i < 1024; i++) mine[i] = lra_rng_u01(&r);
        lra_fft_f64(1024, mine);
        if (round == 0) memcpy(first, mine, sizeof first);
        equal = equal && memcmp(first, mine, sizeof mine) == 0;
    }
    *(bool *)result = equal;
    return NULL;
}

TEST(threads_do_not_meet)
{
    pthread_t thread[3];
    bool equal[3] = {false};
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, many, &equal[i]), 0);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 3; i++) assert_true(equal[i]);
}
