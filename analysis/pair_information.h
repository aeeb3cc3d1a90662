/* Mutual information between symbols at distance d in the data, without a model.
 *   pair(d)   = sum_ab p_d(a,b) log2( p_d(a,b) / (p_d(a) p_d(b)) ) - (K_ab - K_a - K_b + 1)/(2 N ln
 *             2)
 *   null(d)   = as pair(d), with the second symbol from another example at the same position:
 *             the part that positions alone explain
 *   excess(d) = pair - null; 0 if positions explain all.  It is a difference of two mutual
 *             informations: if it is 0 or less, symbols may still depend on each other beyond their
 *             positions (ListOps: no operator is followed by a bracket, excess(1) 0.001 bits);
 *             pair_dependence.h measures that.
 * K: number of non-empty cells, N: number of pairs (Miller and Madow 1955).  Both symbols of a pair
 * are in the same example.  Rare symbols are merged into one until there are 100 pairs per cell.
 * Intervals: basic bootstrap (2 value - quantile), 1,000 draws of groups of four examples (of two
 * if there are fewer than 128) with jackknife pseudo-values; no intervals with fewer than 16
 * examples.
 * A group is successive examples in the order of lengths. The null value pairs each example with
 * another one of the same group and length, so that both have the same positions; if a length
 * occurs only once in a group, the nearest length is used. Because of these pairs, groups are drawn
 * instead of examples.
 * Known, in bits: independent symbols have 0; a Markov chain of two states that flips with
 * probability e has 1 - H((1 - (1-2e)^d)/2); a cycle of p symbols with random phase has log2 p; the
 * cycle 0,0,1 has 0.918 at multiples of 3. */
#ifndef LRA_ANALYSIS_PAIR_INFORMATION_H
#define LRA_ANALYSIS_PAIR_INFORMATION_H

#include <stdint.h>

#include "analysis/decay.h"
#include "analysis/interval.h"
#include "analysis/pair_symbols.h"

enum {
    LRA_INFO_SYMBOLS = 80,
    LRA_INFO_PAIRS_A_CELL = 100,
    /* Minimum number of groups of four examples; with fewer groups, a group has two examples. */
    LRA_INFO_GROUPS = 32,
    LRA_INFO_MOST_GROUPS = 2048,
    LRA_INFO_LEAST_GROUPS = 8, /* minimum number of groups for an interval */
    LRA_INFO_DRAWS = 1000
};

typedef struct {
    int64_t d, pairs; /* number of pairs in the data; the null value may have fewer */
    int symbols;      /* number of symbols after merging */
    double pair, null;
    lra_estimate excess;
} lra_info_point;

typedef struct {
    int n;
    /* (n) distances 1 .. 16, then eight per octave, and multiples of the period. */
    lra_info_point *point;
    /* Largest distance such that all intervals of the excess up to it lie above 0; 0: there is
     * none. */
    int64_t d0;
    /* Fit of the excess (bits) at distances up to d0; beta of the fit is alpha. A law is named only
     * if it decreases to one half or less at d0, and the entire interval of its rate is
     * positive. */
    lra_decay decay;
    lra_estimate alpha, tau;
    /* Largest excess beyond d0 whose interval would lie above 0 even if it were twice as wide,
     * which corrects for the large number of distances. NULL: there is none. */
    const lra_info_point *again;
} lra_information;

/* Measures distances up to `most`. period: a period of the data in tokens, such as the row length
 * of an image, whose first eight multiples are measured, too; 0: none. */
lra_information *lra_information_new(const lra_symbols *s, int64_t most, int64_t period,
                                     uint64_t key);
void lra_information_free(lra_information *x); /* Nullable: x */

/* Classifier of rows by their n-grams, without order: multinomial naive Bayes with add-one
 * smoothing over 2^18 cells. The cell of an n-gram is the xxh3-64 hash of its n symbols as int32. A
 * row shorter than n gets the most frequent class of the training rows. */
typedef struct lra_ngram lra_ngram;
lra_ngram *lra_ngram_new(int n, int n_classes, const lra_symbols *train, const int32_t *label);
int32_t lra_ngram_predict(const lra_ngram *g, int64_t length, const uint8_t *symbol);
void lra_ngram_free(lra_ngram *g); /* Nullable: g */
/* Values of n that the diagnostics of data and the baselines of ladders evaluate. */
enum { LRA_NGRAM_WIDTHS = 6 };
/* Maximum number of classes for which callers evaluate these classifiers, which need 1 MiB of
 * weights per class. */
enum { LRA_NGRAM_CLASSES = 256 };
extern const int lra_ngram_widths[LRA_NGRAM_WIDTHS];

#endif
