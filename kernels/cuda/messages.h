/* Error messages for GPUs that cannot be used. This file uses no CUDA types, so that tests without
 * a GPU can call it. All functions return -1 with one line in e. */
#ifndef LRA_CUDA_MESSAGES_H
#define LRA_CUDA_MESSAGES_H

#include <stdbool.h>

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { LRA_NO_DRIVER, LRA_OLD_DRIVER, LRA_NO_GPU, LRA_BAD_DRIVER } lra_cuda_trouble;

/* No GPU is usable. found, built: CUDA releases of the driver and of the toolkit in CUDA's
 * notation, 12040 for 12.4; reason: cause of LRA_BAD_DRIVER. */
int lra_cuda_fail_none(lra_err *e, lra_cuda_trouble why, int found, int built, const char *reason);
/* GPU `index` was requested, but only n GPUs are visible. */
int lra_cuda_fail_index(lra_err *e, int index, int n);
/* The GPU is too old; capability: compute capability, 75 = 7.5. */
int lra_cuda_fail_capability(lra_err *e, const char *device, const char *model, int capability);
/* `what` needs more bytes than are free on the device. */
int lra_cuda_fail_memory(lra_err *e, const char *what, double needed, const char *device,
                         double left);
/* A library is missing or, if `bad` is set, this file was found but does not load because of
 * `reason`. places: the places searched. Nullable: bad, reason */
int lra_cuda_fail_library(lra_err *e, const char *name, const char *bad, const char *reason,
                          const char *places);
/* A CUDA call failed. lost: nothing on this GPU works until the process ends. */
int lra_cuda_fail_call(lra_err *e, const char *what, const char *device, const char *reason,
                       bool lost);

#ifdef __cplusplus
}
#endif
#endif
