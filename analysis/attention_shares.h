/* How much of attention is position, and how much content.  Of weights A_b(i,j) of examples b, rows
 * of which add up to 1, and equal weights U_b(i,j) = 1/n_i on allowed keys:  X_b = A_b - U_b,  X~
 * its mean over the n(i,j) examples that have (i,j), m(d) the n-weighted mean of X~ on the diagonal
 * i - j = d:
 *   sum |X_b|^2  =  sum n m(i-j)^2  +  sum n (X~ - m(i-j))^2  +  sum |X_b - X~|^2
 *      total           relative             absolute                content
 * Sampling noise of X~ would move content into the first two.  With R_b = X_b - X~, s^2(i,j) its
 * sample variance, S_b(d) its sum over a diagonal, N(d) = sum n there, k(d) examples that reach it:
 *   c = sum_d sum_b S_b(d)^2 / N(d) k/(k-1)     taken from relative; sum s^2 - c from absolute; content gets sum s^2
 * so that the three are unbiased for independent examples, and still add up to the total.  Entries
 * of fewer than LRA_SHARES_LEAST examples are left out of all sums; what they hold of the total is
 * told.
 * Intervals are over examples, by what each adds to the sums to first order: X_b times the mean of
 * the others.  These products are taken of 2,048 sums of +-X_b (fewer with many examples), into
 * which entries are sorted by a hash where there are more of them; that makes intervals noisy by
 * some percent, and no value.  They are those of leaving out one example in turn, and hold 93 % of
 * what is true with 80 examples, 92 % with 40.
 * Known: attention that ignores its input: content 0; that copies one random key an example:
 * content near 1; mixed lengths and masks: the three add up to 1. */
#ifndef LRA_ANALYSIS_ATTENTION_SHARES_H
#define LRA_ANALYSIS_ATTENTION_SHARES_H

#include "analysis/measurement.h"

enum { LRA_SHARES_LEAST = 30 };
typedef struct lra_shares lra_shares;

/* Positions that so many examples have; what lra_shares_new() needs is 16 bytes for each pair of
 * them, and some 4 MiB. */
int64_t lra_shares_positions(int64_t n_examples, const int64_t *length);
/* length: of the examples, in the order in which they come. */
lra_shares *lra_shares_new(int64_t n_examples, const int64_t *length);
void lra_shares_free(lra_shares *s); /* Nullable: s */
/* Row i of example b: weights of keys from .. from+n-1, in any proportion, and which of them are
 * allowed.  from and n depend on i and on the example's length alone.  A row without weight is one
 * that has equal weights. */
void lra_shares_row(lra_shares *s, int64_t b, int64_t i, int64_t from, int64_t n, const double *w,
                    const uint8_t *allowed);
/* share.relative, share.absolute, share.content, share.left (of the total, in entries left out).
 * Returns 4. */
enum { LRA_SHARES_FINDINGS = 4 };
int lra_shares_measurements(const lra_shares *s, lra_measurement *out);

#endif
