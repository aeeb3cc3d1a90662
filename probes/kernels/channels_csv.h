/* Decay of every channel of every layer as one CSV file. */
#ifndef LRA_PROBES_KERNELS_CHANNELS_CSV_H
#define LRA_PROBES_KERNELS_CHANNELS_CSV_H

#include "reports/results/probe_result.h"

/* One row for each channel: run, task, model, seed, layer, channel (from 0), then kind (none,
 * exponential, power), tau (tokens; inf: does not decay) and beta of the trained and of the initial
 * kernel; empty if a channel has none. */
int lra_channels_csv(const char *path, int n, lra_probe_result *const *list, lra_err *e);

#endif
