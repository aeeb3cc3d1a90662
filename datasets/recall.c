/* Associative recall at a distance: two keys with their values, "K0 V1 K1 V0", and after them a
 * query, "Q0": the label is the value of its key.  The key of the last pair is `distance` steps
 * before the query; the pairs come in either order.  A group is two such memories with opposite
 * values and a query each, to the same label:
 *   value of K0 in the first v, its query Q(v xor label); in the second 1 - v, and the other query.
 * So a group holds the same keys, values, pairs and queries for every label.  One pair is enough to
 * answer: the values of the two keys differ.
 * Source: Ba et al. 2016 and others, with many keys; two here, and the distance as a parameter.
 * Known: see distance.h; chance is 50 %. */
#include "datasets/distance.h"

enum {
    K = 1,
    V = 3,
    Q = 5,
    FILLER = 7,
    VOCAB = FILLER + LRA_DISTANCE_MAX_FILLERS,
    CLASSES = 2,
    MEMORY = 4 /* tokens */
};

static const char *const names[VOCAB] = {"pad", "K0", "K1", "V0",
                                         "V1",  "Q0", "Q1", LRA_DISTANCE_FILLERS};

/* Two distances and more from memory to memory: no window of a distance holds a query and a pair of
 * the other. */
static void group(const lra_distance_shape *s, lra_rng *rng, int64_t room, int32_t label,
                  int64_t *at, uint16_t *token)
{
    int64_t start[2];
    lra_distance_starts(s, rng, room, 2, 2 * s->distance + 2, start);
    uint32_t v = lra_rng_below(rng, 2);
    for (uint32_t i = 0; i < 2; i++, v = 1 - v, at += MEMORY + 1, token += MEMORY + 1) {
        uint32_t key = lra_rng_below(rng, 2);
        for (uint32_t k = 0; k < MEMORY; k++) at[k] = start[i] + k;
        for (uint32_t k = 0; k < MEMORY; k += 2, key = 1 - key) {
            token[k] = (uint16_t)(K + key);
            token[k + 1] = (uint16_t)(V + (v ^ key));
        }
        at[MEMORY] = start[i] + 2 + s->distance;
        token[MEMORY] = (uint16_t)(Q + (v ^ (uint32_t)label));
    }
}

static const lra_distance_kind kind = {.stream = 0x5245,
                                       .first = V,
                                       .second = Q,
                                       .filler = FILLER,
                                       .n_classes = CLASSES,
                                       .n_marks = 2 * (MEMORY + 1),
                                       .span = 4,
                                       .more = 4,
                                       .zones = 4,
                                       .taken = 16,
                                       .bigram = true,
                                       .group = group};

LRA_DISTANCE_TASK(recall, "recall",
                  "the value of a queried key, `distance` tokens back, two classes", "400", "4");
