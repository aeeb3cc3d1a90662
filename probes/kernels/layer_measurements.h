/* Measurements of the kernels of one layer: statistics over its channels, and curves. */
#ifndef LRA_PROBES_KERNELS_LAYER_MEASUREMENTS_H
#define LRA_PROBES_KERNELS_LAYER_MEASUREMENTS_H

#include "probes/kernels/extract.h"
#include "reports/results/probe_result.h"

/* Adds a unit: each number of kernel_shape.h as the median over channels, with :q1 :q3 :min :max;
 * kernel.cut and mode.tau of state spaces; kernel.erank; decay.exp .power .falls, shares of
 * channels; shift.w1, shift.js; shift.peak; null values of the uniform baseline and of the initial
 * kernels.
 *   shift.peak = argmax over 1 <= d <= T/2 with M(d) >= max M / 10 of M(d) / M0(d)
 * M: mean over channels of the channel's share at lag d, after training; M0: at initialisation
 * (lra_peak()).  It is of one layer: a distance that several narrow layers cover together is no lag
 * of any of them, so that the peak of each lies below it.
 * columns: of the image; 0: none. */
void lra_layer_measure(const lra_extracted_kernels *k, int64_t columns, lra_probe_result *to);

#endif
