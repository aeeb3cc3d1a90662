/* Decomposes attention into a positional part and a content part. */
#include "analysis/attention_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distributions.h"
#include "kernels/base/core/mem.h"

enum { CELLS = 2048, LEAST_CELLS = 64, ALL_CELLS = 1 << 20 };

struct lra_shares {
    int64_t n, T; /* n: number of examples; T: number of positions that enough examples have */
    int64_t *length;
    int64_t *from, *to;    /* (T) range of the keys of each row over all examples, `to` exclusive */
    double *n_at;          /* (T) number of examples that have each position */
    double *sum, *squares; /* (T,T) sums of X and of X^2 over examples */
    double *diagonal;      /* (n, 2T-1) sums of X_b over each diagonal i - j */
    /* (n) sums over the entries of each example: of X^2, of X^2/(n-1), and of X^2 in excluded
     * entries */
    double *total, *self, *left;
    /* Number of cells (sums) to which the entries are assigned; if it is the number of entries,
     * each entry has its own cell. */
    int64_t wide;
    /* (n, wide) sums of +-X_b in each cell; their inner products estimate inner products of X_b */
    float *sketch;
};

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the number of examples that have position t. */
static double having(const lra_shares *s, int64_t t)
{
    double n = 0;
    for (int64_t b = 0; b < s->n; b++) n += s->length[b] > t;
    return n;
}

/* Returns the number of cells per example: CELLS, reduced so that all examples together have at
 * most ALL_CELLS, but at least LEAST_CELLS, and at most one for each entry. */
static int64_t cells_of(int64_t n, int64_t T)
{
    int64_t wide = CELLS;
    while (wide > LEAST_CELLS && wide * n > ALL_CELLS) wide /= 2;
    return T * T < wide ? T * T : wide;
}

/* Returns the cell of an entry and the sign of the entry in its sum, both by a hash. */
static int64_t cell_of(const lra_shares *s, int64_t entry, double *sign)
{
    *sign = 1;
    if (s->wide == s->T * s->T) return entry;
    uint64_t h = ((uint64_t)entry + 1) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    h ^= h >> 31;
    *sign = h >> 63 ? -1 : 1;
    return (int64_t)(h & ((uint64_t)s->wide - 1));
}

int64_t lra_shares_positions(int64_t n_examples, const int64_t *length)
{
    if (n_examples < LRA_SHARES_LEAST) return 0;
    int64_t *sorted = lra_alloc_array((size_t)n_examples, sizeof *sorted);
    memcpy(sorted, length, (size_t)n_examples * sizeof *sorted);
    qsort(sorted, (size_t)n_examples, sizeof *sorted, ascending);
    int64_t T = sorted[n_examples - LRA_SHARES_LEAST];
    lra_free(sorted);
    return T;
}

lra_shares *lra_shares_new(int64_t n_examples, const int64_t *length)
{
    lra_shares *s = lra_alloc(sizeof *s);
    s->n = n_examples, s->T = lra_shares_positions(n_examples, length);
    size_t T = (size_t)s->T, n = (size_t)n_examples;
    s->length = lra_alloc_array(n + 1, sizeof *s->length);
    memcpy(s->length, length, n * sizeof *length);
    s->from = lra_alloc_array(T + 1, sizeof *s->from);
    s->to = lra_alloc_array(T + 1, sizeof *s->to);
    s->sum = lra_alloc_array(T * T + 1, sizeof *s->sum);
    s->squares = lra_alloc_array(T * T + 1, sizeof *s->squares);
    s->diagonal = lra_alloc_array(n * 2 * T + 1, sizeof *s->diagonal);
    s->n_at = lra_alloc_array(T + 1, sizeof *s->n_at);
    s->total = lra_alloc_array(3 * n + 1, sizeof *s->total);
    s->self = s->total + n, s->left = s->self + n;
    s->wide = cells_of(n_examples, s->T);
    s->sketch = lra_alloc_array(n * (size_t)s->wide + 1, sizeof *s->sketch);
    for (int64_t t = 0; t < s->T; t++) s->n_at[t] = having(s, t);
    return s;
}

void lra_shares_free(lra_shares *s)
{
    if (!s) return;
    void *array[] = {s->length,   s->from, s->to,    s->sum,   s->squares,
                     s->diagonal, s->n_at, s->total, s->sketch};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) lra_free(array[k]);
    lra_free(s);
}

/* Relative tolerance within which a weight counts as uniform, for rounding in float32. */
static const double equal_to = 1e-6;

static void add_entry(lra_shares *s, int64_t b, int64_t i, int64_t j, double x)
{
    double sign;
    int64_t cell = cell_of(s, i * s->T + j, &sign);
    s->sum[i * s->T + j] += x;
    s->squares[i * s->T + j] += x * x;
    s->total[b] += x * x;
    s->self[b] += x * x / (s->n_at[i > j ? i : j] - 1);
    s->sketch[b * s->wide + cell] += (float)(sign * x);
}

void lra_shares_row(lra_shares *s, int64_t b, int64_t i, int64_t from, int64_t n, const double *w,
                    const uint8_t *allowed)
{
    double sum = 0, keys = 0, *diagonal = s->diagonal + b * 2 * s->T + s->T - 1;
    for (int64_t k = 0; k < n; k++)
        if (allowed[k]) sum += w[k], keys++;
    if (keys == 0) return;
    if (i < s->T) {
        s->from[i] = from;
        if (from + n > s->to[i]) s->to[i] = from + n;
    }
    if (!(sum > 0) || isinf(sum)) return;
    for (int64_t k = 0; k < n; k++) {
        int64_t j = from + k;
        double x = allowed[k] ? w[k] / sum - 1 / keys : 0;
        if (fabs(x) < equal_to / keys) x = 0;
        if (i >= s->T || j >= s->T) {
            s->left[b] += x * x;
            continue;
        }
        add_entry(s, b, i, j, x);
        diagonal[i - j] += x;
    }
}

/* ---- the sums -------------------------------------------------------------------------------- */

/* Sums over each diagonal i - j. */
typedef struct {
    double *n, *sum; /* (2T-1) number of examples, summed over entries; sum of X */
    double *mean;    /* sum of X~ over the entries that examples of `length` have */
    double *residue; /* sum of S_b^2 over examples */
    double *reach;   /* number of examples that have an entry on the diagonal */
    double *entries; /* number of entries that examples of `length` have */
    int64_t length;
} diagonals;

typedef struct {
    double total, of_means, variance; /* sums over all entries: of X^2, of n X~^2, of s^2 */
} entries;

static entries add_entries(const lra_shares *s, diagonals *d)
{
    entries e = {0, 0, 0};
    for (int64_t i = 0; i < s->T; i++)
        for (int64_t j = s->from[i]; j < s->to[i] && j < s->T; j++) {
            double n = s->n_at[i > j ? i : j], x = s->sum[i * s->T + j],
                   square = s->squares[i * s->T + j];
            e.total += square;
            e.of_means += x * x / n;
            e.variance += (square - x * x / n) / (n - 1);
            d->n[i - j] += n, d->sum[i - j] += x;
        }
    return e;
}

/* Extends the sums to examples of a greater `length`: adds the entries (i,j) that shorter examples
 * do not have. */
static void grow(const lra_shares *s, diagonals *d, int64_t length)
{
    for (int64_t i = 0; i < length; i++) {
        int64_t first = i >= d->length ? s->from[i] : d->length;
        if (first < s->from[i]) first = s->from[i];
        for (int64_t j = first; j < s->to[i] && j < length; j++) {
            d->mean[i - j] += s->sum[i * s->T + j] / s->n_at[i > j ? i : j];
            d->entries[i - j] += 1;
        }
    }
    d->length = length;
}

typedef struct {
    int64_t length, b;
} example;

static int by_length(const void *a, const void *b)
{
    const example *x = a, *y = b;
    return x->length != y->length ? (x->length > y->length) - (x->length < y->length)
                                  : (x->b > y->b) - (x->b < y->b);
}

/* Adds S_b^2 to the residues of all diagonals. part: (n) receives the contribution of each example
 * to the relative share. */
static void add_residues(const lra_shares *s, diagonals *d, double *part)
{
    example *order = lra_alloc_array((size_t)s->n, sizeof *order);
    for (int64_t b = 0; b < s->n; b++) order[b] = (example){s->length[b], b};
    qsort(order, (size_t)s->n, sizeof *order, by_length);
    for (int64_t k = 0; k < s->n; k++) {
        const double *own = s->diagonal + order[k].b * 2 * s->T + s->T - 1;
        int64_t length = order[k].length < s->T ? order[k].length : s->T;
        if (length > d->length) grow(s, d, length);
        for (int64_t o = 1 - s->T; o < s->T; o++) {
            double x = own[o] - d->mean[o], has = d->entries[o], m = d->sum[o] / d->n[o];
            if (has == 0) continue;
            d->residue[o] += x * x, d->reach[o]++;
            if (d->n[o] > has)
                part[order[k].b] += 2 * own[o] * (d->sum[o] - own[o]) / (d->n[o] - has) -
                                    m * m * has;
        }
    }
    lra_free(order);
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* Sets part[b] to the first-order contribution of example b to sum n |X~|^2, without noise:
 *   2 <X_b, mean of the others> - |X~|^2 of its entries
 * The inner product is estimated from the cells, without the example's product with itself. */
static void set_parts(const lra_shares *s, double *part)
{
    double *cell = lra_alloc_array((size_t)(s->wide + s->T) + 2, sizeof *cell), sign;
    /* |X~|^2 of the entries among the first t positions, for each t */
    double *below = cell + s->wide;
    for (int64_t i = 0; i < s->T; i++)
        for (int64_t j = s->from[i]; j < s->to[i] && j < s->T; j++) {
            int64_t last = i > j ? i : j, at = cell_of(s, i * s->T + j, &sign);
            double x = s->sum[i * s->T + j], mean = x / s->n_at[last];
            cell[at] += sign * x / (s->n_at[last] - 1);
            below[last + 1] += mean * mean;
        }
    for (int64_t t = 0; t < s->T; t++) below[t + 1] += below[t];
    for (int64_t b = 0; b < s->n; b++) {
        const float *own = s->sketch + b * s->wide;
        double product = -s->self[b];
        for (int64_t k = 0; k < s->wide; k++) product += (double)own[k] * cell[k];
        part[b] = 2 * product - below[s->length[b] < s->T ? s->length[b] : s->T];
    }
    lra_free(cell);
}

/* Sets the interval of the ratio (sum of `part`) / (sum of `total`) over examples. */
static void set_interval(lra_measurement *f, int64_t n, const double *part, const double *total)
{
    double mean = 0, squares = 0, all = 0;
    for (int64_t b = 0; b < n; b++) {
        mean += (part[b] - f->value * total[b]) / (double)n;
        all += total[b];
    }
    for (int64_t b = 0; b < n; b++) {
        double x = part[b] - f->value * total[b] - mean;
        squares += x * x;
    }
    double half = lra_normal_quantile(0.975) * sqrt(squares / (double)(n - 1) * (double)n) / all;
    f->lo = f->value - half, f->hi = f->value + half;
}

/* Sets the intervals of the four shares. relative: (n) contribution of each example to
 * share.relative. */
static void set_intervals(const lra_shares *s, const double *relative, lra_measurement *out)
{
    double *part = lra_alloc_array(2 * (size_t)s->n + 1, sizeof *part), *total = part + s->n;
    set_interval(&out[0], s->n, relative, s->total);
    set_parts(s, part);
    for (int64_t b = 0; b < s->n; b++) part[b] -= relative[b];
    set_interval(&out[1], s->n, part, s->total);
    for (int64_t b = 0; b < s->n; b++) part[b] = s->total[b] - part[b] - relative[b];
    set_interval(&out[2], s->n, part, s->total);
    for (int64_t b = 0; b < s->n; b++) total[b] = s->total[b] + s->left[b];
    set_interval(&out[3], s->n, s->left, total);
    out[3].lo = fmax(out[3].lo, 0);
    lra_free(part);
}

int lra_shares_measurements(const lra_shares *s, lra_measurement *out)
{
    static const char *const id[] = {"share.relative", "share.absolute", "share.content",
                                     "share.left"};
    size_t wide = 2 * (size_t)s->T + 1;
    double *all = lra_alloc_array(6 * wide + (size_t)s->n, sizeof *all), *part = all + 6 * wide;
    double relative = 0, noise = 0, left = 0;
    diagonals d = {.length = 0};
    double **of[] = {&d.n, &d.sum, &d.mean, &d.residue, &d.reach, &d.entries};
    for (int k = 0; k < 6; k++) *of[k] = all + (size_t)k * wide + s->T;
    for (int64_t b = 0; b < s->n; b++) left += s->left[b];
    entries e = add_entries(s, &d);
    add_residues(s, &d, part);
    for (int64_t o = 1 - s->T; o < s->T; o++) {
        if (d.n[o] == 0) continue;
        relative += d.sum[o] * d.sum[o] / d.n[o];
        if (d.reach[o] > 1) noise += d.residue[o] / d.n[o] * d.reach[o] / (d.reach[o] - 1);
    }
    const double value[] = {relative - noise, e.of_means - relative - (e.variance - noise),
                            e.total - e.of_means + e.variance};
    for (int k = 0; k < 4; k++) {
        double x = k < 3 ? value[k] / e.total : left / (e.total + left);
        out[k] = lra_measurement_of(id[k], (k < 3 ? e.total > 0 : e.total + left > 0) ? x : NAN);
        out[k].examples = s->n;
        if (x < 0) out[k].flags |= LRA_NOISE;
    }
    set_intervals(s, part, out);
    lra_free(all);
    return LRA_SHARES_MEASUREMENTS;
}
