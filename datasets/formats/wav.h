/* WAV clips in memory, by libsndfile. */
#ifndef LRA_DATASETS_FORMATS_WAV_H
#define LRA_DATASETS_FORMATS_WAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* Returns true if this build reads clips. Portable builds have no libsndfile. */
bool lra_wav_readable(void);
/* Reads the first `max` samples of a clip of one channel with 16 bits a sample at this rate (per
 * second); anything else is refused. *n: samples read; *total: samples of the clip. name: for
 * messages. */
int lra_wav_read(const void *bytes, size_t n_bytes, const char *name, int rate, int16_t *sample,
                 int64_t max, int64_t *n, int64_t *total, lra_err *e);

#endif
