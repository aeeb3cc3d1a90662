/* The environment variable LRA_CUDA_COLUMNS. */
#include "kernels/cuda/columns.h"

#include <string.h>

int lra_cuda_columns_find(const char *text, int *out, lra_err *e)
{
    *out = 0;
    if (!text || !text[0]) return 0;
    if (strcmp(text, "64") != 0 && strcmp(text, "128") != 0)
        return lra_fail(e, "LRA_CUDA_COLUMNS is '%s', expected 64 or 128", text);
    *out = text[0] == '6' ? 64 : 128;
    return 0;
}
