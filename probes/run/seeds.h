/* Seeds of a ladder or of a sweep. */
#ifndef LRA_PROBES_RUN_SEEDS_H
#define LRA_PROBES_RUN_SEEDS_H

#include <stdint.h>

#include "kernels/base/core/err.h"

/* Parses seeds: "3" means 0, 1, 2; "0,2,5" or "3-7,9" are lists. Returns their number, at most
 * `most` and all different, or LRA_USAGE. option: its name, for messages. The caller frees
 * *seed. */
int lra_seeds_read(const char *option, const char *text, int most, int64_t **seed, lra_err *e);
/* Writes the seeds 0 .. n-1; returns n. The caller frees *seed. */
int lra_seeds_first(int n, int64_t **seed);

#endif
