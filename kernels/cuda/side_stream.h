/* How many calls beside the work may be under way on a GPU (kernels/graph/streams.c):
 * LRA_CUDA_SIDE_STREAM. */
#ifndef LRA_CUDA_SIDE_STREAM_H
#define LRA_CUDA_SIDE_STREAM_H

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LRA_CUDA_SIDE_STREAM_MOST = 64 };
/* What `text` says, 0 to LRA_CUDA_SIDE_STREAM_MOST; 0: there is one stream.  NULL and "": the default. */
int lra_cuda_side_stream_parse(const char *text, int *out, lra_err *e);

#ifdef __cplusplus
}
#endif
#endif
