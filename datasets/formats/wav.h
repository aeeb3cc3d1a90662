/* Reads WAV clips from memory, by libsndfile. */
#ifndef LRA_DATASETS_FORMATS_WAV_H
#define LRA_DATASETS_FORMATS_WAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* Returns true if this build can read clips; portable builds do not have libsndfile. */
bool lra_wav_readable(void);
/* Reads the first `max` samples of a clip with one channel, 16 bits per sample and this rate
 * (samples per second); other clips are errors. *n: number of samples read; *total: number of
 * samples of the clip. name: for messages. */
int lra_wav_read(const void *bytes, size_t n_bytes, const char *name, int rate, int16_t *sample,
                 int64_t max, int64_t *n, int64_t *total, lra_err *e);

#endif
