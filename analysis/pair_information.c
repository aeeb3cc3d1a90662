/* Information between symbols. */
#include "analysis/pair_information.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/philox.h"

enum {
    SINGLE = 16,
    PER_OCTAVE = 8,
    MULTIPLES = 8,
    SYMBOLS = 256,
    DRAWS_OF = 0x4946,
    ORDER_OF = 0x494F
};

/* ---- symbols --------------------------------------------------------------------------------- */

/* Symbols by how often they occur. */
static void rank(const lra_symbols *s, int order[SYMBOLS])
{
    int64_t count[SYMBOLS] = {0};
    for (int64_t i = 0; i < s->start[s->n]; i++) count[s->symbol[i]]++;
    for (int v = 0; v < SYMBOLS; v++) {
        int at = v;
        for (; at > 0 && count[order[at - 1]] < count[v]; at--) order[at] = order[at - 1];
        order[at] = v;
    }
}

/* The most frequent k - 1 by themselves, the rest together. */
static void merge(const int order[SYMBOLS], int k, uint8_t to[SYMBOLS])
{
    for (int v = 0; v < SYMBOLS; v++) to[order[v]] = (uint8_t)(v < k - 1 ? v : k - 1);
}

static int used(const lra_symbols *s)
{
    bool seen[SYMBOLS] = {false};
    int n = 0;
    for (int64_t i = 0; i < s->start[s->n]; i++) seen[s->symbol[i]] = true;
    for (int v = 0; v < SYMBOLS; v++) n += seen[v];
    return n;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Pairs of one distance by group: (groups, k, k). */
typedef struct {
    int k, groups;
    float *count;
} table;

static int64_t length_of(const lra_symbols *s, int64_t i)
{
    return s->start[i + 1] - s->start[i];
}

/* The other example of each place in the order of lengths: of its group and of its length, the last
 * of which has the first; one that is alone has the next longer one of its group, the longest the
 * one before.  Equal lengths, so that both have the same places.  -1: none. */
static void find_others(const lra_symbols *s, const int64_t *row, int groups, int64_t *other)
{
    for (int64_t first = 0; first < s->n && first < groups; first++)
        for (int64_t i = first, next; i < s->n; i = next) {
            int64_t last = i;
            for (next = i + groups; next < s->n; next += groups) {
                if (length_of(s, row[next]) != length_of(s, row[i])) break;
                other[last] = next, last = next;
            }
            other[last] = last > i ? i : next < s->n ? next : i >= groups ? i - groups : -1;
        }
}

static int64_t pairs_of(const lra_symbols *s, int64_t i, int64_t j, int64_t d)
{
    int64_t n = length_of(s, i) < length_of(s, j) ? length_of(s, i) : length_of(s, j);
    return n > d ? n - d : 0;
}

/* Nullable: other, the second symbol's own example. */
static void add_pairs(const lra_symbols *s, const int64_t *row, int64_t d, const int64_t *other,
                      const uint8_t *symbol, table *t)
{
    memset(t->count, 0, (size_t)(t->groups * t->k * t->k) * sizeof *t->count);
    for (int64_t i = 0; i < s->n; i++) {
        int64_t second = other ? other[i] : i;
        if (second < 0) continue;
        const uint8_t *a = symbol + s->start[row[i]], *b = symbol + s->start[row[second]] + d;
        float *to = t->count + (i % t->groups) * t->k * t->k;
        for (int64_t at = 0, n = pairs_of(s, row[i], row[second], d); at < n; at++)
            to[a[at] * t->k + b[at]]++;
    }
}

/* Bits, from one table (k,k). */
static double bits_of(int k, const float *count)
{
    double row[LRA_INFO_SYMBOLS] = {0}, column[LRA_INFO_SYMBOLS] = {0}, n = 0, sum = 0;
    int cells = 0, rows = 0, columns = 0;
    for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++) {
            double c = (double)count[a * k + b];
            row[a] += c, column[b] += c, n += c;
            cells += c > 0;
            if (c > 0) sum += c * log2(c);
        }
    if (n == 0) return NAN;
    for (int a = 0; a < k; a++) {
        rows += row[a] > 0, columns += column[a] > 0;
        if (row[a] > 0) sum -= row[a] * log2(row[a]);
        if (column[a] > 0) sum -= column[a] * log2(column[a]);
    }
    return sum / n + log2(n) - (cells - rows - columns + 1) / (2 * n * log(2));
}

/* Of groups drawn so often. */
static double bits_of_groups(const table *t, const float *times, float *sum)
{
    int cells = t->k * t->k;
    memset(sum, 0, (size_t)cells * sizeof *sum);
    for (int g = 0; g < t->groups; g++) {
        const float *from = t->count + g * cells;
        if (times[g] > 0)
            for (int c = 0; c < cells; c++) sum[c] += times[g] * from[c];
    }
    return bits_of(t->k, sum);
}

/* ---- curve ----------------------------------------------------------------------------------- */

/* What all distances share. */
typedef struct {
    const lra_symbols *s;
    int order[SYMBOLS], used, groups;
    int64_t *row;    /* by length */
    int64_t *second; /* find_others() */
    uint8_t *symbol; /* merged */
    float *times;    /* (draws, groups) */
    float *sum;
    table pair, other;
    double *excess; /* (distances, draws) */
} work;

typedef struct {
    int64_t length, row;
    uint32_t chance;
} place;

static int by_length(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->length != y->length) return (x->length > y->length) - (x->length < y->length);
    if (x->chance != y->chance) return (x->chance > y->chance) - (x->chance < y->chance);
    return (x->row > y->row) - (x->row < y->row);
}

/* By length, and among equal ones by chance: neighbours in a file may be alike, or take turns. */
static void sort_rows(const lra_symbols *s, uint64_t key, int64_t *row)
{
    place *x = lra_alloc_array((size_t)s->n + 1, sizeof *x);
    for (int64_t i = 0; i < s->n; i++) {
        lra_rng rng = lra_rng_new(key, ORDER_OF, (uint64_t)i);
        x[i] = (place){length_of(s, i), i, lra_rng_u32(&rng)};
    }
    qsort(x, (size_t)s->n, sizeof *x, by_length);
    for (int64_t i = 0; i < s->n; i++) row[i] = x[i].row;
    lra_free(x);
}

/* How often each group is drawn. */
static void draw(work *w, uint64_t key)
{
    for (int b = 0; b < LRA_INFO_DRAWS; b++) {
        lra_rng rng = lra_rng_new(key, DRAWS_OF, (uint64_t)b);
        for (int g = 0; g < w->groups; g++)
            w->times[b * w->groups + (int)lra_rng_below(&rng, (uint32_t)w->groups)]++;
    }
}

/* Nullable: other; groups, how many of them have any. */
static int64_t pairs_at(const work *w, int64_t d, const int64_t *other, int *groups)
{
    int64_t n = 0, own[LRA_INFO_GROUPS] = {0};
    for (int64_t i = 0; i < w->s->n; i++) {
        int64_t second = other ? other[i] : i;
        int64_t pairs = second < 0 ? 0 : pairs_of(w->s, w->row[i], w->row[second], d);
        n += pairs, own[i % w->groups] += pairs;
    }
    for (int g = 0; groups && g < w->groups; g++) *groups += own[g] > 0;
    return n;
}

/* False: too few pairs for two symbols, or in too few groups for an interval. */
static bool measure(work *w, int64_t d, lra_info_point *p, double *drawn)
{
    int groups = 0;
    int64_t pairs = pairs_at(w, d, NULL, NULL), others = pairs_at(w, d, w->second, &groups);
    int64_t k = (int64_t)sqrt((double)(others < pairs ? others : pairs) / LRA_INFO_PAIRS_A_CELL);
    if (k > w->used) k = w->used;
    if (k > LRA_INFO_SYMBOLS) k = LRA_INFO_SYMBOLS;
    if (k < 2 || 4 * groups < 3 * w->groups) return false;
    uint8_t to[SYMBOLS];
    merge(w->order, (int)k, to);
    for (int64_t i = 0; i < w->s->start[w->s->n]; i++) w->symbol[i] = to[w->s->symbol[i]];
    w->pair.k = w->other.k = (int)k;
    *p = (lra_info_point){.d = d, .pairs = pairs, .symbols = (int)k};
    add_pairs(w->s, w->row, d, NULL, w->symbol, &w->pair);
    add_pairs(w->s, w->row, d, w->second, w->symbol, &w->other);
    float *all = lra_alloc_array((size_t)w->groups, sizeof *all);
    for (int g = 0; g < w->groups; g++) all[g] = 1;
    p->pair = bits_of_groups(&w->pair, all, w->sum),
    p->null = bits_of_groups(&w->other, all, w->sum);
    lra_free(all);
    double value = p->pair - p->null, sorted[LRA_INFO_DRAWS];
    for (int b = 0; b < LRA_INFO_DRAWS; b++) {
        const float *times = w->times + b * w->groups;
        drawn[b] = bits_of_groups(&w->pair, times, w->sum) -
                   bits_of_groups(&w->other, times, w->sum);
        sorted[b] = drawn[b];
    }
    lra_estimate e = {value, NAN, NAN};
    if (w->groups >= LRA_INFO_LEAST_GROUPS) e = lra_percentile(value, LRA_INFO_DRAWS, sorted, 0.95);
    p->excess = lra_holding((lra_estimate){value, 2 * value - e.hi, 2 * value - e.lo});
    return true;
}

/* Both laws through the first n values, which lie above 0. */
static lra_decay fit(int n, const lra_info_point *p, const double *value)
{
    double *d = lra_alloc_array(3 * (size_t)n + 1, sizeof *d), *y = d + n, *one = y + n;
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (value[i] > 0) d[kept] = (double)p[i].d, y[kept] = value[i], one[kept++] = 1;
    lra_decay f = lra_decay_fit(kept, d, y, one);
    lra_free(d);
    return f;
}

static lra_estimate basic(double value, double *drawn)
{
    lra_estimate e = lra_percentile(value, LRA_INFO_DRAWS, drawn, 0.95);
    return lra_holding((lra_estimate){value, 2 * value - e.hi, 2 * value - e.lo});
}

/* What does not fall takes for ever. */
static double time_of(double rate)
{
    return isnan(rate) ? NAN : rate > 0 ? 1 / rate : INFINITY;
}

static void fit_all(const work *w, lra_information *x)
{
    int n = 0;
    while (n < x->n && x->point[n].excess.lo > 0) n++;
    x->d0 = n ? x->point[n - 1].d : 0;
    double *value = lra_alloc_array((size_t)n + 1, sizeof *value), alpha[LRA_INFO_DRAWS],
           slope[LRA_INFO_DRAWS];
    for (int i = 0; i < n; i++) value[i] = x->point[i].excess.value;
    x->decay = fit(n, x->point, value);
    for (int b = 0; b < LRA_INFO_DRAWS; b++) {
        for (int i = 0; i < n; i++) value[i] = w->excess[i * LRA_INFO_DRAWS + b];
        lra_decay f = fit(n, x->point, value);
        alpha[b] = f.beta, slope[b] = 1 / f.tau;
    }
    x->alpha = basic(x->decay.beta, alpha);
    lra_estimate s = basic(1 / x->decay.tau, slope);
    x->tau = (lra_estimate){time_of(s.value), time_of(s.hi), time_of(s.lo)};
    lra_free(value);
}

/* Eight an octave, whatever stands between them; every power of two is among them. */
static int64_t next_spread(int64_t d)
{
    int64_t next = d + 1;
    if (d < SINGLE) return next;
    int k = 0;
    do next = (int64_t)llround(SINGLE * exp2((double)++k / PER_OCTAVE));
    while (next <= d);
    return next;
}

static int64_t next_distance(int64_t d, int64_t period)
{
    int64_t next = next_spread(d), multiple = period ? (d / period + 1) * period : 0;
    return multiple && multiple < next && multiple <= MULTIPLES * period ? multiple : next;
}

static void find_again(lra_information *x)
{
    for (int i = 0; i < x->n; i++) {
        const lra_info_point *p = &x->point[i];
        double low = p->excess.value - 2 * (p->excess.value - p->excess.lo);
        if (p->d > x->d0 && low > 0 && (!x->again || p->excess.value > x->again->excess.value))
            x->again = p;
    }
}

lra_information *lra_information_new(const lra_symbols *s, int64_t most, int64_t period,
                                     uint64_t key)
{
    enum { CELLS = LRA_INFO_SYMBOLS * LRA_INFO_SYMBOLS };
    lra_information *x = lra_alloc(sizeof *x);
    work w = {.s = s, .used = used(s)};
    int room = 0;
    w.groups = s->n / 2 < LRA_INFO_GROUPS ? (int)(s->n / 2)
                                          : LRA_INFO_GROUPS; /* two rows of a group at least */
    if (w.groups < 1) w.groups = 1;
    for (int64_t d = 1; d <= most; d = next_distance(d, period)) room++;
    rank(s, w.order);
    w.row = lra_alloc_array((size_t)s->n + 1, sizeof *w.row);
    sort_rows(s, key, w.row);
    w.second = lra_alloc_array((size_t)s->n + 1, sizeof *w.second);
    find_others(s, w.row, w.groups, w.second);
    w.symbol = lra_alloc((size_t)s->start[s->n] + 1);
    w.times = lra_alloc_array((size_t)(LRA_INFO_DRAWS * w.groups), sizeof *w.times);
    w.sum = lra_alloc_array(CELLS, sizeof *w.sum);
    w.pair = w.other = (table){.groups = w.groups};
    w.pair.count = lra_alloc_array((size_t)w.groups * CELLS, sizeof(float));
    w.other.count = lra_alloc_array((size_t)w.groups * CELLS, sizeof(float));
    w.excess = lra_alloc_array((size_t)room * LRA_INFO_DRAWS + 1, sizeof *w.excess);
    x->point = lra_alloc_array((size_t)room + 1, sizeof *x->point);
    draw(&w, key);
    for (int64_t d = 1; d <= most; d = next_distance(d, period)) {
        if (!measure(&w, d, &x->point[x->n], w.excess + x->n * LRA_INFO_DRAWS)) break;
        x->n++;
    }
    fit_all(&w, x);
    find_again(x);
    void *const owned[] = {w.row, w.second,     w.symbol,      w.times,
                           w.sum, w.pair.count, w.other.count, w.excess};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) lra_free(owned[i]);
    return x;
}

void lra_information_free(lra_information *x)
{
    if (x) lra_free(x->point);
    lra_free(x);
}
