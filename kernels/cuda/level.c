/* The environment variable LRA_CUDA_LEVEL. */
#include "kernels/cuda/level.h"

#include <string.h>

int lra_cuda_level_find(const char *text, int capability, lra_cuda_level_kind *out, lra_err *e)
{
    static const char *const names[] = {"plain", "mma", "wgmma"};
    int i = 0;
    *out = LRA_CUDA_MMA;
    if (!text || !text[0]) return 0;
    while (i < 3 && strcmp(text, names[i]) != 0) i++;
    if (i == 3) return lra_fail(e, "LRA_CUDA_LEVEL is '%s', expected plain, mma or wgmma", text);
    if (i == LRA_CUDA_WGMMA && capability != 90)
        return lra_fail(e,
                        "LRA_CUDA_LEVEL=wgmma needs compute capability 9.0, found %d.%d; 'mma' "
                        "runs there",
                        capability / 10, capability % 10);
    *out = (lra_cuda_level_kind)i;
    return 0;
}
