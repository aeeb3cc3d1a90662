/* Code shared by the C and CUDA bodies of the ops on positions: the rotation speed of a pair of
 * channels (rotary.c), the range of positions of a moving average (moving_average.c). */
#ifndef LRA_OPS_ATTENTION_POSITIONS_BODY_H
#define LRA_OPS_ATTENTION_POSITIONS_BODY_H

#include <stdbool.h>

#include "kernels/graph/op.h"
#include "kernels/ops/real.h"

typedef struct {
    double base;
    int half; /* lra_rotary_half: which half of the pairs is not rotated */
    bool back;
} rotary_args;

/* Angle by which pair i of `pairs` is rotated per position, in radians. */
LRA_FN double rotary_speed(const rotary_args *a, int64_t i, int64_t pairs)
{
    bool slow = i >= pairs / 2;
    bool still = slow ? a->half == LRA_HALF_SLOW : a->half == LRA_HALF_FAST;
    return still ? 0 : pow(a->base, -(double)i / (double)pairs);
}

typedef struct {
    int64_t width, chunk;
    bool causal, has_length, back; /* back: the transposed average, which computes the gradient */
} moving_average_args;

/* Range [low, high) of positions that are averaged into position t of an example of n tokens. */
LRA_FN void smooth_span(const moving_average_args *a, int64_t t, int64_t n, int64_t *low,
                        int64_t *high)
{
    int64_t before = a->causal ? a->width - 1 : (a->width - 1) / 2;
    int64_t after = a->causal ? 0 : (a->width - 1) / 2;
    int64_t first = t - (a->back ? after : before), end = t + (a->back ? before : after) + 1;
    *low = a->chunk > 0 ? t / a->chunk * a->chunk : 0;
    *high = a->chunk > 0 && *low + a->chunk < n ? *low + a->chunk : n;
    if (first > *low) *low = first;
    if (end < *high) *high = end;
}

#endif
