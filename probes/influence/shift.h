/* Tokens that are told to stand k steps later than they do, as if so many steps of masked padding
 * stood in front of them:
 *   KL(p || p moved by k) = sum_c p_c (ln p_c - ln p'_c), in nats, p the probabilities of a classifier's answer
 * for rows whose length leaves room for k steps in the longest row of the data.  Documents of a
 * pair move together. */
#ifndef LRA_PROBES_INFLUENCE_SHIFT_H
#define LRA_PROBES_INFLUENCE_SHIFT_H

#include "models/training/loaded_model.h"
#include "probes/shared/steps.h"

enum { LRA_SHIFTS = 4 };
extern const int32_t lra_shift_steps[LRA_SHIFTS]; /* 1 4 16 64 */

typedef struct {
    int64_t asked; /* rows */
    struct {
        int64_t n; /* those that have room; sums over them */
        double kl, square;
    } by[LRA_SHIFTS];
} lra_shifted;

/* Of a sample of the test split, 0: all of it. */
int lra_shift_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                      int64_t sample, lra_steps *steps, lra_shifted *out, lra_err *e);

#endif
