/* Processor features: CPUID bits and the register state that the system saves (XCR0), never a model
 * number, which virtual machines hide. */
#ifndef LRA_CPU_FEATURES_H
#define LRA_CPU_FEATURES_H

#include "kernels/base/core/err.h"

/* How bf16 products are computed: by unpacking to float32, by the dot-product instruction on
 * registers (AVX512_BF16), by tiles (AMX). */
typedef enum { LRA_BF16_NONE, LRA_BF16_AVX512, LRA_BF16_AMX } lra_bf16_unit;

/* Reads the processor once; LRA_CPU=portable|avx2|avx512|avx512bf16|amx in the environment lowers
 * the level.  Fails when LRA_CPU names no level, or one above the machine's. */
int lra_cpu_init(lra_err *e);
/* LRA_LEVEL_*; LRA_LEVEL_PORTABLE before lra_cpu_init(). */
int lra_cpu_level(void);
const char *lra_cpu_level_name(int level); /* "portable", "avx2", "avx512" */
lra_bf16_unit lra_cpu_bf16(void);
/* The LRA_CPU value of the best usable level: "avx512bf16". */
const char *lra_cpu_best(void);
/* The i-th name that LRA_CPU may have on this machine, rising; NULL after the last. */
const char *lra_cpu_usable(int i);
/* The processor's model name ("AMD EPYC 9354"), or the architecture if it has none. */
const char *lra_cpu_name(void);

#endif
