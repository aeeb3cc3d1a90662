/* lra-probe: its commands are in probes.def. */
#include <stdio.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>
#include <jansson.h>
#include <xxhash.h>

#include "kernels/base/h5.h"
#include "kernels/base/mem.h"
#include "kernels/base/version.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/start_guard.h"
#include "kernels/cuda/device.h"
#include "probes/probe.h"

static int version(lra_err *e)
{
    if (lra_cpu_init(e) != 0) return LRA_FAILED;
    char *libraries = lra_format("HDF5 %s, GSL %s, %s, jansson %s, xxHash %d.%d.%d; %s",
                                 lra_h5_version(), gsl_version, lra_gemm_library(), JANSSON_VERSION,
                                 XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE,
                                 lra_cuda_built());
    char *level = lra_format("%s (%s)", lra_cpu_best(), lra_cpu_name());
    lra_version_print(stdout, "lra-probe", libraries, level);
    lra_free(libraries);
    lra_free(level);
    return 0;
}

int main(int argc, char **argv)
{
    lra_start_guard_end();
    gsl_set_error_handler_off();
    return lra_program_main(&lra_probe_program, version, argc, argv);
}
