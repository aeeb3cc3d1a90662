/* The CPU as a device: the default if there is no usable GPU, and the reference in tests. */
#ifndef LRA_CPU_DEVICE_H
#define LRA_CPU_DEVICE_H

#include "kernels/graph/backend.h"

/* Initialises `out`, which needs no release. n_threads: maximum number of threads of a plan, at
 * most the processors available to this process; 0: all of them. Fails if LRA_CPU is invalid. */
int lra_cpu_device(lra_device *out, int n_threads, lra_err *e);

#endif
