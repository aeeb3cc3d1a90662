/* Messages for GPUs that cannot be used: no CUDA type here, so that tests without a GPU can call
 * them.  All return -1 with one line in e. */
#ifndef LRA_CUDA_MESSAGES_H
#define LRA_CUDA_MESSAGES_H

#include <stdbool.h>

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { LRA_NO_DRIVER, LRA_OLD_DRIVER, LRA_NO_GPU, LRA_BAD_DRIVER } lra_cuda_trouble;

/* There is no GPU at all.  found, built: CUDA releases as the driver and the toolkit count them,
 * 12040 for 12.4; reason: of LRA_BAD_DRIVER. */
int lra_cuda_say_none(lra_err *e, lra_cuda_trouble why, int found, int built, const char *reason);
/* GPU `index` was requested, n are visible. */
int lra_cuda_say_index(lra_err *e, int index, int n);
/* A GPU that is too old; capability 75: 7.5. */
int lra_cuda_say_capability(lra_err *e, const char *device, const char *model, int capability);
/* `what` needs more bytes than are free. */
int lra_cuda_say_memory(lra_err *e, const char *what, double needed, const char *device,
                        double left);
/* A library is missing, or, with `bad`, this file was found and does not load because of `reason`.
 * places: the places searched.  Nullable: bad, reason */
int lra_cuda_say_library(lra_err *e, const char *name, const char *bad, const char *reason,
                         const char *places);
/* A call failed; lost: nothing on this GPU works until the process ends. */
int lra_cuda_say_failed(lra_err *e, const char *what, const char *device, const char *reason,
                        bool lost);

#ifdef __cplusplus
}
#endif
#endif
