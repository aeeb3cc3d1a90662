/* Writes the decay of every channel of every layer to one CSV file. */
#ifndef LRA_PROBES_KERNELS_CHANNELS_CSV_H
#define LRA_PROBES_KERNELS_CHANNELS_CSV_H

#include "reports/results/probe_result.h"

/* One line per channel: run, task, model, seed, layer, channel (from 0), then kind (none,
 * exponential, power), tau (decay time in tokens; inf: does not decay) and beta (exponent), first
 * of the trained kernel, then of the initial one. Fields without a value are empty. */
int lra_channels_csv(const char *path, int n, lra_probe_result *const *list, lra_err *e);

#endif
