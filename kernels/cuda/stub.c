/* The CUDA backend of a build without CUDA. */
#include "kernels/cuda/device.h"

#include "kernels/base/core/mem.h"

static int not_built(lra_err *e)
{
    return lra_fail(e,
                    "this build has no CUDA; configure with -DLRA_CUDA=ON where a toolkit 12.4 or "
                    "newer is installed");
}

const char *lra_cuda_built(void)
{
    return "no CUDA";
}

bool lra_cuda_is_built(void)
{
    return false;
}

double lra_cuda_copy_rate(const lra_device *d)
{
    (void)d;
    return 0;
}

int lra_cuda_count(lra_err *e)
{
    not_built(e);
    return 0;
}

int lra_cuda_describe(int index, char *buf, size_t size, lra_err *e)
{
    (void)index, (void)buf, (void)size;
    return not_built(e);
}

char *lra_cuda_libraries(void)
{
    return lra_copy_text("no CUDA");
}

int lra_cuda_device(lra_device *out, int index, lra_err *e)
{
    (void)out, (void)index;
    return not_built(e);
}
