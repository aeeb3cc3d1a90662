/* Messages for GPUs that cannot be used. */
#include "kernels/cuda/messages.h"

#include "kernels/base/core/mem.h"

int lra_cuda_fail_none(lra_err *e, lra_cuda_trouble why, int found, int built, const char *reason)
{
    switch (why) {
    case LRA_NO_DRIVER: return lra_fail(e, "there is no NVIDIA driver");
    case LRA_OLD_DRIVER: /* a driver supports every CUDA release with the same major number */
        return lra_fail(
            e, "the NVIDIA driver is too old: it supports CUDA %d.%d, expected %d.0 or newer",
            found / 1000, found % 1000 / 10, built / 1000);
    case LRA_NO_GPU:
        return lra_fail(
            e,
            "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES hides the GPUs that it does not "
            "list)");
    default: return lra_fail(e, "the NVIDIA driver cannot be used: %s", reason);
    }
}

int lra_cuda_fail_index(lra_err *e, int index, int n)
{
    if (n == 1)
        return lra_fail(e, "there is no 'cuda:%d', this process sees one GPU: 'cuda:0'", index);
    return lra_fail(e, "there is no 'cuda:%d', this process sees %d GPUs: 'cuda:0' to 'cuda:%d'",
                    index, n, n - 1);
}

int lra_cuda_fail_capability(lra_err *e, const char *device, const char *model, int capability)
{
    return lra_fail(e, "'%s' (%s) has compute capability %d.%d, expected 8.0 or newer", device,
                    model, capability / 10, capability % 10);
}

int lra_cuda_fail_memory(lra_err *e, const char *what, double needed, const char *device,
                         double left)
{
    char a[32], b[32];
    return lra_fail(e, "'%s' needs %s on '%s', %s free; a smaller batch needs less", what,
                    lra_size_text(a, needed), device, lra_size_text(b, left));
}

int lra_cuda_fail_library(lra_err *e, const char *name, const char *bad, const char *reason,
                          const char *places)
{
    if (bad) return lra_fail(e, "'%s' cannot be loaded: %s", bad, reason ? reason : "unknown");
    return lra_fail(e, "'%s' was not found; searched: %s", name, places);
}

int lra_cuda_fail_call(lra_err *e, const char *what, const char *device, const char *reason,
                       bool lost)
{
    if (lost)
        return lra_fail(e,
                        "%s: the GPU '%s' was lost: %s; checkpoints are intact, start the same "
                        "command again",
                        what, device, reason);
    return lra_fail(e, "%s on '%s': %s", what, device, reason);
}
