/* Transforms by FFTW, or by our own where it is left out (-DLRA_GPL=OFF).  FFTW's planner is not safe in threads,
 * running a plan on other arrays is. */
#include "kernels/cpu/fft.h"

#if LRA_GPL
#include <fftw3.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/err.h"
#else
#include "kernels/cpu/fft_builtin.h"
#endif

const char *lra_fft_library(void)
{
#if LRA_GPL
    static char name[64]; /* "fftw-3.3.10-sse2-avx" */
    const char *version = fftwf_version;
    version += strcspn(version, "-");
    version += *version == '-';
    snprintf(name, sizeof name, "FFTW %.*s", (int)strcspn(version, "-"), version);
    return name;
#else
    return "Fourier transforms of our own";
#endif
}

int64_t lra_fft_size(int64_t n)
{
    int64_t best = 2;
    while (best < n) best *= 2;
    for (int64_t five = 2; five < best; five *= 5)
        for (int64_t three = five; three < best; three *= 3) {
            int64_t size = three;
            while (size < n) size *= 2;
            if (size < best) best = size;
        }
    return best;
}

int64_t lra_fft_row(int64_t n)
{
    return (n + 2 + 15) / 16 * 16;
}

#if LRA_GPL
/* Plans that exist, the latest first; they stay for the life of the program. */
enum { MAX_PLANS = 256 };
typedef struct {
    int64_t n;
    fftwf_plan forth, back;
} plans_f32;
typedef struct {
    int64_t n;
    fftw_plan forth, back;
} plans_f64;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int checked(int64_t n)
{
    if (n < 2 || n % 2 || n > INT_MAX / 2) LRA_BUG("transform of %lld elements", (long long)n);
    return (int)n;
}

#define FIND_PLANS(name, type, real, complex, fn)                                                  \
    static type name(int64_t n)                                                                    \
    {                                                                                              \
        static type known[MAX_PLANS];                                                              \
        static int n_known;                                                                        \
        int i = 0;                                                                                 \
        pthread_mutex_lock(&lock);                                                                 \
        while (i < n_known && known[i].n != n) i++;                                                \
        if (i == MAX_PLANS) LRA_BUG("more than %d lengths of transforms", (int)MAX_PLANS);         \
        if (i == n_known) {                                                                        \
            real *x = fn##_malloc((size_t)lra_fft_row(n) * sizeof *x);                             \
            if (!x) LRA_BUG("no memory for the plan of a transform");                              \
            known[i].n = n;                                                                        \
            known[i].forth = fn##_plan_dft_r2c_1d(checked(n), x, (complex *)(void *)x,             \
                                                  FFTW_ESTIMATE);                                  \
            known[i].back = fn##_plan_dft_c2r_1d(checked(n), (complex *)(void *)x, x,              \
                                                 FFTW_ESTIMATE);                                   \
            fn##_free(x);                                                                          \
            if (!known[i].forth || !known[i].back) LRA_BUG("no plan for a transform");             \
            n_known++;                                                                             \
        }                                                                                          \
        type found = known[i];                                                                     \
        pthread_mutex_unlock(&lock);                                                               \
        return found;                                                                              \
    }
FIND_PLANS(find_f32, plans_f32, float, fftwf_complex, fftwf)
FIND_PLANS(find_f64, plans_f64, double, fftw_complex, fftw)

void lra_fft_f32(int64_t n, float *x)
{
    fftwf_execute_dft_r2c(find_f32(n).forth, x, (fftwf_complex *)(void *)x);
}
void lra_fft_back_f32(int64_t n, float *x)
{
    fftwf_execute_dft_c2r(find_f32(n).back, (fftwf_complex *)(void *)x, x);
}
void lra_fft_f64(int64_t n, double *x)
{
    fftw_execute_dft_r2c(find_f64(n).forth, x, (fftw_complex *)(void *)x);
}
void lra_fft_back_f64(int64_t n, double *x)
{
    fftw_execute_dft_c2r(find_f64(n).back, (fftw_complex *)(void *)x, x);
}
#else
void lra_fft_f32(int64_t n, float *x)
{
    lra_own_fft_f32(n, x);
}
void lra_fft_back_f32(int64_t n, float *x)
{
    lra_own_fft_back_f32(n, x);
}
void lra_fft_f64(int64_t n, double *x)
{
    lra_own_fft_f64(n, x);
}
void lra_fft_back_f64(int64_t n, double *x)
{
    lra_own_fft_back_f64(n, x);
}
#endif
