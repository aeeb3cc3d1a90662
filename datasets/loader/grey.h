/* Converts colours to grey levels. */
#ifndef LRA_DATASETS_LOADER_GREY_H
#define LRA_DATASETS_LOADER_GREY_H

#include <stdint.h>

/* Pillow's grey level: (19595 red + 38470 green + 7471 blue + 2^15) / 2^16; all levels are
 * 0..255. */
static inline uint8_t lra_grey(unsigned red, unsigned green, unsigned blue)
{
    return (uint8_t)((19595u * red + 38470u * green + 7471u * blue + 32768u) >> 16);
}

/* Grey level of the Long Range Arena's pipeline: trunc(255.5 (0.2989 r + 0.5870 g + 0.1140 b)) of
 * levels divided by 255, computed in float32. It differs from lra_grey() by at most one level. */
static inline uint8_t lra_grey_first(unsigned red, unsigned green, unsigned blue)
{
    float r = (float)red / 255, g = (float)green / 255, b = (float)blue / 255;
    return (uint8_t)(255.5f * (0.2989f * r + 0.5870f * g + 0.1140f * b));
}

#endif
