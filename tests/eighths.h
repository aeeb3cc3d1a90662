/* Operands of tests of tile products: bf16 by its bits, and multiples of 1/8, whose sums are
 * exact. */
#ifndef LRA_TESTS_EIGHTHS_H
#define LRA_TESTS_EIGHTHS_H

#include <stdint.h>
#include <string.h>

/* What stands around operands and results: none of it may be read into a sum or be written over. */
enum { INFINITE = 0x7F80, GUARD = 64 };

/* -1 to 1 */
static inline float eighth(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)((int)(*state >> 24) % 17 - 8) / 8;
}

/* The upper half: of what bf16 holds, the number itself. */
static inline uint16_t half(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static inline float whole(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

#endif
