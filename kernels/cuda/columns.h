/* Columns per block of conv_wgmma_kernel. Tests set them with the environment variable
 * LRA_CUDA_COLUMNS. */
#ifndef LRA_CUDA_COLUMNS_H
#define LRA_CUDA_COLUMNS_H

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parses "64" or "128". NULL and "" give 0: the kernel chooses by the number of blocks. */
int lra_cuda_columns_find(const char *text, int *out, lra_err *e);

#ifdef __cplusplus
}
#endif
#endif
