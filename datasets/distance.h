/* Tasks with a dependency distance as a parameter (`distance`), so that measured reach can be
 * compared with a known truth.
 * A row is i.i.d. filler words with marked tokens at random positions: `copies` groups of them,
 * drawn independently of each other. The label needs two tokens of a group that are `distance`
 * steps apart. Any other tokens whose combination would reveal the label are at least as far from
 * each other, and so is the first from the start. The content of a window of at most `distance`
 * steps therefore has the same distribution for every label.
 * Known: a score that adds up over windows of w = 2R+1 <= distance steps (a linear head after mean
 * pooling) has the same expectation for every label, so no cross-entropy is below that of a
 * constant (Jensen); w = distance + 1 holds the pair. Every row has the same marked tokens, so that
 * token counts carry no information about the label for any model. */
#ifndef LRA_DATASETS_DISTANCE_H
#define LRA_DATASETS_DISTANCE_H

#include "datasets/loader/dataset.h"

typedef struct {
    int64_t distance, length;
    uint32_t fillers; /* words */
    int64_t copies;
} lra_distance_shape;

/* The differences between the tasks. */
typedef struct {
    uint32_t stream; /* of random numbers */
    /* ids: [0, first) first elements of a dependency, [second, filler) second elements,
     * [filler, ..) fillers */
    uint16_t first, second, filler;
    int n_classes, n_marks; /* tokens of a group */
    /* position of the last token of a group with minimal gaps: span * distance + more */
    int64_t span, more;
    /* parts of a group; maximum number of starts that a placed group excludes for another one */
    int zones, taken;
    bool bigram; /* a dependency begins with two tokens */
    /* Draws a group that gives a row this label: positions, with the same distribution for every
     * label, and tokens. `room`: maximum sum of the gaps. */
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
/* Draws rows; within one split all labels are equally frequent, to one row. */
int lra_distance_make(const lra_distance_kind *k, const lra_config *c,
                      lra_sequences split[LRA_N_SPLITS], lra_err *e);
/* Replaces a row by a newly drawn one, including its label. */
void lra_distance_redraw(const lra_distance_kind *k, const lra_dataset *d, lra_rng *rng,
                         lra_row *row);

enum { LRA_DISTANCE_MAX_PARTS = 4 };
/* Draws the first positions of n parts of a group, at[n]: at[0] >= `distance` and at[i+1] >= at[i]
 * + `stride`; uniform over all choices that fit into `room` positions. */
void lra_distance_starts(const lra_distance_shape *s, lra_rng *rng, int64_t room, int n,
                         int64_t stride, int64_t *at);
/* n numbers from 0 on in random order. */
void lra_distance_order(lra_rng *rng, int n, int *order);

/* Naive Bayes on counts: of single tokens, of all pairs at offsets below the distance; of pairs at
 * the distance. */
const char *lra_distance_baseline(const lra_distance_kind *k, int b, const lra_sequences *train,
                                  const lra_sequences *of, int32_t *predicted);
/* All that is no filler. */
void lra_distance_marks(const lra_distance_kind *k, const lra_row *row, bool *marked);
/* Prints the words of a row, separated by blanks, on one line. */
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
        .input.vocab = VOCAB,                                                                      \
        .data.longest = lra_longest_length,                                                        \
        .input.first_word = 1,                                                                     \
        .text.token_names = names,                                                                 \
        .keys = (const lra_key[]){LRA_INT_KEY("distance", "16", 1, LRA_DISTANCE_MAX_LENGTH,        \
                                              "distance of a dependency, in tokens"),              \
                                  LRA_INT_KEY("length", length, 1, LRA_DISTANCE_MAX_LENGTH,        \
                                              "length of a row, in tokens"),                       \
                                  LRA_INT_KEY("copies", copies, 1, LRA_DISTANCE_MAX_LENGTH,        \
                                              "number of dependencies in a row"),                  \
                                  LRA_INT_KEY("fillers", "8", 1, LRA_DISTANCE_MAX_FILLERS,         \
                                              "number of different words between them"),           \
                                  LRA_COUNT_KEYS("20000", "2000", "4000", 1 << 24),                \
                                  LRA_DATA_SEED_KEY, LRA_KEYS_END},                                \
        .quick = {"train=12800 val=1000 test=2000", "batch=32 epochs=2 warmup=0.05", 3},           \
        .small = {NULL, "batch=32 epochs=8 warmup=0.02", 5},                                       \
        .validate = validate,                                                                      \
        .data.make = make,                                                                         \
        .data.augment = redraw,                                                                    \
        .data.fresh = true,                                                                        \
        .baseline = baseline,                                                                      \
        .text.marks = marks,                                                                       \
        .text.show = show,                                                                         \
    }

#endif
