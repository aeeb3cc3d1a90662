/* Maximum number of unfinished side-stream calls on a GPU (kernels/graph/streams.c), set by the
 * environment variable LRA_CUDA_SIDE_STREAM. */
#ifndef LRA_CUDA_SIDE_STREAM_H
#define LRA_CUDA_SIDE_STREAM_H

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LRA_CUDA_SIDE_STREAM_MOST = 64 };
/* Parses a number from 0 to LRA_CUDA_SIDE_STREAM_MOST; 0: no side stream. NULL and "" give the
 * default. */
int lra_cuda_side_stream_parse(const char *text, int *out, lra_err *e);

#ifdef __cplusplus
}
#endif
#endif
