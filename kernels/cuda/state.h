/* The open GPU, which the files of kernels/cuda share. */
#ifndef LRA_CUDA_STATE_H
#define LRA_CUDA_STATE_H

#include <cuda_runtime.h>

#include "kernels/cuda/level.h"
#include "kernels/graph/backend.h"

/* Input slots: two batches of at most four inputs are on their way at a time. */
enum { LRA_CUDA_SLOTS = 8 };

/* Host data go through pinned memory and a staging buffer on the device, both on the loader's stream; a
 * copy on the stream of the work then moves them to where the plan wants them. */
typedef struct {
    void *host, *staging;
    size_t size;
    cudaEvent_t filled, moved;
} lra_cuda_slot;

typedef struct {
    int index, capability; /* 90: compute capability 9.0 */
    lra_cuda_level_kind level;
    char name[16], detail[160];
    cudaStream_t work, loader;
    lra_cuda_slot slot[LRA_CUDA_SLOTS];
    int next;
    lra_err fault; /* of a library call inside a body; empty: none */
} lra_cuda_state;

/* NULL: none is open. */
extern lra_cuda_state *lra_cuda;

/* Fills e, naming the GPU, when what failed; 0 when nothing did. */
int lra_cuda_check(cudaError_t rc, const char *what, lra_err *e);
/* The part of the backend that runs plans: capture.cu. */
int lra_cuda_run(lra_device *d, const lra_call *calls, int n, lra_err *e);
int lra_cuda_run_timed(lra_device *d, const lra_call *calls, int n, double *seconds, lra_err *e);
void *lra_cuda_capture(lra_device *d, const lra_call *calls, int n, lra_err *e);
int lra_cuda_replay(lra_device *d, void *captured, lra_err *e);
void lra_cuda_forget(lra_device *d, void *captured);
int lra_cuda_wait(lra_device *d, lra_err *e);
/* The library "lib<stem>.so.<major>" and a function of it; NULL and e: it is not there. */
void *lra_cuda_library(const char *stem, int major, lra_err *e);
void *lra_cuda_symbol(void *library, const char *name, lra_err *e);
/* cuBLASLt, with its workspace: gemm.cu. */
int lra_cuda_gemm_open(lra_err *e);
/* FLOP/s of a large product: ceiling.cu. */
double lra_cuda_peak(const lra_device *d, lra_type type, int n_threads);

#endif
