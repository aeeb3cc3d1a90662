/* Two-token XOR at a distance.  A group is two pairs of marked bits, in each an A and `distance` steps later a B; the
 * label is the XOR of any pair of the row:
 *   label 0: (A0, B0) and (A1, B1)        label 1: (A0, B1) and (A1, B0)        in either order
 * So a group holds A0, A1, B0, B1 once, whatever the label; with one pair alone a threshold on the number of ones
 * would be right in three rows of four.
 * The definition is ours.
 * Known: see distance.h; chance is 50 %. */
#include "datasets/distance.h"

enum { A = 1, B = 3, FILLER = 5, VOCAB = FILLER + LRA_DISTANCE_MAX_FILLERS, LOOKED_AT = 32 };

static const char *const names[VOCAB] = {"pad", "A0", "A1", "B0", "B1", LRA_DISTANCE_FILLERS};

/* A distance from the start to the first A, from the first B to the second A: no window of a distance holds a B and
 * the A of the other pair, whose XOR tells the label too. */
static void group(const lra_distance_shape *s, lra_rng *rng, int64_t room, int32_t label,
                  int64_t *at, uint16_t *token)
{
    int64_t d = s->distance, gap[2];
    lra_distance_gaps(rng, room, &gap[0], &gap[1]);
    uint32_t first = lra_rng_below(rng, 2);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t a = first ^ i, b = a ^ (uint32_t)label;
        at[2 * i] = (1 + 2 * i) * d + gap[i], token[2 * i] = (uint16_t)(A + a);
        at[2 * i + 1] = at[2 * i] + d, token[2 * i + 1] = (uint16_t)(B + b);
    }
}

static const lra_distance_kind kind = {0x584F, FILLER, 2, 4, 4, group};

static int validate(const lra_config *c, lra_err *e)
{
    return lra_distance_validate(&kind, c, e);
}

static int make(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    return lra_distance_make(&kind, c, split, e);
}

static void redraw(const lra_dataset *d, lra_rng *rng, lra_row *row)
{
    lra_distance_redraw(&kind, d, rng, row);
}

/* Does every A of the row have a B so many steps later? */
static bool fits(const uint16_t *token, int64_t n, int64_t distance)
{
    for (int64_t t = 0; t < n; t++) {
        if (token[t] < A || token[t] >= B) continue;
        if (t + distance >= n || token[t + distance] < B || token[t + distance] >= FILLER)
            return false;
    }
    return true;
}

static int64_t distance_of(const lra_sequences *rows)
{
    for (int64_t distance = 1;; distance++) {
        bool all = true;
        for (int64_t i = 0; i < rows->n && i < LOOKED_AT && all; i++)
            all = fits(rows->token + rows->start[i], rows->start[i + 1] - rows->start[i], distance);
        if (all) return distance;
    }
}

static const char *baseline(int b, const lra_sequences *train, const lra_sequences *of,
                            int32_t *predicted)
{
    return lra_distance_baseline(&kind, b, distance_of(train), train, of, predicted);
}

static void show(const lra_row *row, FILE *out)
{
    lra_distance_show(row, names, out);
}

const lra_task lra_task_xor = {
    .name = "xor",
    .summary = "XOR of two marked bits `distance` steps apart, two classes",
    .n_classes = 2,
    .vocab = VOCAB,
    .first_word = A,
    .token_names = names,
    .defaults = LRA_DISTANCE_DEFAULTS,
    .quick = "train=12800 val=1000 test=2000",
    .small = "",
    .validate = validate,
    .make = make,
    .augment = redraw,
    .fresh = true,
    .baseline = baseline,
    .show = show,
};
