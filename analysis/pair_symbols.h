/* Symbols and groups of examples, for the measures of pairs. */
#ifndef LRA_ANALYSIS_PAIR_SYMBOLS_H
#define LRA_ANALYSIS_PAIR_SYMBOLS_H

#include <stdint.h>

enum { LRA_SYMBOL_VALUES = 256 };

/* Concatenated rows of symbols; every symbol is below 256. */
typedef struct {
    int64_t n;
    const int64_t *start; /* (n+1) index of the first symbol of each row */
    const uint8_t *symbol;
} lra_symbols;

/* Orders all symbol values by descending frequency; returns the number of values that occur. */
int lra_symbols_rank(const lra_symbols *s, int order[LRA_SYMBOL_VALUES]);
/* Sets the code of each symbol value: the k - 1 most frequent values have their own codes, all
 * others share one. */
void lra_symbols_merge(const int order[LRA_SYMBOL_VALUES], int k, uint8_t to[LRA_SYMBOL_VALUES]);
/* Sorts examples by length. Examples of equal length are in random order, because successive
 * examples of a file may be similar or alternate. row: (n) indices of the examples. */
void lra_symbols_sort(const lra_symbols *s, uint64_t key, int64_t *row);
/* Returns the correction that is added to the upper end of an interval. A small mutual information
 * is the square of a correlation, value = r^2, so that its upper end is (r + half/(2r))^2 = value +
 * half + half^2 / (4 value). The correction is at most `half`, even if the value is not clearly
 * above 0. */
double lra_information_skew(double value, double half);

#endif
