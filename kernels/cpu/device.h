/* The CPU as a device: the default wherever there is no usable GPU, and the reference in tests. */
#ifndef LRA_CPU_DEVICE_H
#define LRA_CPU_DEVICE_H

#include "kernels/graph/backend.h"

/* Fills out, which needs no closing.  n_threads: the most threads a plan may use, at most the
 * processors this process may run on; 0: all of them.  Fails when LRA_CPU is wrong. */
int lra_cpu_device(lra_device *out, int n_threads, lra_err *e);

#endif
