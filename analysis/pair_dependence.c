/* Measures how much symbols at a distance depend on each other, given their positions. */
#include "analysis/pair_dependence.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distributions.h"
#include "analysis/pair_symbols.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { DRAWS = LRA_DEPENDENCE_DRAWS, LEAST_DRAWS = 19, NULL_OF = 0x4944 };

/* A group of `size` examples, from index `from` on in the order of lengths; places: number of
 * positions that all of them have. */
typedef struct {
    int64_t from, places;
} group;

typedef struct {
    const lra_symbols *s;
    int64_t d, pairs, width, n_places; /* width: number of positions per stratum */
    int k, strata, n_groups, size;     /* size: number of examples per group */
    group *group;
    int64_t *row;
    uint8_t code[LRA_SYMBOL_VALUES];
    int *own, *other; /* (strata, k, k) counts of P and of Q */
    /* counts of one group; indices of the cells that it changed */
    int *own_of, *other_of, *touched, n_touched;
} work;

static int64_t n_cells(const work *w)
{
    return (int64_t)w->strata * w->k * w->k;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void find_groups(work *w)
{
    const lra_symbols *s = w->s;
    int n = 0;
    for (int g = 0; g < w->n_groups; g++) {
        group x = {.from = (int64_t)g * w->size};
        int64_t shortest = INT64_MAX;
        for (int64_t i = x.from; i < x.from + w->size; i++) {
            int64_t length = s->start[w->row[i] + 1] - s->start[w->row[i]];
            if (length < shortest) shortest = length;
        }
        x.places = shortest - w->d;
        if (x.places <= 0) continue;
        w->group[n++] = x;
        w->pairs += w->size * x.places;
        if (x.places > w->n_places) w->n_places = x.places;
    }
    w->n_groups = n;
}

/* Returns the maximum number of strata (at least 1) such that in each of them Q is expected to have
 * five pairs of the rarest of k symbols with itself. Cells that Q never has would make the
 * divergence too small. */
static int64_t rare_strata(const work *w, const int order[LRA_SYMBOL_VALUES])
{
    int64_t count[LRA_SYMBOL_VALUES] = {0}, n = w->s->start[w->s->n];
    uint8_t code[LRA_SYMBOL_VALUES];
    lra_symbols_merge(order, w->k, code);
    for (int64_t i = 0; i < n; i++) count[code[w->s->symbol[i]]]++;
    double rarest = 1;
    for (int v = 0; v < w->k; v++) rarest = fmin(rarest, (double)count[v] / (double)n);
    double strata = (w->size - 1) * (double)w->pairs * rarest * rarest / 5;
    return strata < 1 ? 1 : (int64_t)fmin(strata, 1e9);
}

/* Sets the number of symbols and strata; returns false if there are too few pairs for two
 * symbols. */
static bool choose_cells(work *w, int used, const int order[LRA_SYMBOL_VALUES])
{
    int64_t cells = w->pairs / LRA_INFO_PAIRS_A_CELL;
    int most = (int)sqrt((double)cells);
    w->k = used < LRA_DEPENDENCE_SYMBOLS ? used : LRA_DEPENDENCE_SYMBOLS;
    if (w->k > most) w->k = most;
    if (w->k < 2) return false;
    int64_t strata = cells / (w->k * w->k);
    if (strata > rare_strata(w, order)) strata = rare_strata(w, order);
    if (strata > w->n_places) strata = w->n_places;
    w->width = (w->n_places + strata - 1) / strata;
    w->strata = (int)((w->n_places + w->width - 1) / w->width);
    /* every position is its own stratum: the remaining pairs allow more symbols */
    if (w->width == 1) {
        most = (int)sqrt((double)(cells / w->strata));
        if (most > used) most = used;
        if (most > LRA_INFO_SYMBOLS) most = LRA_INFO_SYMBOLS;
        if (most > w->k) w->k = most;
    }
    return true;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Counts the pairs of each example of a group with the example `shift` positions later in the group
 * (cyclic). list: also appends cells that were empty in own_of and other_of to `touched`. */
static void count_shift(work *w, const group *g, int shift, int *count, bool list)
{
    int64_t n = w->size;
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *a = w->s->symbol + w->s->start[w->row[g->from + i]],
                      *b = w->s->symbol + w->s->start[w->row[g->from + (i + shift) % n]] + w->d;
        int *at = count;
        for (int64_t t = 0, in = 0; t < g->places; t++) {
            int *cell = at + w->code[a[t]] * w->k + w->code[b[t]];
            int64_t c = cell - count;
            if (list && w->own_of[c] == 0 && w->other_of[c] == 0)
                w->touched[w->n_touched++] = (int)c;
            ++*cell;
            if (++in == w->width) in = 0, at += w->k * w->k;
        }
    }
}

/* Contribution of a cell to the divergence: own log2(own (size - 1) / other), where own and other
 * are the counts of P and Q. Q counts size - 1 pairs for each pair of P. A count of 0 in Q is
 * replaced by 1/2. */
static double term(double own, double other, double size)
{
    return own > 0 ? own * log2(own * (size - 1) / (other > 0 ? other : 0.5)) : 0;
}

/* Returns the divergence, not divided by the number of pairs. */
static double divergence(const work *w, const int *own, const int *other)
{
    double sum = 0;
    for (int64_t c = 0; c < n_cells(w); c++) sum += term(own[c], other[c], w->size);
    return sum;
}

/* Sets without[g] to the divergence in bits without group g. */
static void leave_out(work *w, double sum, double *without)
{
    for (int g = 0; g < w->n_groups; g++) {
        const group *x = &w->group[g];
        double left = sum;
        w->n_touched = 0;
        count_shift(w, x, 0, w->own_of, true);
        for (int s = 1; s < w->size; s++) count_shift(w, x, s, w->other_of, true);
        for (int i = 0; i < w->n_touched; i++) {
            int c = w->touched[i];
            left += term(w->own[c] - w->own_of[c], w->other[c] - w->other_of[c], w->size) -
                    term(w->own[c], w->other[c], w->size);
            w->own_of[c] = w->other_of[c] = 0;
        }
        without[g] = left / (double)(w->pairs - w->size * x->places);
    }
}

/* ---- null ------------------------------------------------------------------------------------ */

/* Returns the p-value of the divergence `bits`; *spread: 1.96 standard deviations of the null
 * draws. Drawing stops as soon as p exceeds 0.05. */
static double test(work *w, double bits, uint64_t key, double *spread)
{
    size_t cells = (size_t)n_cells(w);
    int *own = lra_alloc_array(2 * cells, sizeof *own), *other = own + cells, above = 1, b = 0;
    double mean = 0, squares = 0;
    for (; b < DRAWS && (b < LEAST_DRAWS || above <= 0.05 * (DRAWS + 1)); b++) {
        lra_rng rng = lra_rng_new(key, NULL_OF, (uint64_t)b);
        memset(own, 0, cells * sizeof *own);
        for (int g = 0; g < w->n_groups; g++) {
            int shift = (int)lra_rng_below(&rng, (uint32_t)w->size);
            count_shift(w, &w->group[g], shift, own, false);
        }
        for (size_t c = 0; c < cells; c++) other[c] = w->own[c] + w->other[c] - own[c];
        double x = divergence(w, own, other) / (double)w->pairs, step = x - mean;
        above += x >= bits * (1 - 1e-12);
        mean += step / (b + 1), squares += step * (x - mean);
    }
    *spread = lra_normal_quantile(0.975) * sqrt(squares / (b - 1));
    lra_free(own);
    return above / (double)(b + 1);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void set_interval(work *w, double sum, uint64_t key, lra_dependence *to)
{
    double G = w->n_groups, plain = sum / (double)w->pairs, mean = 0, squares = 0, spread;
    double *without = lra_alloc_array((size_t)w->n_groups, sizeof *without);
    leave_out(w, sum, without);
    for (int g = 0; g < w->n_groups; g++) mean += (G * plain - (G - 1) * without[g]) / G;
    for (int g = 0; g < w->n_groups; g++) {
        double x = G * plain - (G - 1) * without[g] - mean;
        squares += x * x;
    }
    lra_free(without);
    double half = lra_t_quantile(G - 1, 0.985) * sqrt(squares / (G - 1) / G);
    to->p = test(w, plain, key, &spread);
    to->bits.value = fmax(mean, 0);
    to->bits.lo = to->p > 0.05 ? 0 : fmin(fmax(mean - half, 0), to->bits.value);
    to->bits.hi = fmax(to->bits.value + fmax(half, 0), to->bits.value + spread) +
                  lra_information_skew(to->bits.value, half);
}

static void allocate(work *w)
{
    size_t cells = (size_t)n_cells(w);
    w->own = lra_alloc_array(5 * cells, sizeof *w->own);
    w->other = w->own + cells, w->own_of = w->other + cells, w->other_of = w->own_of + cells;
    w->touched = w->other_of + cells;
}

lra_dependence lra_pair_dependence(const lra_symbols *s, int64_t d, uint64_t key)
{
    lra_dependence out = {.bits = {NAN, NAN, NAN}, .p = NAN};
    int order[LRA_SYMBOL_VALUES], used = lra_symbols_rank(s, order);
    work w = {.s = s, .d = d, .size = 4, .n_groups = (int)(s->n / 4)};
    w.row = lra_alloc_array((size_t)s->n + 1, sizeof *w.row);
    w.group = lra_alloc_array((size_t)w.n_groups + 1, sizeof *w.group);
    lra_symbols_sort(s, key, w.row);
    find_groups(&w);
    if (choose_cells(&w, used, order)) {
        lra_symbols_merge(order, w.k, w.code);
        allocate(&w);
        for (int g = 0; g < w.n_groups; g++)
            for (int shift = 0; shift < w.size; shift++)
                count_shift(&w, &w.group[g], shift, shift ? w.other : w.own, false);
        double sum = divergence(&w, w.own, w.other);
        out.pairs = w.pairs, out.symbols = w.k, out.strata = w.strata;
        out.bits.value = fmax(sum / (double)w.pairs, 0);
        if (w.n_groups >= LRA_INFO_GROUPS) set_interval(&w, sum, key, &out);
        lra_free(w.own);
    }
    lra_free(w.row);
    lra_free(w.group);
    return out;
}
