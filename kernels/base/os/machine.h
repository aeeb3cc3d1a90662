/* Resources of the machine, and the share of them that this process may use. */
#ifndef LRA_BASE_OS_MACHINE_H
#define LRA_BASE_OS_MACHINE_H

#include <stdbool.h>

#include "kernels/base/core/err.h"

int lra_cpu_count(void); /* number of processors that this process may use */
/* Tests whether n threads can exist at once. OpenMP would end the process if they cannot. */
int lra_threads_ready(int n, lra_err *e);
/* Bytes that this process can still allocate: the free memory of the machine, limited by its
 * control groups and its address space; 0: unknown. */
double lra_memory_free(void);
/* Memory, at most `free`, that is available within the control groups listed in `groups` (the text
 * of /proc/self/cgroup) and all their parents: limit - (used - file cache). Supports versions 1 and
 * 2. root: folder where the control groups are mounted. */
double lra_memory_within(double free, const char *root, const char *groups);
double lra_memory_peak(void); /* peak resident size of this process, in bytes */

#endif
