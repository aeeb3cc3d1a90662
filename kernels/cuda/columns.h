/* Columns of blocks of conv_wgmma_kernel that tests ask for: LRA_CUDA_COLUMNS. */
#ifndef LRA_CUDA_COLUMNS_H
#define LRA_CUDA_COLUMNS_H

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 64 or 128, what `text` says; NULL and "": 0, as the number of blocks asks for. */
int lra_cuda_columns_find(const char *text, int *out, lra_err *e);

#ifdef __cplusplus
}
#endif
#endif
