/* Shares of position and content. */
#include "analysis/attention_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"

struct lra_shares {
    int64_t n, T; /* examples; positions that enough of them have */
    int64_t *length;
    int64_t *from, *to;    /* (T) of every row: keys of any example */
    double *sum, *squares; /* (T,T) of X */
    double *diagonal;      /* (n, 2T-1) sums of X_b by i - j */
    double left;           /* sum of squares of entries left out */
};

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
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
    return s;
}

void lra_shares_free(lra_shares *s)
{
    if (!s) return;
    void *array[] = {s->length, s->from, s->to, s->sum, s->squares, s->diagonal};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) lra_free(array[k]);
    lra_free(s);
}

/* Weights that are equal to rounding in float32 are equal. */
static const double equal_to = 1e-6;

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
            s->left += x * x;
            continue;
        }
        s->sum[i * s->T + j] += x;
        s->squares[i * s->T + j] += x * x;
        diagonal[i - j] += x;
    }
}

/* ---- the sums -------------------------------------------------------------------------------- */

/* What lies on a diagonal. */
typedef struct {
    double *n, *sum; /* (2T-1) of examples; of X */
    double *mean;    /* of X~ over the entries of examples of `length` */
    double *residue; /* of S_b^2 */
    double *reach;   /* examples that have an entry there */
    double *entries; /* of examples of `length` */
    int64_t length;
} diagonals;

typedef struct {
    double total, of_means, variance; /* sum X^2; sum n X~^2; sum s^2 */
} entries;

/* How many examples have position t. */
static double having(const lra_shares *s, int64_t t)
{
    double n = 0;
    for (int64_t b = 0; b < s->n; b++) n += s->length[b] > t;
    return n;
}

static entries add_entries(const lra_shares *s, const double *n_at, diagonals *d)
{
    entries e = {0, 0, 0};
    for (int64_t i = 0; i < s->T; i++)
        for (int64_t j = s->from[i]; j < s->to[i] && j < s->T; j++) {
            double n = n_at[i > j ? i : j], x = s->sum[i * s->T + j],
                   square = s->squares[i * s->T + j];
            e.total += square;
            e.of_means += x * x / n;
            e.variance += (square - x * x / n) / (n - 1);
            d->n[i - j] += n, d->sum[i - j] += x;
        }
    return e;
}

/* Entries (i,j) that examples of `length` have, and shorter ones have not. */
static void grow(const lra_shares *s, const double *n_at, diagonals *d, int64_t length)
{
    for (int64_t i = 0; i < length; i++) {
        int64_t first = i >= d->length ? s->from[i] : d->length;
        if (first < s->from[i]) first = s->from[i];
        for (int64_t j = first; j < s->to[i] && j < length; j++) {
            d->mean[i - j] += s->sum[i * s->T + j] / n_at[i > j ? i : j];
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

static void add_residues(const lra_shares *s, const double *n_at, diagonals *d)
{
    example *order = lra_alloc_array((size_t)s->n, sizeof *order);
    for (int64_t b = 0; b < s->n; b++) order[b] = (example){s->length[b], b};
    qsort(order, (size_t)s->n, sizeof *order, by_length);
    for (int64_t k = 0; k < s->n; k++) {
        const double *own = s->diagonal + order[k].b * 2 * s->T + s->T - 1;
        int64_t length = order[k].length < s->T ? order[k].length : s->T;
        if (length > d->length) grow(s, n_at, d, length);
        for (int64_t o = 1 - s->T; o < s->T; o++) {
            double x = own[o] - d->mean[o];
            if (d->entries[o] == 0) continue;
            d->residue[o] += x * x, d->reach[o]++;
        }
    }
    lra_free(order);
}

int lra_shares_findings(const lra_shares *s, lra_finding *out)
{
    static const char *const id[] = {"share.relative", "share.absolute", "share.content",
                                     "share.left"};
    size_t wide = 2 * (size_t)s->T + 1;
    double *all = lra_alloc_array(6 * wide + (size_t)s->T, sizeof *all), *n_at = all + 6 * wide;
    double relative = 0, noise = 0;
    diagonals d = {.length = 0};
    double **part[] = {&d.n, &d.sum, &d.mean, &d.residue, &d.reach, &d.entries};
    for (int k = 0; k < 6; k++) *part[k] = all + (size_t)k * wide + s->T;
    for (int64_t t = 0; t < s->T; t++) n_at[t] = having(s, t);
    entries e = add_entries(s, n_at, &d);
    add_residues(s, n_at, &d);
    for (int64_t o = 1 - s->T; o < s->T; o++) {
        if (d.n[o] == 0) continue;
        relative += d.sum[o] * d.sum[o] / d.n[o];
        if (d.reach[o] > 1) noise += d.residue[o] / d.n[o] * d.reach[o] / (d.reach[o] - 1);
    }
    const double value[] = {relative - noise, e.of_means - relative - (e.variance - noise),
                            e.total - e.of_means + e.variance};
    for (int k = 0; k < 4; k++) {
        double x = k < 3 ? value[k] / e.total : s->left / (e.total + s->left);
        out[k] = lra_finding_of(id[k], "1",
                                (k < 3 ? e.total > 0 : e.total + s->left > 0) ? x : NAN);
        out[k].examples = s->n;
        if (x < 0) out[k].flags |= LRA_NOISE;
    }
    lra_free(all);
    return LRA_SHARES_FINDINGS;
}
