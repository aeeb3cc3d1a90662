/* State of the open GPU, shared by the files of kernels/cuda. */
#ifndef LRA_CUDA_STATE_H
#define LRA_CUDA_STATE_H

#include <cuda_runtime.h>

#include "kernels/cuda/side_stream.h"
#include "kernels/cuda/columns.h"
#include "kernels/cuda/level.h"
#include "kernels/cuda/staging.h"
#include "kernels/graph/backend.h"

/* Number of input slots: the inputs of one step are gathered while those of two other steps are
 * transferred. */
enum { LRA_CUDA_SLOTS = 3 };
typedef struct {
    /* host: pinned memory; staging: on the device. NULL until the slot is used */
    void *host, *staging;
    lra_staging in;
    cudaEvent_t filled, moved;
} lra_cuda_slot;

typedef struct {
    int index, capability; /* capability: compute capability, 90 = 9.0 */
    lra_cuda_level_kind level;
    char name[24], detail[320];
    cudaStream_t work, loader, side;
    cudaEvent_t forked, done[LRA_CUDA_SIDE_STREAM_MOST];
    int columns; /* columns per block of the convolution; 0: not set */
    int depth;   /* maximum number of unfinished side-stream calls; 0: no side stream */
    lra_cuda_slot slot[LRA_CUDA_SLOTS];
    int next;
    lra_err fault; /* error of a library call inside a body; empty: none */
} lra_cuda_state;

/* The open GPU. NULL: none is open. */
extern lra_cuda_state *lra_cuda;

/* Fails with a message that names the GPU and `what` if rc is an error; returns 0 otherwise. */
int lra_cuda_check(cudaError_t rc, const char *what, lra_err *e);
/* Sends the gathered inputs; must be called before any other work is queued. */
int lra_cuda_send(lra_err *e);
/* Backend functions for data: copies.cu. */
int lra_cuda_copy(lra_device *d, lra_copy_kind kind, void *to, const void *from, size_t n_bytes,
                  lra_err *e);
int lra_cuda_clear(lra_device *d, void *p, int byte, size_t n_bytes, lra_err *e);
void *lra_cuda_readback_new(lra_device *d, size_t n_bytes, lra_err *e);
void lra_cuda_readback_free(lra_device *d, void *place);
int lra_cuda_readback_copy(lra_device *d, void *place, int n, const lra_readback_part *part,
                           lra_err *e);
const void *lra_cuda_readback_wait(lra_device *d, void *place, lra_err *e);
/* Backend functions that run plans: capture.cu. */
int lra_cuda_run(lra_device *d, const lra_call *calls, int n, lra_err *e);
int lra_cuda_run_timed(lra_device *d, const lra_call *calls, int n, double *seconds, lra_err *e);
void *lra_cuda_capture(lra_device *d, const lra_call *calls, const lra_stream_use *streams, int n,
                       lra_err *e);
int lra_cuda_replay(lra_device *d, void *captured, lra_err *e);
void lra_cuda_forget(lra_device *d, void *captured);
int lra_cuda_wait(lra_device *d, lra_err *e);
/* lra_cuda_library(): loads "lib<stem>.so.<major>". lra_cuda_symbol(): finds a function in it. NULL
 * with an error in e: missing. */
void *lra_cuda_library(const char *stem, int major, lra_err *e);
void *lra_cuda_symbol(void *library, const char *name, lra_err *e);
/* Loads cuBLASLt and allocates its workspace: gemm.cu. */
int lra_cuda_gemm_open(lra_err *e);
/* Measures the peak FLOP/s of a large product: peak.cu. */
double lra_cuda_peak(const lra_device *d, lra_type type, int n_threads);

#endif
