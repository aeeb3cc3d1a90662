/* Measures how exactly attention heads realise the kernels of a layer
 * (analysis/realised_kernel.h). */
#ifndef LRA_PROBES_KERNELS_REALISED_H
#define LRA_PROBES_KERNELS_REALISED_H

#include "probes/kernels/extract.h"

enum { LRA_REALISED_MEASUREMENTS = 32 };
/* Writes theorem.one, theorem.two and theorem.negative over at most 16 evenly spaced channels as by
 * lra_over_channels(), and theorem.distance.D: the largest error of one head over channels at
 * distances D to 2D - 1. Returns their number; 0 if taps are vectors (dense convolutions). */
int lra_realised_measure(const lra_extracted_kernels *k, int state, lra_measurement *out);

#endif
