/* Measured peak rates of this processor, the reference of benchmarks (roofline). */
#ifndef LRA_CPU_PEAK_H
#define LRA_CPU_PEAK_H

#include <stdbool.h>

typedef struct {
    double f32; /* FLOP/s of independent float32 multiply-adds in registers, all threads */
    /* FLOP/s of bf16 products with float32 sums; 0: the processor has no such instruction */
    double bf16;
    /* memory bandwidth: bytes/s read plus written by a copy that is far larger than the caches */
    double dram;
    double cache; /* cache bandwidth: bytes/s of the same copy within 4 MiB per thread */
} lra_peaks;

/* Peak FLOP/s of bf16 products if `bf16` is set and the processor has an instruction for them, else
 * of float32 multiply-adds. Takes about ten milliseconds. */
double lra_cpu_peak(bool bf16, int n_threads);

/* Measures all rates, at the level of lra_cpu_level(); the best of several short runs of each.
 * Takes about two seconds. */
lra_peaks lra_cpu_peaks(int n_threads);

#endif
