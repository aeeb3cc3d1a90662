/* Instruction level of the convolution and attention kernels. LRA_CUDA_LEVEL=plain|mma|wgmma
 * selects it, so that tests can compare the levels on one GPU. Their results differ by rounding
 * only. */
#ifndef LRA_CUDA_LEVEL_H
#define LRA_CUDA_LEVEL_H

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    LRA_CUDA_PLAIN, /* kernels without tensor cores */
    LRA_CUDA_MMA,   /* mma.sync: the default */
    LRA_CUDA_WGMMA  /* TMA and wgmma: compute capability 9.0 */
} lra_cuda_level_kind;

/* Instruction level of the open GPU. */
lra_cuda_level_kind lra_cuda_level(void);
/* Parses the name of a level for a GPU of this compute capability (90 = 9.0). NULL and "" give the
 * default. */
int lra_cuda_level_find(const char *text, int capability, lra_cuda_level_kind *out, lra_err *e);

#ifdef __cplusplus
}
#endif
#endif
