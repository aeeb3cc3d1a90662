/* Fits the best content-blind weights to an attention head, and measures how far the head's weights
 * exceed them on related tokens. A content-blind head weighs keys by their lag alone:
 *   P(i,j) = f(i-j) / Z_i,   Z_i = sum over allowed k of f(i-k)                    signed lags
 *   f(l) <- [sum over rows of A(i,i-l)] / [sum over rows that have lag l of 1/Z_i]
 * from f = 1, until the largest change is below 1e-9 of the largest f, at most 200 rounds.
 * by_class: one f for each class of the query token, times a factor g for each pair of query class
 * and key class; f and g are fitted in alternation.
 *   lift = mean over examples of A on related keys / mean over examples of P on them
 * Within an example, A and P are averaged over the queries that have a related key among their
 * allowed keys. The interval is that of a ratio over examples (delta method). A content-blind head
 * has lift 1.
 * Known: the head's own mass by unsigned distance is not a valid null value: content-blind heads
 * have 1.16 to 2.18 times that mass. Uniform weights, a fixed lag and exponential decay have lift
 * 1.0000. */
#ifndef LRA_ANALYSIS_CONTENT_BLIND_H
#define LRA_ANALYSIS_CONTENT_BLIND_H

#include "analysis/measurement.h"

enum { LRA_BLIND_CLASSES = 4 };
typedef struct lra_blind lra_blind;

lra_blind *lra_blind_new(void);
void lra_blind_free(lra_blind *b); /* Nullable: b */
/* Starts an example of T tokens; of_token: (T) classes of the tokens, below LRA_BLIND_CLASSES. */
void lra_blind_example(lra_blind *b, int64_t T, const uint8_t *of_token);
/* Adds row i of the example. share: (T) weights, which sum to 1 over the keys with allowed != 0;
 * allowed: (T). */
void lra_blind_row(lra_blind *b, int64_t i, const double *share, const uint8_t *allowed);
/* Adds n > 0 allowed keys that are related to the token of the last added row. */
void lra_blind_related(lra_blind *b, int relation, int64_t n, const int32_t *key);
/* Computes lift[r] of each relation r < n, with null value 1; NAN if no query has the relation.
 * Every call repeats the fit. */
void lra_blind_lifts(const lra_blind *b, bool by_class, int n, lra_measurement *lift);
/* Returns the one-sided p-value of "the lift is not above 1", from a lift and its interval; 1 if it
 * has no interval. */
double lra_blind_p(const lra_measurement *lift);

#endif
