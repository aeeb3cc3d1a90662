/* Kernel self-test: runs each level in a child process. */
#include "kernels/cuda/self_test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/process.h"

static char *const *arguments;

const char *lra_cuda_level_name(lra_cuda_level_kind level)
{
    static const char *const names[] = {"plain", "mma", "wgmma"};
    return names[level];
}

void lra_cuda_self_test_by(char *const *argv)
{
    arguments = argv;
}

/* Tests one level. Returns 0, or -1 with an error in e. The child inherits the environment. */
static int try_level(const char *level, double seconds, lra_err *e)
{
    lra_process child = {0};
    int status = 0;
    setenv("LRA_CUDA_LEVEL", level, 1);
    if (lra_process_start(&child, arguments, LRA_SELF | LRA_QUIET_OUT, e) != 0) return LRA_FAILED;
    int ended = lra_process_wait_any(&child, 1, seconds, &status, e);
    if (ended == 1) {
        lra_process_signal(&child, SIGKILL);
        lra_process_wait(&child, e);
        return lra_fail(e, "the self-test of level '%s' does not end within %g s", level, seconds);
    }
    if (ended < 0) return LRA_FAILED;
    return status == 0
               ? 0
               : lra_fail(e, "the self-test of level '%s' fails (exit code %d)", level, status);
}

lra_cuda_level_kind lra_cuda_self_test(int capability, double seconds, char *why, size_t n)
{
    why[0] = 0;
    if (!arguments || capability != 90) return LRA_CUDA_MMA;
    int level = LRA_CUDA_WGMMA;
    for (; level > LRA_CUDA_PLAIN; level--) {
        lra_err e = {{0}};
        if (try_level(lra_cuda_level_name((lra_cuda_level_kind)level), seconds, &e) == 0) break;
        size_t at = strlen(why);
        snprintf(why + at, n - at, "%s%s", at ? "; " : "", e.msg);
    }
    setenv("LRA_CUDA_LEVEL", lra_cuda_level_name((lra_cuda_level_kind)level),
           1); /* child processes use this level without a self-test */
    return (lra_cuda_level_kind)level;
}
