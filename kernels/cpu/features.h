/* What the processor can do: CPUID bits and the register state that the system saves (XCR0), never a
 * model number, which virtual machines hide. */
#ifndef LRA_CPU_FEATURES_H
#define LRA_CPU_FEATURES_H

#include "kernels/base/err.h"

/* Reads the processor once; LRA_CPU=portable|avx2|avx512 in the environment lowers the level.  Fails
 * when LRA_CPU names no level, or one above the machine's. */
int lra_cpu_init(lra_err *e);
/* LRA_LEVEL_*; LRA_LEVEL_PORTABLE before lra_cpu_init(). */
int lra_cpu_level(void);
const char *lra_cpu_level_name(int level); /* "portable", "avx2", "avx512" */
/* The processor's own name ("AMD EPYC 9354"), or the architecture where it has none. */
const char *lra_cpu_name(void);

#endif
