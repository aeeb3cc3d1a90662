/* Measured peak rates of this processor, the reference of the benchmark (roofline). */
#ifndef LRA_CPU_PEAK_H
#define LRA_CPU_PEAK_H

#include <stdbool.h>

typedef struct {
    double f32;   /* FLOP/s of independent float32 multiply-adds in registers, all threads */
    double bf16;  /* the same for bf16 products summed in float32; 0: no such instruction */
    double dram;  /* bytes/s read plus written by a copy far larger than the caches */
    double cache; /* the same with 4 MiB a thread */
} lra_peaks;

/* f32, or bf16 if there is an instruction, only; takes about ten milliseconds. */
double lra_cpu_peak(bool bf16, int n_threads);

/* Best of several short runs of each; about two seconds.  At the level of lra_cpu_level(). */
lra_peaks lra_cpu_peaks(int n_threads);

#endif
