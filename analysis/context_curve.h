/* Loss of a language model by the number of tokens before the predicted token, with intervals over
 * rows. The same tokens are predicted at every context length.
 *   loss(c)   mean over rows of the row's mean of -log2 p(token | c tokens before it), bits
 *   gain(c) = (loss by token frequencies - loss(c)) / (loss by token frequencies - loss(full))
 *   kl(c)     mean over rows of KL(p with full context || p with c tokens), nats
 *   key(c)    share of the tokens that lose more than 2 nats with c tokens
 * Intervals of loss, kl and key: Student's t over rows. Gains and thresholds: analysis/gain.h. */
#ifndef LRA_ANALYSIS_CONTEXT_CURVE_H
#define LRA_ANALYSIS_CONTEXT_CURVE_H

#include "analysis/gain.h"

typedef struct {
    int n;
    lra_estimate loss[LRA_GAIN_POINTS], kl[LRA_GAIN_POINTS], key[LRA_GAIN_POINTS];
    lra_estimate full, unigram; /* losses with the full context, and by token frequencies */
    lra_gain gain;              /* gain.at_chance: not clearly better than token frequencies */
} lra_context_curve;

/* Means over the targets of each row: loss, kl, key (points,rows); unigram (rows). x (points):
 * context lengths in tokens, ascending; the last point is the full context. seed: of the
 * bootstrap. */
void lra_context_curve_compute(int64_t rows, int points, const double *x, const double *loss,
                               const double *kl, const double *key, const double *unigram,
                               uint64_t seed, lra_context_curve *out);

#endif
