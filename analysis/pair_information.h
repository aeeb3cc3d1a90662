/* What a symbol tells of another one d steps on, without any model.
 *   pair(d)   = sum_ab p_d(a,b) log2( p_d(a,b) / (p_d(a) p_d(b)) ) - (K_ab - K_a - K_b + 1)/(2 N ln
 *             2)
 *   null(d)   = the same with the second symbol from another example at the same place: what places
 *             alone explain
 *   excess(d) = pair - null: 0 where places explain all.  A difference of two informations: where
 *             it is 0 or less, symbols may still depend on each other beyond their places (ListOps:
 *             no operator is followed by a bracket, excess(1) 0.001 bits).
 * K: cells that are not empty, N: pairs (Miller and Madow 1955).  Pairs never leave an example.
 * Symbols are merged into the most frequent ones and the rest until there are 100 pairs a cell.
 * Intervals: basic bootstrap (2 value - quantile), 1,000 draws of groups of four examples (two
 * where there are fewer than 128) whose pseudo-values are the jackknife's; none of fewer than 16
 * examples. A group holds neighbours in the order of lengths: another example is one of the same
 * group and length, or where a group has a length once of about that length, so that its places are
 * the same. Single examples cannot be drawn, because the null value pairs them. Known: independent
 * symbols 0; two states that flip with probability e: 1 - H((1 - (1-2e)^d)/2); a cycle of p symbols
 * with random phase: log2 p; the cycle 0,0,1: 0.918 at multiples of 3. */
#ifndef LRA_ANALYSIS_PAIR_INFORMATION_H
#define LRA_ANALYSIS_PAIR_INFORMATION_H

#include <stdint.h>

#include "analysis/decay.h"
#include "analysis/interval.h"

enum {
    LRA_INFO_SYMBOLS = 80,
    LRA_INFO_PAIRS_A_CELL = 100,
    LRA_INFO_GROUPS = 32, /* of four examples, at least; of fewer examples two */
    LRA_INFO_MOST_GROUPS = 2048,
    LRA_INFO_LEAST_GROUPS = 8, /* of two examples or more */
    LRA_INFO_DRAWS = 1000
};

/* Rows of symbols, one behind the other; a symbol is below 256. */
typedef struct {
    int64_t n;
    const int64_t *start; /* (n+1) */
    const uint8_t *symbol;
} lra_symbols;

typedef struct {
    int64_t d, pairs; /* of the data; those with another example may be fewer */
    int symbols;      /* after merging */
    double pair, null;
    lra_estimate excess;
} lra_info_point;

typedef struct {
    int n;
    lra_info_point *point; /* (n) distances 1 .. 16, from there on eight an octave, and multiples of
                              the period */
    int64_t d0; /* the largest up to which every interval of the excess lies above 0; 0: none */
    /* Of the excess up to d0, in bits; beta is alpha.  A law is named only if it falls to one half
     * at least up to d0, and by the whole interval of its rate. */
    lra_decay decay;
    lra_estimate alpha, tau;
    /* Beyond d0 the largest excess that an interval of twice the width would still hold above 0
     * (there are many distances, and each has its chance).  NULL: none */
    const lra_info_point *again;
} lra_information;

/* Up to distance `most`.  period: 0, or what comes back after so many steps, as rows of pixels do:
 * its first eight multiples are asked, too. */
lra_information *lra_information_new(const lra_symbols *s, int64_t most, int64_t period,
                                     uint64_t key);
void lra_information_free(lra_information *x); /* Nullable: x */

/* What a bag of n-grams says of a row: multinomial naive Bayes, one added to each of 2^18 cells
 * that xxh3-64 of the n symbols as int32 chooses, trained by counting.  A row shorter than n gets
 * the class most frequent in training. */
typedef struct lra_ngram lra_ngram;
lra_ngram *lra_ngram_new(int n, int n_classes, const lra_symbols *train, const int32_t *label);
int32_t lra_ngram_says(const lra_ngram *g, int64_t length, const uint8_t *symbol);
void lra_ngram_free(lra_ngram *g); /* Nullable: g */
/* Widths that are asked: diagnostics of data, baselines of ladders. */
enum { LRA_NGRAM_WIDTHS = 6 };
extern const int lra_ngram_widths[LRA_NGRAM_WIDTHS];

#endif
