/* Measures the mutual information between symbols at a distance. */
#include "analysis/pair_information.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distributions.h"
#include "analysis/pair_symbols.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { SINGLE = 16, PER_OCTAVE = 8, MULTIPLES = 8, DRAWS_OF = 0x4946 };

/* ---- counts ---------------------------------------------------------------------------------- */

/* Pair counts (k, k) of one distance, and the sums from which the mutual information is
 * computed. */
typedef struct {
    /* k: number of symbols; numbers of non-empty cells, rows and columns */
    int k, cells, rows, columns;
    /* n: number of pairs; sum: sum of c log2 c over the counts of cells, minus that of rows and
     * columns */
    double n, sum;
    double *count, *row, *column;
    int *touched, n_touched; /* indices of the cells in which a group has pairs */
} table;

static int64_t length_of(const lra_symbols *s, int64_t i)
{
    return s->start[i + 1] - s->start[i];
}

/* Sets other[k], the partner of the k-th example by length within its group [from, to). Examples of
 * equal length, which have the same positions, are paired cyclically: each with the next one, the
 * last with the first. An example with a unique length has the next longer example as partner, the
 * longest one the example before it. -1: there is none. */
static void find_others(const lra_symbols *s, const int64_t *row, int64_t from, int64_t to,
                        int64_t *other)
{
    for (int64_t i = from, next; i < to; i = next) {
        next = i + 1;
        while (next < to && length_of(s, row[next]) == length_of(s, row[i])) next++;
        for (int64_t k = i; k + 1 < next; k++) other[k] = k + 1;
        other[next - 1] = next - 1 > i ? i : next < to ? next : i > from ? i - 1 : -1;
    }
}

static int64_t pairs_of(const lra_symbols *s, int64_t i, int64_t j, int64_t d)
{
    int64_t n = length_of(s, i) < length_of(s, j) ? length_of(s, i) : length_of(s, j);
    return n > d ? n - d : 0;
}

static double x_log_x(double x)
{
    return x > 0 ? x * log2(x) : 0;
}

/* Returns the mutual information in bits with the Miller-Madow correction. */
static double bits_of(double n, double sum, int cells, int rows, int columns)
{
    if (!(n > 0)) return NAN;
    return sum / n + log2(n) - (cells - rows - columns + 1) / (2 * n * log(2));
}

static table new_table(void)
{
    enum { CELLS = LRA_INFO_SYMBOLS * LRA_INFO_SYMBOLS };
    return (table){.count = lra_alloc_array(CELLS, sizeof(double)),
                   .row = lra_alloc_array(LRA_INFO_SYMBOLS, sizeof(double)),
                   .column = lra_alloc_array(LRA_INFO_SYMBOLS, sizeof(double)),
                   .touched = lra_alloc_array(CELLS, sizeof(int))};
}

static void free_table(table *t)
{
    lra_free(t->count);
    lra_free(t->row);
    lra_free(t->column);
    lra_free(t->touched);
}

static void clear(table *t, int k)
{
    t->k = k, t->n = 0, t->n_touched = 0;
    memset(t->count, 0, (size_t)(k * k) * sizeof *t->count);
    memset(t->row, 0, (size_t)k * sizeof *t->row);
    memset(t->column, 0, (size_t)k * sizeof *t->column);
}

/* Computes the sums of a table from its counts. */
static void finish(table *t)
{
    t->sum = 0, t->cells = t->rows = t->columns = 0;
    for (int c = 0; c < t->k * t->k; c++) {
        t->sum += x_log_x(t->count[c]), t->cells += t->count[c] > 0;
        t->row[c / t->k] += t->count[c], t->column[c % t->k] += t->count[c], t->n += t->count[c];
    }
    for (int a = 0; a < t->k; a++) {
        t->sum -= x_log_x(t->row[a]) + x_log_x(t->column[a]);
        t->rows += t->row[a] > 0, t->columns += t->column[a] > 0;
    }
}

/* Returns the bits of the table `all` without the pairs of one group (`part`); empties `part` for
 * the next group. */
static double bits_without(const table *all, table *part)
{
    int k = all->k, cells = all->cells, rows = all->rows, columns = all->columns;
    double sum = all->sum, n = all->n;
    for (int i = 0; i < part->n_touched; i++) {
        int c = part->touched[i];
        double left = all->count[c] - part->count[c];
        sum += x_log_x(left) - x_log_x(all->count[c]), cells -= left <= 0;
        part->row[c / k] += part->count[c], part->column[c % k] += part->count[c];
        n -= part->count[c], part->count[c] = 0;
    }
    for (int a = 0; a < k && part->n_touched; a++) {
        double row = all->row[a] - part->row[a], column = all->column[a] - part->column[a];
        if (part->row[a] > 0) sum += x_log_x(all->row[a]) - x_log_x(row), rows -= row <= 0;
        if (part->column[a] > 0)
            sum += x_log_x(all->column[a]) - x_log_x(column), columns -= column <= 0;
        part->row[a] = part->column[a] = 0;
    }
    part->n_touched = 0;
    return bits_of(n, sum, cells, rows, columns);
}

/* ---- curve ----------------------------------------------------------------------------------- */

/* Data shared by all distances. */
typedef struct {
    const lra_symbols *s;
    int order[LRA_SYMBOL_VALUES], used, groups;
    int64_t *row;    /* (n) examples in the order of lengths */
    int64_t *second; /* (n) partner of each example, see find_others() */
    uint8_t *symbol; /* symbols of all rows after merging */
    float *times;    /* (draws, groups) number of occurrences of each group in each draw */
    double *without; /* (groups) excess without each group */
    double width;    /* factor on the errors of draws, which corrects for few groups */
    table pair, other, part;
    double *excess; /* (distances, draws) drawn values of the excess */
} work;

/* Returns the first example of group g. Groups are successive examples in the order of lengths. */
static int64_t group_start(const work *w, int64_t g)
{
    return w->s->n * g / w->groups;
}

/* Draws the number of occurrences of each group in each bootstrap sample. */
static void draw(work *w, uint64_t key)
{
    for (int b = 0; b < LRA_INFO_DRAWS; b++) {
        lra_rng rng = lra_rng_new(key, DRAWS_OF, (uint64_t)b);
        for (int g = 0; g < w->groups; g++)
            w->times[b * w->groups + (int)lra_rng_below(&rng, (uint32_t)w->groups)]++;
    }
}

/* Adds the pairs at distance d of the examples [from, to) to a table; the second symbol is from
 * example other[i]. list: also records the cells. Nullable: other (then from the same example). */
static void count_pairs(const work *w, int64_t from, int64_t to, int64_t d, const int64_t *other,
                        bool list, table *t)
{
    for (int64_t i = from; i < to; i++) {
        int64_t second = other ? other[i] : i;
        if (second < 0) continue;
        const uint8_t *a = w->symbol + w->s->start[w->row[i]],
                      *b = w->symbol + w->s->start[w->row[second]] + d;
        for (int64_t at = 0, n = pairs_of(w->s, w->row[i], w->row[second], d); at < n; at++) {
            int c = a[at] * t->k + b[at];
            if (list && t->count[c] == 0) t->touched[t->n_touched++] = c;
            t->count[c]++;
        }
    }
}

/* Returns the number of pairs at distance d; *groups: adds the number of groups that have any.
 * Nullable: other. */
static int64_t pairs_at(const work *w, int64_t d, const int64_t *other, int *groups)
{
    int64_t n = 0;
    for (int g = 0; g < w->groups; g++) {
        int64_t own = 0;
        for (int64_t i = group_start(w, g); i < group_start(w, g + 1); i++) {
            int64_t second = other ? other[i] : i;
            own += second < 0 ? 0 : pairs_of(w->s, w->row[i], w->row[second], d);
        }
        n += own, *groups += own > 0;
    }
    return n;
}

static lra_estimate basic(double value, double *drawn)
{
    lra_estimate e = lra_percentile(value, LRA_INFO_DRAWS, drawn, 0.95);
    return lra_holding((lra_estimate){value, 2 * value - e.hi, 2 * value - e.lo});
}

/* Draws values of the excess as a bootstrap of groups does: value + bias + error. Bias and errors
 * are those of the jackknife: without(g), the excess without group g, gives the pseudo-values G
 * value - (G - 1) without(g). Their mean is the value without bias; resampled means give the
 * errors. */
static void draw_excess(const work *w, double value, double *drawn)
{
    double G = w->groups, mean = 0;
    for (int g = 0; g < w->groups; g++) mean += (G * value - (G - 1) * w->without[g]) / G;
    for (int b = 0; b < LRA_INFO_DRAWS; b++) {
        const float *times = w->times + b * w->groups;
        double sum = 0;
        for (int g = 0; g < w->groups; g++)
            sum += (double)times[g] * (G * value - (G - 1) * w->without[g] - mean);
        drawn[b] = 2 * value - mean + w->width * sum / G;
    }
}

static void set_without(work *w, int64_t d)
{
    clear(&w->part, w->pair.k);
    for (int g = 0; g < w->groups; g++) {
        int64_t from = group_start(w, g), to = group_start(w, g + 1);
        count_pairs(w, from, to, d, NULL, true, &w->part);
        double pair = bits_without(&w->pair, &w->part);
        count_pairs(w, from, to, d, w->second, true, &w->part);
        w->without[g] = pair - bits_without(&w->other, &w->part);
    }
}

/* Returns the largest number of symbols whose table of pairs (symbols^2 cells) has on average 100
 * pairs per cell. Returns 0 if that is below two symbols, or if there are too few groups for an
 * interval. */
static int symbols_at(const work *w, int64_t pairs, int groups)
{
    int64_t k = (int64_t)sqrt((double)pairs / LRA_INFO_PAIRS_A_CELL);
    int enough = w->groups < 40 ? (3 * w->groups + 3) / 4 : 30;
    if (k > w->used) k = w->used;
    if (k > LRA_INFO_SYMBOLS) k = LRA_INFO_SYMBOLS;
    return k < 2 || groups < enough ? 0 : (int)k;
}

/* Measures one distance. Returns false if there are too few pairs for two symbols, or too few
 * groups with pairs for an interval. */
static bool measure(work *w, int64_t d, lra_info_point *p, double *drawn)
{
    int own = 0, groups = 0;
    int64_t pairs = pairs_at(w, d, NULL, &own), others = pairs_at(w, d, w->second, &groups);
    int k = symbols_at(w, others < pairs ? others : pairs, groups);
    if (k == 0) return false;
    uint8_t to[LRA_SYMBOL_VALUES];
    lra_symbols_merge(w->order, k, to);
    for (int64_t i = 0; i < w->s->start[w->s->n]; i++) w->symbol[i] = to[w->s->symbol[i]];
    *p = (lra_info_point){.d = d, .pairs = pairs, .symbols = k};
    clear(&w->pair, k);
    clear(&w->other, k);
    count_pairs(w, 0, w->s->n, d, NULL, false, &w->pair);
    count_pairs(w, 0, w->s->n, d, w->second, false, &w->other);
    finish(&w->pair);
    finish(&w->other);
    p->pair = bits_without(&w->pair, &w->part), p->null = bits_without(&w->other, &w->part);
    double value = p->pair - p->null, sorted[LRA_INFO_DRAWS];
    p->excess = (lra_estimate){value, NAN, NAN};
    if (w->groups < LRA_INFO_LEAST_GROUPS) {
        for (int b = 0; b < LRA_INFO_DRAWS; b++) drawn[b] = NAN;
        return true;
    }
    set_without(w, d);
    draw_excess(w, value, drawn);
    memcpy(sorted, drawn, sizeof sorted);
    p->excess = basic(value, sorted);
    p->excess.hi += lra_information_skew(value, p->excess.hi - value);
    return true;
}

/* Fits both decay laws to those of the first n values that are positive. */
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

/* Returns the decay constant 1 / rate; INFINITY if the rate is not positive. */
static double time_of(double rate)
{
    return isnan(rate) ? NAN : rate > 0 ? 1 / rate : INFINITY;
}

/* Sets the kind to "none" unless the law decreases to one half or less over the fitted distances
 * and the interval of its rate is positive. Periodic information is thus not a decay, even if the
 * residual is small. */
static void set_kind(lra_information *x, double rate, double least)
{
    double d = (double)x->d0, half = log(2);
    bool exponential = x->decay.kind == LRA_DECAY_EXP, power = x->decay.kind == LRA_DECAY_POWER;
    if (exponential && !(least > 0 && rate * (d - 1) >= half)) x->decay.kind = LRA_DECAY_NONE;
    if (power && !(x->alpha.lo > 0 && x->decay.beta * log(d) >= half))
        x->decay.kind = LRA_DECAY_NONE;
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
    set_kind(x, 1 / x->decay.tau, s.lo);
    lra_free(value);
}

/* Returns the next distance of a grid with eight points per octave, which contains every power of
 * two. */
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

static int groups_of(int64_t n)
{
    int64_t groups = n < 4 * LRA_INFO_GROUPS ? n / 2 : n / 4;
    if (groups > LRA_INFO_MOST_GROUPS) groups = LRA_INFO_MOST_GROUPS;
    return groups < 1 ? 1 : (int)groups;
}

static void open_work(const lra_symbols *s, int room, uint64_t key, work *w)
{
    *w = (work){.s = s, .groups = groups_of(s->n)};
    double G = w->groups;
    if (w->groups > 1)
        w->width = sqrt(G / (G - 1)) * lra_t_quantile(G - 1, 0.975) / lra_normal_quantile(0.975);
    w->used = lra_symbols_rank(s, w->order);
    w->row = lra_alloc_array((size_t)s->n + 1, sizeof *w->row);
    lra_symbols_sort(s, key, w->row);
    w->second = lra_alloc_array((size_t)s->n + 1, sizeof *w->second);
    for (int g = 0; g < w->groups; g++)
        find_others(s, w->row, group_start(w, g), group_start(w, g + 1), w->second);
    w->symbol = lra_alloc((size_t)s->start[s->n] + 1);
    w->times = lra_alloc_array((size_t)(LRA_INFO_DRAWS * w->groups), sizeof *w->times);
    w->without = lra_alloc_array((size_t)w->groups, sizeof *w->without);
    w->pair = new_table(), w->other = new_table(), w->part = new_table();
    w->excess = lra_alloc_array((size_t)room * LRA_INFO_DRAWS + 1, sizeof *w->excess);
    draw(w, key);
}

static void close_work(work *w)
{
    void *const owned[] = {w->row, w->second, w->symbol, w->times, w->without, w->excess};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) lra_free(owned[i]);
    free_table(&w->pair);
    free_table(&w->other);
    free_table(&w->part);
}

lra_information *lra_information_new(const lra_symbols *s, int64_t most, int64_t period,
                                     uint64_t key)
{
    lra_information *x = lra_alloc(sizeof *x);
    work w;
    int room = 0;
    for (int64_t d = 1; d <= most; d = next_distance(d, period)) room++;
    open_work(s, room, key, &w);
    x->point = lra_alloc_array((size_t)room + 1, sizeof *x->point);
    for (int64_t d = 1; d <= most; d = next_distance(d, period)) {
        if (!measure(&w, d, &x->point[x->n], w.excess + x->n * LRA_INFO_DRAWS)) break;
        x->n++;
    }
    fit_all(&w, x);
    find_again(x);
    close_work(&w);
    return x;
}

void lra_information_free(lra_information *x)
{
    if (x) lra_free(x->point);
    lra_free(x);
}
