/* Resources of the machine and the share available to this process. */
#ifndef LRA_BASE_OS_MACHINE_H
#define LRA_BASE_OS_MACHINE_H

#include <stdbool.h>

#include "kernels/base/core/err.h"

int lra_cpu_count(void); /* processors this process may use */
/* That n threads can be alive at once, tried; OpenMP ends the process where they cannot. */
int lra_threads_ready(int n, lra_err *e);
/* Bytes that this process can still allocate: the free memory of the machine, limited by its
 * control groups and its address space; 0: unknown. */
double lra_memory_free(void);
/* The part of `free` that is available within the control groups named in `groups` (the text of
 * /proc/self/cgroup) and all groups above them: limit - (used - file cache), versions 1 and 2; root
 * is where they are mounted. */
double lra_memory_within(double free, const char *root, const char *groups);
double lra_memory_peak(void); /* bytes, peak resident size of this process */

#endif
