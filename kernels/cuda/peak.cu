/* Measures peak rates of the open GPU: large matrix products by cuBLASLt, large copies. Operands
 * are random, because products of zeros draw less power and run faster than real ones. */
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/state.h"

/* The result is the best of TIMES measurements, each of IN_A_ROW calls between two events. */
enum { TIMES = 3, IN_A_ROW = 10 };

/* Fills memory with numbers in +-[1,2), one float32 or two bf16 numbers per word. Signs and
 * mantissas are random. */
static __global__ void fill_kernel(int64_t n_words, bool pairs, uint32_t *words)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n_words;
         i += (int64_t)gridDim.x * blockDim.x) {
        /* random bits: the mixing function of MurmurHash3 */
        uint32_t w = (uint32_t)i * 2654435761u;
        w ^= w >> 16, w *= 0x85EBCA6Bu, w ^= w >> 13, w *= 0xC2B2AE35u, w ^= w >> 16;
        words[i] = pairs ? (w & 0x807F807Fu) | 0x3F803F80u : (w & 0x807FFFFFu) | 0x3F800000u;
    }
}

/* Seconds per call of work(memory), from the fastest series of IN_A_ROW calls; 0: failed. A call
 * before the first event keeps the GPU busy while the host queues the others. */
static double best_time(void (*work)(lra_type t, char *memory), lra_type t, char *memory)
{
    cudaEvent_t start = NULL, end = NULL;
    float ms = 0, best = 0;
    cudaError_t rc = cudaEventCreate(&start);
    if (rc == cudaSuccess) rc = cudaEventCreate(&end);
    for (int i = 0; i < TIMES && rc == cudaSuccess; i++) {
        work(t, memory);
        cudaEventRecord(start, lra_cuda->work);
        for (int k = 0; k < IN_A_ROW; k++) work(t, memory);
        cudaEventRecord(end, lra_cuda->work);
        rc = cudaEventSynchronize(end);
        if (rc == cudaSuccess) rc = cudaEventElapsedTime(&ms, start, end);
        if (rc == cudaSuccess && (best == 0 || ms < best)) best = ms;
    }
    if (start) cudaEventDestroy(start);
    if (end) cudaEventDestroy(end);
    return rc == cudaSuccess ? 1e-3 * (double)best / IN_A_ROW : 0;
}

static double measure(void (*work)(lra_type t, char *memory), lra_type t, size_t n_bytes,
                      double amount)
{
    char *memory = NULL;
    double seconds = 0;
    if (cudaMalloc((void **)&memory, n_bytes) == cudaSuccess) {
        LRA_LAUNCH(fill_kernel, 1024, LRA_BLOCK, 0, lra_cuda->work, (int64_t)(n_bytes / 4),
                   t == LRA_BF16, (uint32_t *)memory);
        seconds = best_time(work, t, memory);
    }
    cudaFree(memory);
    /* clears the error: out of memory in a measurement must not fail later calls */
    cudaGetLastError();
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
