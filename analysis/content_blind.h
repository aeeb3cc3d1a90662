/* The best content-blind description of an attention head, and how far the head exceeds it on
 * related tokens.  A content-blind head chooses keys by their lag alone:
 *   P(i,j) = f(i-j) / Z_i,   Z_i = sum over allowed k of f(i-k)                    signed lags
 *   f(l) <- [sum over rows of A(i,i-l)] / [sum over rows that have lag l of 1/Z_i]
 * from f = 1, until the largest change is below 1e-9 of the largest f, at most 200 rounds.
 * by_class: one f for each class of the query token, times a factor g for each class of the query
 * and class of the key, which is fitted in turn in the same way.
 *   lift = mean over examples of A on related keys / mean over examples of P on them
 * Within an example, A and P are averaged over the queries that have a related key among their
 * allowed ones.  The interval linearises the ratio over examples.  A head that is content-blind has
 * lift 1.
 * The head's own mass by unsigned distance is no valid null value: content-blind heads reach 1.16
 * to 2.18 of it.
 * Known: uniform weights, a fixed lag and exponential decay: 1.0000. */
#ifndef LRA_ANALYSIS_CONTENT_BLIND_H
#define LRA_ANALYSIS_CONTENT_BLIND_H

#include "analysis/measurement.h"

enum { LRA_BLIND_CLASSES = 4 };
typedef struct lra_blind lra_blind;

lra_blind *lra_blind_new(void);
void lra_blind_free(lra_blind *b); /* Nullable: b */
/* Starts an example of T tokens; of_token (T): their classes, below LRA_BLIND_CLASSES. */
void lra_blind_example(lra_blind *b, int64_t T, const uint8_t *of_token);
/* Adds row i of the example.  share: (T), sums to 1 over the keys with allowed != 0 (T). */
void lra_blind_row(lra_blind *b, int64_t i, const double *share, const uint8_t *allowed);
/* n > 0 keys that are related to the token of the row added last, all of them allowed. */
void lra_blind_related(lra_blind *b, int relation, int64_t n, const int32_t *key);
/* lift[r] of each relation below n, unit 1, null value 1; NAN: no query has it.  Every call repeats
 * the fit. */
void lra_blind_lifts(const lra_blind *b, bool by_class, int n, lra_measurement *lift);
/* One-sided p of "the lift is not above 1" from a lift and its interval; 1: no interval. */
double lra_blind_p(const lra_measurement *lift);

#endif
