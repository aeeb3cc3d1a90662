/* Tasks whose dependency distance is a knob (`distance`), so that reach is measured against a known
 * truth.
 * A row is i.i.d. filler words with marked tokens at random places: `copies` groups of them, drawn
 * independently of each other.  The label needs two tokens of a group that stand `distance` steps
 * apart; those whose combination would tell it as well are at least as far from each other, and so
 * is the first from the start.  So what a window of at most `distance` steps holds is distributed
 * in the same way whatever the label.
 *
 * Known: a score that adds up over windows of w = 2R+1 <= distance steps (a linear head after mean
 * pooling) has the same expectation for every label, so no cross-entropy is below that of a
 * constant (Jensen); w = distance + 1 holds the pair.  Every row has the same marked tokens, so
 * that counts of tokens say nothing, whoever reads them. */
#ifndef LRA_DATASETS_DISTANCE_H
#define LRA_DATASETS_DISTANCE_H

#include "datasets/loader/dataset.h"

typedef struct {
    int64_t distance, length;
    uint32_t fillers; /* words */
    int64_t copies;
} lra_distance_shape;

/* What differs between them. */
typedef struct {
    uint32_t stream; /* of random numbers */
    uint16_t first, second,
        filler; /* ids below `first`: distances are counted from these, to those from `second`
                                       on; fillers from `filler` on */
    int n_classes, n_marks; /* tokens of a group */
    int64_t span,
        more; /* last of them where no gap is wider than it must be: span * distance + more */
    int zones,
        taken; /* parts of a group; starts that a group in its place takes from another, at most */
    bool bigram; /* what stands first in a dependency are two tokens */
    /* A group that gives a row this label: places, as likely whatever the label, and tokens.
     * `room`: how much the gaps may add up to. */
    void (*group)(const lra_distance_shape *s, lra_rng *rng, int64_t room, int32_t label,
                  int64_t *at, uint16_t *token);
} lra_distance_kind;

enum {
    LRA_DISTANCE_MAX_MARKS = 10,
    LRA_DISTANCE_MAX_FILLERS = 16,
    LRA_DISTANCE_MAX_LENGTH = 1 << 16
};
/* Names of filler words. */
#define LRA_DISTANCE_FILLERS                                                                       \
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"

int lra_distance_validate(const lra_distance_kind *k, const lra_config *c, lra_err *e);
/* Every label as often as another, within one row. */
int lra_distance_make(const lra_distance_kind *k, const lra_config *c,
                      lra_sequences split[LRA_N_SPLITS], lra_err *e);
/* A new row, label included, in place of another. */
void lra_distance_redraw(const lra_distance_kind *k, const lra_dataset *d, lra_rng *rng,
                         lra_row *row);

enum { LRA_DISTANCE_MAX_PARTS = 4 };
/* Starts of n parts of a group: the first at least a distance from the start of the row, the next
 * at least `stride` behind; all choices that leave `room` as likely. */
void lra_distance_starts(const lra_distance_shape *s, lra_rng *rng, int64_t room, int n,
                         int64_t stride, int64_t *at);
/* n numbers from 0 on in random order. */
void lra_distance_order(lra_rng *rng, int n, int *order);

/* Naive Bayes on counts: of single tokens, of all pairs at offsets below the distance; of what is
 * at the distance. */
const char *lra_distance_baseline(const lra_distance_kind *k, int b, const lra_sequences *train,
                                  const lra_sequences *of, int32_t *predicted);
/* All that is no filler. */
void lra_distance_marks(const lra_distance_kind *k, const lra_row *row, bool *marked);
/* Words, one behind the other. */
void lra_distance_show(const lra_row *row, const char *const *names, FILE *out);

/* The record of a task with `kind`, `names`, VOCAB. */
#define LRA_DISTANCE_TASK(id, task_name, what, length, copies)                                     \
    static int validate(const lra_config *c, lra_err *e)                                           \
    {                                                                                              \
        return lra_distance_validate(&kind, c, e);                                                 \
    }                                                                                              \
    static int make(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)            \
    {                                                                                              \
        return lra_distance_make(&kind, c, split, e);                                              \
    }                                                                                              \
    static void redraw(const lra_dataset *d, lra_rng *rng, lra_row *row)                           \
    {                                                                                              \
        lra_distance_redraw(&kind, d, rng, row);                                                   \
    }                                                                                              \
    static const char *baseline(int b, const lra_sequences *train, const lra_sequences *of,        \
                                int32_t *predicted)                                                \
    {                                                                                              \
        return lra_distance_baseline(&kind, b, train, of, predicted);                              \
    }                                                                                              \
    static void marks(const lra_row *row, bool *marked)                                            \
    {                                                                                              \
        lra_distance_marks(&kind, row, marked);                                                    \
    }                                                                                              \
    static void show(const lra_row *row, FILE *out)                                                \
    {                                                                                              \
        lra_distance_show(row, names, out);                                                        \
    }                                                                                              \
    const lra_task lra_task_##id = {                                                               \
        .name = task_name,                                                                         \
        .summary = what,                                                                           \
        .n_classes = CLASSES,                                                                      \
        .vocab = VOCAB,                                                                            \
        .longest = lra_longest_length,                                                             \
        .first_word = 1,                                                                           \
        .token_names = names,                                                                      \
        .keys = (const lra_key[]){LRA_INT_KEY("distance", "16", 1, LRA_DISTANCE_MAX_LENGTH,        \
                                              "steps of a dependency"),                            \
                                  LRA_INT_KEY("length", length, 1, LRA_DISTANCE_MAX_LENGTH,        \
                                              "steps of a row"),                                   \
                                  LRA_INT_KEY("copies", copies, 1, LRA_DISTANCE_MAX_LENGTH,        \
                                              "dependencies in a row"),                            \
                                  LRA_INT_KEY("fillers", "8", 1, LRA_DISTANCE_MAX_FILLERS,         \
                                              "words between them"),                               \
                                  LRA_COUNT_KEYS("20000", "2000", "4000", 1 << 24),                \
                                  LRA_DATA_SEED_KEY, LRA_KEYS_END},                                \
        .quick = {"train=12800 val=1000 test=2000", "batch=32 epochs=2 warmup=0.05", 3},           \
        .small = {NULL, "batch=32 epochs=8 warmup=0.02", 5},                                       \
        .validate = validate,                                                                      \
        .make = make,                                                                              \
        .augment = redraw,                                                                         \
        .fresh = true,                                                                             \
        .baseline = baseline,                                                                      \
        .marks = marks,                                                                            \
        .show = show,                                                                              \
    }

#endif
