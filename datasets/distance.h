/* Tasks with a dependency distance as a parameter (`distance`), so that measured reach can be
 * compared with a known truth.
 * A row is i.i.d. filler words with marked tokens at random positions: `copies` groups of marked
 * tokens, drawn independently of each other. The label needs two tokens of a group that are
 * `distance` tokens apart. Any other tokens whose combination would reveal the label are at least
 * `distance` apart, and the first marked token is at least `distance` from the start. The content
 * of a window of at most `distance` tokens therefore has the same distribution for every label.
 * Known: a score that adds up over windows of w = 2R+1 <= distance tokens (a linear head after mean
 * pooling) has the same expectation for every label, so its cross-entropy is not below that of a
 * constant (Jensen). A window of w = distance + 1 tokens contains the pair. Every row has the same
 * marked tokens, so that token counts carry no information about the label for any model. */
#ifndef LRA_DATASETS_DISTANCE_H
#define LRA_DATASETS_DISTANCE_H

#include "datasets/loader/dataset.h"

typedef struct {
    int64_t distance, length;
    uint32_t fillers; /* number of different filler words */
    int64_t copies;
} lra_distance_shape;

/* Definition of one task with a dependency distance. */
typedef struct {
    uint32_t stream; /* stream of random numbers */
    /* Token ids: [1, first) first elements of a dependency, [second, filler) second elements,
     * [filler, ..) fillers. */
    uint16_t first, second, filler;
    int n_classes, n_marks; /* n_marks: number of marked tokens of a group */
    /* The last token of a group with minimal gaps is at position span * distance + more. */
    int64_t span, more;
    /* zones: number of parts of a group. taken: maximum number of start positions of one part that
     * a placed group excludes (has_room() in distance.c). */
    int zones, taken;
    bool bigram; /* a dependency begins with two adjacent tokens */
    /* Draws a group for a row with this label: positions at[n_marks], with the same distribution
     * for every label, and token[n_marks]. room: maximum sum of the gaps before and between the
     * parts of the group, in tokens. */
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
/* Draws the rows of all splits. Label frequencies within a split differ by at most one row. */
int lra_distance_make(const lra_distance_kind *k, const lra_config *c,
                      lra_sequences split[LRA_N_SPLITS], lra_err *e);
/* Replaces a row by a newly drawn one, including its label. */
void lra_distance_redraw(const lra_distance_kind *k, const lra_dataset *d, lra_rng *rng,
                         lra_row *row);

enum { LRA_DISTANCE_MAX_PARTS = 4 };
/* Draws the first positions of n parts of a group, at[n]: at[0] >= `distance` and at[i+1] >= at[i]
 * + `stride`. All choices with gaps of at most `room` tokens in total are equally likely. */
void lra_distance_starts(const lra_distance_shape *s, lra_rng *rng, int64_t room, int n,
                         int64_t stride, int64_t *at);
/* order[n] = a random permutation of 0 .. n-1. */
void lra_distance_order(lra_rng *rng, int n, int *order);

/* Predicts labels by naive Bayes on counts of features, fitted on `train`; b selects the feature:
 * single tokens, pairs of tokens at all offsets below the distance, or pairs at the distance.
 * Returns the baseline's name, NULL after the last. */
const char *lra_distance_baseline(const lra_distance_kind *k, int b, const lra_sequences *train,
                                  const lra_sequences *of, int32_t *predicted);
/* Marks every token that is not a filler. */
void lra_distance_marks(const lra_distance_kind *k, const lra_row *row, bool *marked);
/* Prints the words of a row, separated by blanks, on one line. */
void lra_distance_show(const lra_row *row, const char *const *names, FILE *out);

/* Defines the record of a task; the including file defines `kind`, `names`, CLASSES and VOCAB. */
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
                                  LRA_INT_KEY(                                                     \
                                      "fillers", "8", 1, LRA_DISTANCE_MAX_FILLERS,                 \
                                      "number of different tokens that fill the rest of a row"),   \
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
