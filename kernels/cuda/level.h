/* Instruction level of the convolution and attention kernels: LRA_CUDA_LEVEL=plain|mma|wgmma, so
 * that tests compare the levels on one GPU.  All other results differ by rounding only. */
#ifndef LRA_CUDA_LEVEL_H
#define LRA_CUDA_LEVEL_H

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    LRA_CUDA_PLAIN, /* no tensor cores in our kernels */
    LRA_CUDA_MMA,   /* mma.sync: the default */
    LRA_CUDA_WGMMA  /* TMA and wgmma: compute capability 9.0 */
} lra_cuda_level_kind;

/* Of the open GPU. */
lra_cuda_level_kind lra_cuda_level(void);
/* Parses a level name for a GPU of this capability (90: 9.0); NULL and "": the default. */
int lra_cuda_level_find(const char *text, int capability, lra_cuda_level_kind *out, lra_err *e);

#ifdef __cplusplus
}
#endif
#endif
