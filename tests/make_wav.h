/* WAV clips that tests make, in memory. */
#ifndef LRA_TESTS_MAKE_WAV_H
#define LRA_TESTS_MAKE_WAV_H

#include <stdint.h>

#include "kernels/base/mem.h"

static inline void wav_number(lra_text *to, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) lra_text_bytes(to, &(uint8_t){(uint8_t)(v >> 8 * i)}, 1);
}

/* n samples of 16 bits, all channels of a step one behind the other. */
static inline void make_wav(lra_text *to, uint32_t rate, uint32_t channels, const int16_t *sample,
                            uint32_t n)
{
    lra_text_bytes(to, "RIFF", 4);
    wav_number(to, 36 + 2 * n, 4);
    lra_text_bytes(to, "WAVEfmt ", 8);
    wav_number(to, 16, 4);
    wav_number(to, 1, 2);
    wav_number(to, channels, 2);
    wav_number(to, rate, 4);
    wav_number(to, rate * channels * 2, 4);
    wav_number(to, channels * 2, 2);
    wav_number(to, 16, 2);
    lra_text_bytes(to, "data", 4);
    wav_number(to, 2 * n, 4);
    for (uint32_t i = 0; i < n; i++) wav_number(to, (uint16_t)sample[i], 2);
}

#endif
