/* What the open GPU can do at best, measured: a large product by the library, a large copy. */
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/state.h"

enum { RUNS = 5 };

/* Seconds of the fastest of RUNS calls of work(memory), each between two events; 0: it failed. */
static double best_time(void (*work)(lra_type t, char *memory), lra_type t, char *memory)
{
    cudaEvent_t start = NULL, end = NULL;
    float ms = 0, best = 0;
    cudaError_t rc = cudaEventCreate(&start);
    if (rc == cudaSuccess) rc = cudaEventCreate(&end);
    for (int i = 0; i < RUNS && rc == cudaSuccess; i++) {
        cudaEventRecord(start, lra_cuda->work);
        work(t, memory);
        cudaEventRecord(end, lra_cuda->work);
        rc = cudaEventSynchronize(end);
        if (rc == cudaSuccess) rc = cudaEventElapsedTime(&ms, start, end);
        if (rc == cudaSuccess && (best == 0 || ms < best)) best = ms;
    }
    if (start) cudaEventDestroy(start);
    if (end) cudaEventDestroy(end);
    return rc == cudaSuccess ? 1e-3 * (double)best : 0;
}

static double measure(void (*work)(lra_type t, char *memory), lra_type t, size_t n_bytes,
                      double amount)
{
    char *memory = NULL;
    double seconds = 0;
    if (cudaMalloc((void **)&memory, n_bytes) == cudaSuccess &&
        cudaMemset(memory, 0, n_bytes) == cudaSuccess)
        seconds = best_time(work, t, memory);
    cudaFree(memory);
    cudaGetLastError(); /* no memory for a measurement is no failure of what comes next */
    return seconds > 0 ? amount / seconds : 0;
}

enum { SIZE = 8192, COPY = 1 << 30 };

static void product(lra_type t, char *memory)
{
    lra_cuda_product p = {false, true, SIZE, SIZE, SIZE, 1, 0, 0, t, t};
    size_t one = (size_t)SIZE * SIZE * lra_type_size(t);
    lra_cuda_gemm(&p, memory, memory + one, memory + 2 * one, lra_cuda->work);
}

static void copy(lra_type t, char *memory)
{
    (void)t;
    cudaMemcpyAsync(memory, memory + COPY, COPY, cudaMemcpyDeviceToDevice, lra_cuda->work);
}

double lra_cuda_peak(const lra_device *d, lra_type type, int n_threads)
{
    lra_type t = type == LRA_BF16 ? LRA_BF16 : LRA_F32;
    (void)d, (void)n_threads;
    double rate = measure(product, t, 3 * (size_t)SIZE * SIZE * lra_type_size(t),
                          2.0 * SIZE * SIZE * SIZE);
    if (lra_cuda->fault.msg[0]) rate = 0;
    lra_cuda->fault.msg[0] = 0;
    return rate;
}

extern "C" double lra_cuda_copy_rate(const lra_device *d)
{
    (void)d;
    return measure(copy, LRA_F32, 2 * (size_t)COPY, 2.0 * COPY);
}
