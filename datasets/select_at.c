/* Select at a distance: classifies which of four values is `distance` tokens before the query. A
 * group contains each value once, and a mark `distance` tokens after each value: the query Q after
 * the value that is the label, N after the others.
 * The task is defined by this suite; the atomic task `select` has marked numbers at any distance.
 * Known: see distance.h; chance is 25 %. */
#include "datasets/distance.h"

enum { S = 1, Q = 5, N = 6, FILLER = 7, VOCAB = FILLER + LRA_DISTANCE_MAX_FILLERS, CLASSES = 4 };

static const char *const names[VOCAB] = {"pad", "S0", "S1", "S2",
                                         "S3",  "Q",  "N",  LRA_DISTANCE_FILLERS};

/* Draws a group. Values are at least 2 `distance` apart, so that no window of `distance` positions
 * contains a mark and the value of another mark. */
static void group(const lra_distance_shape *s, lra_rng *rng, int64_t room, int32_t label,
                  int64_t *at, uint16_t *token)
{
    int64_t start[CLASSES];
    int value[CLASSES];
    lra_distance_starts(s, rng, room, CLASSES, 2 * s->distance, start);
    lra_distance_order(rng, CLASSES, value);
    for (int i = 0; i < CLASSES; i++) {
        at[2 * i] = start[i], token[2 * i] = (uint16_t)(S + value[i]);
        at[2 * i + 1] = start[i] + s->distance, token[2 * i + 1] = value[i] == label ? Q : N;
    }
}

static const lra_distance_kind kind = {.stream = 0x5345,
                                       .first = Q,
                                       .second = Q,
                                       .filler = FILLER,
                                       .n_classes = CLASSES,
                                       .n_marks = 8,
                                       .span = 8,
                                       .zones = 8,
                                       .taken = 8,
                                       .group = group};

LRA_DISTANCE_TASK(select_at, "select-at",
                  "which of four values is `distance` tokens before the query, four classes", "704",
                  "6");
