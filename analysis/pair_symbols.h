/* Symbols and groups of examples, shared by measures of pairs. */
#ifndef LRA_ANALYSIS_PAIR_SYMBOLS_H
#define LRA_ANALYSIS_PAIR_SYMBOLS_H

#include <stdint.h>

enum { LRA_SYMBOL_VALUES = 256 };

/* Concatenated rows of symbols; a symbol is below 256. */
typedef struct {
    int64_t n;
    const int64_t *start; /* (n+1) */
    const uint8_t *symbol;
} lra_symbols;

/* Orders all values by descending frequency; returns the number of those that occur. */
int lra_symbols_rank(const lra_symbols *s, int order[LRA_SYMBOL_VALUES]);
/* Sets the code of each value: the k - 1 most frequent ones have their own, the others one. */
void lra_symbols_merge(const int order[LRA_SYMBOL_VALUES], int k, uint8_t to[LRA_SYMBOL_VALUES]);
/* Sorts examples by length, equal lengths in random order, because neighbours in a file may be
 * similar or alternate; row: (n). */
void lra_symbols_sort(const lra_symbols *s, uint64_t key, int64_t *row);
/* Correction that is added to the upper end of an interval: a small mutual information is the
 * square of a correlation, value = r^2, with the upper end (r + half/(2r))^2 = value + half +
 * half^2 / (4 value).  At most `half`, even if the value is not clearly above 0. */
double lra_information_skew(double value, double half);

#endif
