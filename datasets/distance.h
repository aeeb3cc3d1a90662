/* Tasks whose dependency distance is a knob (`distance`), so that reach is measured against a known truth.
 * A row is i.i.d. filler words with marked tokens at random places: `copies` groups of them, drawn independently of
 * each other.  The label needs two tokens of a group that stand `distance` steps apart; those whose combination would tell
 * it as well are at least as far from each other, and so is the first from the start.  So what a window of at most
 * `distance` steps holds is distributed in the same way whatever the label.
 *
 * Known: a score that adds up over windows of w = 2R+1 <= distance steps (a linear head after mean pooling) has the
 * same expectation for every label, so no cross-entropy is below that of a constant (Jensen); w = distance + 1 holds
 * the pair.  Every row has the same marked tokens, so that counts of tokens say nothing, whoever reads them. */
#ifndef LRA_DATASETS_DISTANCE_H
#define LRA_DATASETS_DISTANCE_H

#include "datasets/dataset.h"

typedef struct {
    int64_t distance, length;
    uint32_t fillers; /* words */
    int64_t copies;
} lra_distance_shape;

/* What differs between them. */
typedef struct {
    uint32_t stream;       /* of random numbers */
    uint16_t first_filler; /* ids from here on are fillers */
    int n_classes;
    int n_marks;  /* tokens of a group */
    int64_t span; /* distances from the start of a row to the last of them, gaps of 0 */
    /* A group that gives a row this label: places, as likely whatever the label, and tokens.  `room`: how much the
     * gaps may add up to. */
    void (*group)(const lra_distance_shape *s, lra_rng *rng, int64_t room, int32_t label,
                  int64_t *at, uint16_t *token);
} lra_distance_kind;

enum { LRA_DISTANCE_MAX_MARKS = 8, LRA_DISTANCE_MAX_FILLERS = 16 };
/* Names of filler words. */
#define LRA_DISTANCE_FILLERS                                                                       \
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"
/* "distance=16 ..." of all of them. */
#define LRA_DISTANCE_DEFAULTS                                                                      \
    "distance=16 length=320 copies=8 fillers=8 train=20000 val=2000 test=4000 data-seed=0"

int lra_distance_validate(const lra_distance_kind *k, const lra_config *c, lra_err *e);
/* Every label as often as another, within one row. */
int lra_distance_make(const lra_distance_kind *k, const lra_config *c,
                      lra_sequences split[LRA_N_SPLITS], lra_err *e);
/* A new row, label included, in place of another. */
void lra_distance_redraw(const lra_distance_kind *k, const lra_dataset *d, lra_rng *rng,
                         lra_row *row);

/* Two numbers a <= b with b <= room, all pairs as likely. */
void lra_distance_gaps(lra_rng *rng, int64_t room, int64_t *a, int64_t *b);

/* Naive Bayes on counts: of single tokens, of all pairs at offsets below the distance, at the distance. */
const char *lra_distance_baseline(const lra_distance_kind *k, int b, int64_t distance,
                                  const lra_sequences *train, const lra_sequences *of,
                                  int32_t *predicted);
/* Words, one behind the other. */
void lra_distance_show(const lra_row *row, const char *const *names, FILE *out);

#endif
