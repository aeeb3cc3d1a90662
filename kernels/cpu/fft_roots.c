/* Roots of unity for transforms of radix 8. They are kept until the program ends. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/fft.h"

enum { MAX_BITS = 40 };

static const int power[FFT_ROOTS / 2] = {2, 4, 6, 1, 3, 5, 7};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define ROOTS(name, type)                                                                          \
    const type *name(int64_t n)                                                                    \
    {                                                                                              \
        static type *known[MAX_BITS];                                                              \
        const double turn = -2 * 3.14159265358979323846 / (double)n;                               \
        int bits = 0;                                                                              \
        while ((int64_t)1 << bits < n) bits++;                                                     \
        if (bits < 3 || bits >= MAX_BITS || (int64_t)1 << bits != n)                               \
            LRA_BUG("transform of %lld elements", (long long)n);                                   \
        pthread_mutex_lock(&lock);                                                                 \
        if (!known[bits]) {                                                                        \
            type *root = lra_alloc_array((size_t)(FFT_ROOTS * n / 8), sizeof *root);               \
            for (int64_t i = 0; i < n / 8; i++)                                                    \
                for (int k = 0; k < FFT_ROOTS / 2; k++) {                                          \
                    double angle = turn * (double)(i * power[k]);                                  \
                    root[FFT_ROOTS * i + 2 * k] = (type)cos(angle);                                \
                    root[FFT_ROOTS * i + 2 * k + 1] = (type)sin(angle);                            \
                }                                                                                  \
            known[bits] = root;                                                                    \
        }                                                                                          \
        const type *found = known[bits];                                                           \
        pthread_mutex_unlock(&lock);                                                               \
        return found;                                                                              \
    }
ROOTS(lra_fft_roots_f32, float)
ROOTS(lra_fft_roots_f64, double)
