/* Two-token XOR at a distance. A group is two pairs of marked bits: in each pair, a bit A is
 * followed `distance` tokens later by a bit B. The label is the XOR of the two bits of any pair of
 * the row:
 *   label 0: (A0, B0) and (A1, B1)        label 1: (A0, B1) and (A1, B0)        in either order
 * A group therefore contains A0, A1, B0 and B1 once for every label. With a single pair, a
 * threshold on the number of ones would be correct in three of four rows.
 * The task is defined by this suite.
 * Known: see distance.h; chance is 50 %. */
#include "datasets/distance.h"

enum { A = 1, B = 3, FILLER = 5, VOCAB = FILLER + LRA_DISTANCE_MAX_FILLERS, CLASSES = 2 };

static const char *const names[VOCAB] = {"pad", "A0", "A1", "B0", "B1", LRA_DISTANCE_FILLERS};

/* The A bits are at least 2 `distance` apart: no window of `distance` tokens contains a B and the A
 * of the other pair, whose XOR would also reveal the label. */
static void group(const lra_distance_shape *s, lra_rng *rng, int64_t room, int32_t label,
                  int64_t *at, uint16_t *token)
{
    int64_t start[2];
    lra_distance_starts(s, rng, room, 2, 2 * s->distance, start);
    uint32_t first = lra_rng_below(rng, 2);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t a = first ^ i, b = a ^ (uint32_t)label;
        at[2 * i] = start[i], token[2 * i] = (uint16_t)(A + a);
        at[2 * i + 1] = start[i] + s->distance, token[2 * i + 1] = (uint16_t)(B + b);
    }
}

static const lra_distance_kind kind = {.stream = 0x584F,
                                       .first = B,
                                       .second = B,
                                       .filler = FILLER,
                                       .n_classes = CLASSES,
                                       .n_marks = 4,
                                       .span = 4,
                                       .zones = 4,
                                       .taken = 4,
                                       .group = group};

LRA_DISTANCE_TASK(xor, "xor", "XOR of two marked bits `distance` tokens apart, two classes", "320",
                  "8");
