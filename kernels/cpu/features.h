/* Processor features: CPUID bits and the register state that the operating system saves (XCR0).
 * Model numbers are not used, because virtual machines hide them. */
#ifndef LRA_CPU_FEATURES_H
#define LRA_CPU_FEATURES_H

#include "kernels/base/core/err.h"

/* How bf16 products are computed: converted to float32; with the dot-product instruction on
 * registers (AVX512_BF16); on tiles (AMX). */
typedef enum { LRA_BF16_NONE, LRA_BF16_AVX512, LRA_BF16_AMX } lra_bf16_unit;

/* Detects the features once. LRA_CPU=portable|avx2|avx512|avx512bf16|amx in the environment lowers
 * the level. Fails if LRA_CPU is not such a level, or one that this machine does not support. */
int lra_cpu_init(lra_err *e);
/* Instruction level, LRA_LEVEL_*; LRA_LEVEL_PORTABLE before lra_cpu_init(). */
int lra_cpu_level(void);
const char *lra_cpu_level_name(int level); /* "portable", "avx2", "avx512" */
lra_bf16_unit lra_cpu_bf16(void);
/* The LRA_CPU value of the best usable level, for example "avx512bf16". */
const char *lra_cpu_best(void);
/* The i-th LRA_CPU value that is usable on this machine, in ascending order. NULL: there are no
 * more. */
const char *lra_cpu_usable(int i);
/* Model name of the processor ("AMD EPYC 9354"), or the architecture if it has none. */
const char *lra_cpu_name(void);

#endif
