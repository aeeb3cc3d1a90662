/* Describes a measurement over the channels of a layer. */
#ifndef LRA_PROBES_KERNELS_OVER_CHANNELS_H
#define LRA_PROBES_KERNELS_OVER_CHANNELS_H

#include "analysis/measurement.h"

/* Writes the median over n channels as a measurement, with :q1 :q3 :min :max. as: id and flags.
 * value: NAN for a channel without one. Returns the number of measurements (5). */
int lra_over_channels(const lra_measurement *as, int64_t n, const double *value,
                      lra_measurement *out);

#endif
