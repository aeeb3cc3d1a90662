/* Opens the device of --device and resolves --precision (device.h). */
#include "probes/run/device.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "kernels/cpu/features.h"
#include "kernels/cuda/device.h"

/* Opens the GPU if the build supports CUDA and a GPU exists, else the CPU. */
static int open_best(int n_threads, lra_device *out, lra_err *no_gpu, lra_err *e)
{
    if (!lra_cuda_is_built()) return lra_cpu_device(out, n_threads, e);
    if (lra_cuda_count(no_gpu) > 0 && lra_cuda_device(out, 0, no_gpu) == 0) return 0;
    return lra_cpu_device(out, n_threads, e);
}

int lra_job_device(const char *requested, int n_threads, lra_device *out, lra_err *no_gpu,
                   lra_err *e)
{
    no_gpu->msg[0] = 0;
    if (strcmp(requested, "auto") == 0) return open_best(n_threads, out, no_gpu, e);
    if (strcmp(requested, "cpu") == 0) return lra_cpu_device(out, n_threads, e);
    bool any = strcmp(requested, "cuda") == 0;
    char *end = NULL;
    long index = any || strncmp(requested, "cuda:", 5) != 0 ? 0 : strtol(requested + 5, &end, 10);
    bool numbered = end && end > requested + 5 && *end == 0 && index >= 0 && index < 1024;
    if (!any && !numbered)
        return lra_fail_usage(e, "unknown device '%s'; expected auto, cpu, cuda or cuda:N",
                              requested);
    if (lra_cuda_device(out, (int)index, e) == 0) return 0;
    return lra_fail_in(e, "device '%s'", requested);
}

const char *lra_job_precision(const char *requested, const lra_device *d)
{
    if (strcmp(requested, "auto") != 0) return requested;
    bool on_gpu = d && strcmp(d->backend->name, "cuda") == 0;
    return on_gpu || lra_cpu_bf16() != LRA_BF16_NONE ? "bf16" : "f32";
}
