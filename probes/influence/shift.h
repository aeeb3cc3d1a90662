/* Sensitivity to a position shift: the position ids of all tokens are increased by k, as if k
 * tokens of masked padding came first:
 *   KL(p || p shifted by k) = sum_c p_c (ln p_c - ln p'_c), in nats,
 * where p and p' are the output distributions of a classifier without and with the shift. Rows are
 * used if they leave room for k tokens within the longest row of the data. Both documents of a pair
 * are shifted together. */
#ifndef LRA_PROBES_INFLUENCE_SHIFT_H
#define LRA_PROBES_INFLUENCE_SHIFT_H

#include "probes/shared/steps.h"
#include "probes/shared/subject.h"

enum { LRA_SHIFTS = 4 };
extern const int32_t lra_shift_steps[LRA_SHIFTS]; /* shifts in tokens: 1, 4, 16, 64 */

typedef struct {
    int64_t requested; /* number of evaluated rows */
    struct {
        int64_t n; /* n: rows with room for the shift; kl, square: sums of KL and KL^2 over them */
        double kl, square;
    } by[LRA_SHIFTS];
} lra_shifted;

/* Measures KL for all shifts. sample: number of rows of the test split, 0 = all.
 * Needs LRA_ANSWERS_FORWARD and LRA_ANSWERS_PLACE. */
int lra_shift_measure(const lra_subject *s, lra_subject_weights weights, int64_t sample,
                      lra_steps *steps, lra_shifted *out, lra_err *e);

#endif
