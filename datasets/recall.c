/* Associative recall at a distance. A memory is two keys, each followed by its value: "K0 V1 K1
 * V0", the pairs in either order. After it comes a query, "Q0": the label is the value of the
 * queried key. The key of the last pair is `distance` tokens before the query. A group has two such
 * memories with opposite values, each with a query that has the same label as answer:
 *   first memory: the value of K0 is v, the query is Q(v xor label); second memory: 1 - v instead
 *   of v.
 * A group therefore contains the same keys, values, pairs and queries for every label. One pair is
 * enough to answer, because the values of the two keys differ.
 * Source: Ba et al. 2016 and others, with many keys; here two keys, and the distance as a
 * parameter.
 * Known: see distance.h; chance is 50 %. */
#include "datasets/distance.h"

enum {
    K = 1,
    V = 3,
    Q = 5,
    FILLER = 7,
    VOCAB = FILLER + LRA_DISTANCE_MAX_FILLERS,
    CLASSES = 2,
    MEMORY = 4 /* tokens of a memory */
};

static const char *const names[VOCAB] = {"pad", "K0", "K1", "V0",
                                         "V1",  "Q0", "Q1", LRA_DISTANCE_FILLERS};

/* The memories are at least 2 distance + 2 tokens apart, so that no window of `distance` tokens
 * contains a query and a pair of the other memory. */
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
