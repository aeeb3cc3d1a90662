/* Measurements of the kernels of one layer: statistics over its channels, and curves. */
#ifndef LRA_PROBES_KERNELS_LAYER_MEASUREMENTS_H
#define LRA_PROBES_KERNELS_LAYER_MEASUREMENTS_H

#include "probes/kernels/extract.h"
#include "reports/results/probe_result.h"

/* Adds a unit: each number of kernel_shape.h as the median over channels, with :q1 :q3 :min :max;
 * kernel.cut and mode.tau of state spaces; kernel.erank; decay.exp .power .falls, shares of
 * channels; shift.w1, shift.js; shift.peak, the distance (of the shorter 50 % of all distances)
 * whose mean mass grew most; null values of the uniform baseline and of the initial kernels.
 * columns: of the image; 0: none. */
void lra_layer_measure(const lra_extracted_kernels *k, int64_t columns, lra_probe_result *to);

#endif
