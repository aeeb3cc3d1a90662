/* Device and precision of a command. */
#ifndef LRA_PROBES_RUN_DEVICE_H
#define LRA_PROBES_RUN_DEVICE_H

#include "kernels/graph/backend.h"

/* Opens the device that --device names: auto, cpu, cuda, cuda:N. no_gpu: in a build with CUDA, the
 * reason why auto selects the CPU, else empty. */
int lra_job_device(const char *requested, int n_threads, lra_device *out, lra_err *no_gpu,
                   lra_err *e);
/* Returns the value of --precision for this device; resolves "auto". */
const char *lra_job_precision(const char *requested, const lra_device *d);

#endif
