/* LRA_CUDA_BESIDE. */
#include "kernels/cuda/side_stream.h"

#include <stdlib.h>

/* NOTES.md counts the memory that it costs. */
enum { DEFAULT = 4 };

int lra_cuda_beside_find(const char *text, int *out, lra_err *e)
{
    char *end;
    *out = DEFAULT;
    if (!text || !text[0]) return 0;
    long n = strtol(text, &end, 10);
    if (*end || n < 0 || n > LRA_CUDA_BESIDE_MOST)
        return lra_fail(e, "LRA_CUDA_BESIDE is '%s', expected 0 to %d", text,
                        (int)LRA_CUDA_BESIDE_MOST);
    *out = (int)n;
    return 0;
}
