/* GPUs as devices. In a build without CUDA, lra_cuda_device() fails with a message. */
#ifndef LRA_CUDA_DEVICE_H
#define LRA_CUDA_DEVICE_H

#include "kernels/graph/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA release and architectures of the build, such as "CUDA 13.0 (80-real 90a-real 90-virtual)" or
 * "no CUDA". */
const char *lra_cuda_built(void);
bool lra_cuda_is_built(void);
/* Number of GPUs visible to this process.  0 with the reason in e: no driver, driver too old, no
 * GPU, not built. */
int lra_cuda_count(lra_err *e);
/* Writes a description of GPU `index` to buf, such as "NVIDIA H200, compute capability 9.0, 139.1
 * of 139.8 GiB free". Returns -1 if the query fails. */
int lra_cuda_describe(int index, char *buf, size_t size, lra_err *e);
/* Lists the libraries that kernels need, each with its file or "not found": "cuBLASLt 13
 * /usr/local/cuda/lib64/libcublasLt.so.13, cuFFT 12 not found". To be freed with lra_free(). */
char *lra_cuda_libraries(void);
/* Opens GPU `index`; it stays open until the process ends, and a second call returns the same
 * device.  A process uses one GPU. */
int lra_cuda_device(lra_device *out, int index, lra_err *e);
/* Measures the memory bandwidth of the open GPU: bytes read and written per second by a large
 * copy. */
double lra_cuda_copy_rate(const lra_device *d);

#ifdef __cplusplus
}
#endif
#endif
