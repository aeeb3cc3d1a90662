/* Measures the kernels of one layer: statistics over its channels, and curves. */
#ifndef LRA_PROBES_KERNELS_LAYER_MEASUREMENTS_H
#define LRA_PROBES_KERNELS_LAYER_MEASUREMENTS_H

#include "probes/kernels/extract.h"
#include "reports/results/probe_result.h"

/* Adds a unit with: each measurement of kernel_shape.h as the median over channels, with :q1 :q3
 * :min :max; kernel.cut and mode.tau for state spaces; kernel.erank; decay.exp .power .falls,
 * shares of channels; theorem.* (realised.h); shift.w1, shift.js; shift.peak. Null values are the
 * uniform baseline and the initial kernels.
 *   shift.peak = argmax over 1 <= d <= T/2 with M(d) >= max M / 10 of M(d) / M0(d)
 * M, M0: mean over channels of the channel's share at lag d, after training and at initialisation
 * (lra_peak()). The peak describes one layer: if several narrow layers cover a distance together,
 * no layer has a kernel value at that distance, and the peak of each layer is smaller.
 * columns: number of image columns, 0 if inputs are not images. If the initial kernels are unknown
 * (k->k[LRA_FOUND_INITIAL] is NULL), null values and shifts are left out. */
void lra_layer_measure(const lra_extracted_kernels *k, int64_t columns, lra_probe_result *to);
/* Adds the unit "model": means over layers of the layers' medians, for tables with one row per
 * model. A mean is infinite if a layer's value is infinite. */
void lra_layers_add_model(lra_probe_result *r);

#endif
