/* The environment variable LRA_CUDA_SIDE_STREAM. */
#include "kernels/cuda/side_stream.h"

#include <stdlib.h>

/* Default number of unfinished side-stream calls. NOTES.md lists the memory that they cost. */
enum { DEFAULT = 4 };

int lra_cuda_side_stream_parse(const char *text, int *out, lra_err *e)
{
    char *end;
    *out = DEFAULT;
    if (!text || !text[0]) return 0;
    long n = strtol(text, &end, 10);
    if (*end || n < 0 || n > LRA_CUDA_SIDE_STREAM_MOST)
        return lra_fail(e, "LRA_CUDA_SIDE_STREAM is '%s', expected 0 to %d", text,
                        (int)LRA_CUDA_SIDE_STREAM_MOST);
    *out = (int)n;
    return 0;
}
