/* Fourier transforms by cuFFT, which is loaded with dlopen(): programs that do not use it run
 * without cuFFT. */
#include "kernels/cuda/fft.h"
#include "kernels/cuda/state.h"

#include <cufft.h>

#define FUNCTIONS(X)                                                                               \
    X(cufftCreate)                                                                                 \
    X(cufftMakePlanMany64)                                                                         \
    X(cufftSetStream)                                                                              \
    X(cufftExecR2C)                                                                                \
    X(cufftExecC2R)

#define MEMBER(name) decltype(&::name) name;
static struct {
    FUNCTIONS(MEMBER)
    bool loaded;
} fft;

static int load(lra_err *e)
{
    void *library = lra_cuda_library("cufft", CUFFT_VER_MAJOR, e);
    if (!library) return LRA_FAILED;
#define LOAD(f)                                                                                    \
    fft.f = (decltype(&::f))lra_cuda_symbol(library, #f, e);                                       \
    if (!fft.f) return LRA_FAILED;
    FUNCTIONS(LOAD)
    fft.loaded = true;
    return 0;
}

/* ---- plans ----------------------------------------------------------------------------------- */

enum { MAX_PLANS = 256 };

typedef struct {
    int64_t n, row, n_rows;
    bool back;
    void *stream; /* a cuFFT plan has its own memory, which two streams cannot share */
    cufftHandle plan;
} known_plan;

static cufftResult make(known_plan *p)
{
    long long n = p->n, real = p->row, complex = p->row / 2;
    size_t size = 0;
    cufftResult rc = fft.cufftCreate(&p->plan);
    if (rc != CUFFT_SUCCESS) return rc;
    return p->back ? fft.cufftMakePlanMany64(p->plan, 1, &n, &complex, 1, complex, &real, 1, real,
                                             CUFFT_C2R, p->n_rows, &size)
                   : fft.cufftMakePlanMany64(p->plan, 1, &n, &real, 1, real, &complex, 1, complex,
                                             CUFFT_R2C, p->n_rows, &size);
}

static const known_plan *find(int64_t n, int64_t row, int64_t n_rows, bool back, void *stream,
                              lra_err *e)
{
    static known_plan known[MAX_PLANS];
    static int n_known;
    for (int i = 0; i < n_known; i++)
        if (known[i].n == n && known[i].row == row && known[i].n_rows == n_rows &&
            known[i].back == back && known[i].stream == stream)
            return &known[i];
    if (!fft.loaded && load(e) != 0) return NULL;
    if (n_known == MAX_PLANS) {
        lra_fail(e, "more than %d sizes of transforms", (int)MAX_PLANS);
        return NULL;
    }
    known[n_known] = {n, row, n_rows, back, stream};
    cufftResult rc = make(&known[n_known]);
    if (rc == CUFFT_SUCCESS) rc = fft.cufftSetStream(known[n_known].plan, (cudaStream_t)stream);
    if (rc == CUFFT_SUCCESS) return &known[n_known++];
    lra_fail(e, "cuFFT has no plan for %lld transforms of %lld reals: status %d", (long long)n_rows,
             (long long)n, (int)rc);
    return NULL;
}

extern "C" void lra_cuda_fft(int64_t n, int64_t row, int64_t n_rows, float *x, bool back,
                             void *stream)
{
    const known_plan *p = find(n, row, n_rows, back, stream, &lra_cuda->fault);
    if (!p) return;
    cufftResult rc = back ? fft.cufftExecC2R(p->plan, (cufftComplex *)x, x)
                          : fft.cufftExecR2C(p->plan, x, (cufftComplex *)x);
    if (rc != CUFFT_SUCCESS)
        lra_fail(&lra_cuda->fault, "cuFFT fails on %lld transforms of %lld reals: status %d",
                 (long long)n_rows, (long long)n, (int)rc);
}
