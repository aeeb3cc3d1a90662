/* Main program of lra-probe; its commands are listed in probes.def. */
#include <stdio.h>

#include <jansson.h>
#include <omp.h>
#include <xxhash.h>

#include "kernels/base/core/gsl.h"
#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/version.h"
#include "kernels/cpu/features.h"
#include "kernels/cuda/self_test.h"
#include "probes/probe.h"
#include "probes/run/origin.h"

static int version(lra_err *e)
{
    if (lra_cpu_init(e) != 0) return LRA_FAILED;
    char *main_ones = lra_probe_libraries();
    char *libraries = lra_format("%s, jansson %s, xxHash %d.%d.%d", main_ones, JANSSON_VERSION,
                                 XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE);
    char *level = lra_format("%s (%s)", lra_cpu_best(), lra_cpu_name());
    lra_version_print(stdout, "lra-probe", libraries, level);
    lra_free(main_ones);
    lra_free(libraries);
    lra_free(level);
    return 0;
}

int main(int argc, char **argv)
{
    lra_err e = {0};
    if (lra_threads_ready(omp_get_max_threads(), &e) != 0) {
        fprintf(stderr, "lra-probe: %s\n", e.msg);
        return 1;
    }
    lra_gsl_start();
    /* command with which a GPU's kernels are tested before they are used */
    static char name[] = "lra-probe", kind[] = "bench", what[] = "levels", on[] = "--device=cuda",
                type[] = "--precision=bf16", quiet[] = "--quiet";
    static char *const trial[] = {name, kind, what, on, type, quiet, NULL};
    lra_cuda_self_test_by(trial);
    return lra_program_main(&lra_probe_program, version, argc, argv);
}
