/* Replaces the FFT library in the host shim by the transforms of the CPU. */
#include "kernels/cuda/fft.h"

#include <string.h>

#include "kernels/base/core/err.h"
#include "kernels/base/core/mem.h"
#include "kernels/cpu/fft.h"

void lra_cuda_fft(int64_t n, int64_t row, int64_t n_rows, float *x, bool back, void *stream)
{
    lra_err e;
    float *own = lra_try_alloc((size_t)lra_fft_row(n) * sizeof *own, "a transform", &e);
    (void)stream;
    if (!own) LRA_BUG("%s", e.msg);
    for (int64_t i = 0; i < n_rows; i++) {
        memcpy(own, x + i * row, (size_t)(n + 2) * sizeof *own);
        if (back)
            lra_fft_back_f32(n, own);
        else
            lra_fft_f32(n, own);
        memcpy(x + i * row, own, (size_t)(n + 2) * sizeof *own);
    }
    lra_free_large(own);
}
