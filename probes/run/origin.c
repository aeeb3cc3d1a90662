/* Records the origin of this program's results (origin.h). */
#include "probes/run/origin.h"

#include "kernels/base/core/gsl.h"
#include "kernels/base/core/mem.h"
#include "kernels/cpu/features.h"
#include "kernels/cuda/device.h"

char *lra_probe_libraries(void)
{
    return lra_format("HDF5 %s, %s, %s", lra_h5_version(), lra_gsl_library(), lra_cuda_built());
}

void lra_probe_origin(const lra_device *d, lra_origin *o)
{
    *o = (lra_origin){.device = lra_copy_text(d->name),
                      .device_name = lra_copy_text(d->detail ? d->detail : lra_cpu_name()),
                      .level = lra_copy_text(lra_cpu_best()),
                      .threads = d->backend->threads(d),
                      .libraries = lra_probe_libraries()};
    lra_origin_here(o, "lra-probe");
}
