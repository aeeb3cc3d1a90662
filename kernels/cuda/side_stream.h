/* Maximum number of side-stream calls in flight on a GPU (kernels/graph/streams.c):
 * LRA_CUDA_SIDE_STREAM. */
#ifndef LRA_CUDA_SIDE_STREAM_H
#define LRA_CUDA_SIDE_STREAM_H

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LRA_CUDA_SIDE_STREAM_MOST = 64 };
/* Parses 0 to LRA_CUDA_SIDE_STREAM_MOST; 0: one stream only.  NULL and "": the default. */
int lra_cuda_side_stream_parse(const char *text, int *out, lra_err *e);

#ifdef __cplusplus
}
#endif
#endif
