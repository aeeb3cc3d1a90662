/* Roots of unity for transforms of radix 4; they stay for the life of the program. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>

#include "kernels/base/mem.h"
#include "kernels/cpu/fft.h"

enum { MAX_BITS = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define ROOTS(name, type)                                                                          \
    const type *name(int64_t n)                                                                    \
    {                                                                                              \
        static type *known[MAX_BITS];                                                              \
        const double turn = -2 * 3.14159265358979323846 / (double)n;                               \
        int bits = 0;                                                                              \
        while ((int64_t)1 << bits < n) bits++;                                                     \
        if (bits >= MAX_BITS || (int64_t)1 << bits != n)                                           \
            LRA_BUG("transform of %lld elements", (long long)n);                                   \
        pthread_mutex_lock(&lock);                                                                 \
        if (!known[bits]) {                                                                        \
            type *root = lra_alloc_array((size_t)(6 * n / 4 + 6), sizeof *root);                   \
            for (int64_t i = 0; i < n / 4; i++)                                                    \
                for (int k = 1; k < 4; k++) {                                                      \
                    root[6 * i + 2 * k - 2] = (type)cos(turn * (double)(i * k));                   \
                    root[6 * i + 2 * k - 1] = (type)sin(turn * (double)(i * k));                   \
                }                                                                                  \
            known[bits] = root;                                                                    \
        }                                                                                          \
        const type *found = known[bits];                                                           \
        pthread_mutex_unlock(&lock);                                                               \
        return found;                                                                              \
    }
ROOTS(lra_fft_roots_f32, float)
ROOTS(lra_fft_roots_f64, double)
