/* Accumulates distance profiles. */
#include "analysis/profile.h"

#include <math.h>
#include <string.h>

#include "analysis/profile_impl.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum {
    SINGLE = 64,
    PER_OCTAVE = 24,
    EXAMPLES = 0x424F /* stream of random numbers; replicates.c uses the same stream */
};

/* Makes bins of distances: one for each distance up to 63, then 24 per octave; every power of 2 is
 * the end of a bin. Returns their number. Nullable: end. */
static int make_bins(int64_t n, int64_t *end)
{
    int bins = 0;
    for (int64_t d = 1; d <= SINGLE && d <= n; d++) {
        if (end) end[bins] = d;
        bins++;
    }
    for (int64_t k = 0, last = SINGLE; last < n; k++) {
        int64_t at = 1 + (int64_t)llround(SINGLE * exp2((double)k / PER_OCTAVE));
        if (at > n) at = n;
        if (at <= last) continue;
        if (end) end[bins] = at;
        bins++, last = at;
    }
    return bins;
}

lra_profile *lra_profile_new(int64_t T, int64_t columns)
{
    lra_profile *p = lra_alloc(sizeof *p);
    p->T = T, p->columns = columns;
    p->rows = lra_profile_mask_new(T, columns);
    p->n = p->rows->n;
    double **array[] = {&p->mass,       &p->mass_equal, &p->weight,      &p->equal,
                        &p->pairs,      &p->reach,      &p->weight2,     &p->weight_pairs,
                        &p->pairs2,     &p->other,      &p->other_equal, &p->row_mass,
                        &p->row_weight, &p->row_equal,  &p->row_other};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++)
        *array[k] = lra_alloc_array((size_t)p->n + 1, sizeof **array[k]);
    p->n_bins = make_bins(p->n, NULL);
    p->bin_end = lra_alloc_array((size_t)p->n_bins + 1, sizeof *p->bin_end);
    make_bins(p->n, p->bin_end);
    return p;
}

void lra_profile_period(lra_profile *p, int64_t period)
{
    p->period = period;
}

void lra_profile_free(lra_profile *p)
{
    if (!p) return;
    double *array[] = {p->mass,        p->mass_equal, p->weight,       p->equal,     p->pairs,
                       p->reach,       p->weight2,    p->weight_pairs, p->pairs2,    p->other,
                       p->other_equal, p->row_mass,   p->row_weight,   p->row_equal, p->row_other};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) lra_free(array[k]);
    lra_free(p->bin_end);
    lra_free(p->number);
    lra_free(p->binned);
    lra_profile_mask_free(p->rows);
    lra_free(p);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void clear(double *x, int64_t n)
{
    memset(x, 0, (size_t)n * sizeof *x);
}

void lra_profile_begin(lra_profile *p, int64_t T)
{
    lra_profile_mask *m = p->rows;
    double *array[] = {m->pairs,    m->equal,      m->reach,     m->other,
                       p->row_mass, p->row_weight, p->row_equal, p->row_other};
    for (int k = 0; k < 8; k++) clear(array[k], p->n);
    m->T = T;
    m->n_rows = m->n_single = m->n_other = 0;
    m->self = p->row_self = 0, p->row_lone = 0;
    m->past = m->future = m->keys = m->log_keys = 0;
    p->past = p->future = p->entropy = p->entropy_rel = p->participation = 0;
    p->row_undefined = 0;
}

/* Returns the sum of the allowed weights of a row; *keys: number of allowed inputs. */
static double row_sum(int64_t n, const double *w, int64_t *keys)
{
    double sum = 0;
    *keys = 0;
    for (int64_t j = 0; j < n; j++)
        if (!(w[j] < 0)) sum += w[j], ++*keys;
    return sum;
}

/* Adds a row without its own token i: self, p', and those of uniform weights. */
static void add_others(lra_profile *p, int64_t i, int64_t from, int64_t n, const double *w,
                       double sum, int64_t keys)
{
    lra_profile_mask *m = p->rows;
    bool own = i >= from && i < from + n && !(w[i - from] < 0);
    double all = 0;
    if (keys - own < 1) return;
    for (int64_t at = 0; at < n; at++)
        if (!(w[at] < 0) && from + at != i) all += w[at];
    m->n_other++, m->self += own ? 1 / (double)keys : 0;
    p->row_self += own ? w[i - from] / sum : 0;
    if (all / sum < LRA_PROFILE_LONE) {
        p->row_lone++;
        return;
    }
    for (int64_t at = 0; at < n; at++) {
        if (w[at] < 0 || from + at == i) continue;
        int64_t d = lra_profile_distance(p->columns, i, from + at);
        p->row_other[d] += w[at] / all, m->other[d] += 1 / (double)(keys - own);
    }
}

void lra_profile_row(lra_profile *p, int64_t i, int64_t from, int64_t n, const double *w)
{
    lra_profile_mask *m = p->rows;
    int64_t keys, farthest = -1;
    double sum = row_sum(n, w, &keys), before = 0, after = 0, entropy = 0, squares = 0;
    if (keys == 0) return;
    if (!(sum > 0) || !isfinite(sum)) {
        p->row_undefined++;
        return;
    }
    double share = 1 / (double)keys, past = 0, future = 0;
    for (int64_t at = 0; at < n; at++) {
        if (w[at] < 0) continue;
        int64_t j = from + at, d = lra_profile_distance(p->columns, i, j);
        double x = w[at] / sum;
        p->row_mass[d] += x, p->row_weight[d] += w[at], p->row_equal[d] += sum * share;
        m->pairs[d] += 1, m->equal[d] += share;
        if (d > farthest) farthest = d;
        if (j < i) past += x, before += share;
        if (j > i) future += x, after += share;
        if (x > 0) entropy -= x * log(x);
        squares += x * x;
    }
    for (int64_t d = 0; d <= farthest; d++) m->reach[d] += 1;
    add_others(p, i, from, n, w, sum, keys);
    m->n_rows++, m->n_single += keys == 1;
    m->past += before, m->future += after;
    m->keys += (double)keys, m->log_keys += log((double)keys);
    p->past += past, p->future += future;
    p->entropy += entropy, p->participation += 1 / squares;
    if (keys > 1) p->entropy_rel += entropy / log((double)keys);
}

void lra_profile_end(lra_profile *p)
{
    const lra_profile_mask *m = p->rows;
    double n = (double)m->n_rows, several = (double)(m->n_rows - m->n_single);
    const lra_profile_sums s = {.mask = m,
                                .mass = p->row_mass,
                                .intensity = p->row_weight,
                                .equal = p->row_equal,
                                .other = p->row_other,
                                .self = p->row_self / (double)m->n_other,
                                .lone = p->row_lone,
                                .past = p->past / n,
                                .future = p->future / n,
                                .entropy = p->entropy / n,
                                .entropy_rel = several > 0 ? p->entropy_rel / several : NAN,
                                .participation = p->participation / n,
                                .undefined = p->row_undefined};
    lra_profile_add(p, &s);
}

/* ---- examples -------------------------------------------------------------------------------- */

static void grow(lra_profile *p)
{
    if (p->examples < p->capacity) return;
    p->capacity = p->capacity ? 2 * p->capacity : 1;
    p->number = lra_resize(p->number, (size_t)p->capacity * P_NUMBERS * sizeof *p->number);
    p->binned = lra_resize(p->binned,
                           (size_t)p->capacity * (size_t)p->n_bins * P_BINNED * sizeof *p->binned);
}

/* Computes the intensity at multiples of the period, and the mean intensity of the two neighbouring
 * distances. */
static void add_period(int64_t period, const lra_profile_mask *m, const double *weight, double *to)
{
    to[P_PERIOD] = to[P_ADJACENT] = 0;
    for (int64_t d = period; period > 1 && d + 1 < m->n; d += period) {
        if (!(m->pairs[d - 1] > 0 && m->pairs[d] > 0 && m->pairs[d + 1] > 0)) continue;
        to[P_PERIOD] += weight[d] / m->pairs[d];
        to[P_ADJACENT] += (weight[d - 1] / m->pairs[d - 1] + weight[d + 1] / m->pairs[d + 1]) / 2;
    }
}

static void add_numbers(const lra_profile_sums *s, const double *mass, const double *equal,
                        double *to)
{
    const lra_profile_mask *m = s->mask;
    double rows = (double)m->n_rows;
    int64_t last = lra_profile_distance(m->columns, 0, m->T - 1);
    to[P_MEAN] = to[P_MEAN_EQUAL] = to[P_FAR] = to[P_FAR_EQUAL] = 0;
    for (int64_t d = 0; d < m->n; d++) {
        to[P_MEAN] += (double)d * mass[d], to[P_MEAN_EQUAL] += (double)d * equal[d];
        bool far = m->columns ? 2 * d >= last + 1 : 2 * d >= m->T;
        if (far) to[P_FAR] += mass[d], to[P_FAR_EQUAL] += equal[d];
    }
    to[P_PAST] = s->past, to[P_FUTURE] = s->future;
    to[P_PAST_EQUAL] = m->past / rows, to[P_FUTURE_EQUAL] = m->future / rows;
    to[P_ENTROPY] = s->entropy, to[P_ENTROPY_REL] = s->entropy_rel;
    to[P_PARTICIPATION] = s->participation;
    to[P_KEYS] = m->keys / rows, to[P_LOG_KEYS] = m->log_keys / rows;
}

/* Computes M' of an example and that of uniform weights on the same rows, (n) each; returns false
 * if no row defines it. */
static bool others_of(const lra_profile_sums *s, double *other, double *equal)
{
    const lra_profile_mask *m = s->mask;
    const double *null = s->other_equal ? s->other_equal : m->other;
    double sum = 0, null_sum = 0;
    for (int64_t d = 1; d < m->n && s->other; d++) sum += s->other[d], null_sum += null[d];
    bool defined = sum > 0 && isfinite(sum) && null_sum > 0;
    other[0] = equal[0] = 0;
    for (int64_t d = 1; d < m->n; d++) {
        other[d] = defined ? s->other[d] / sum : 0;
        equal[d] = defined ? null[d] / null_sum : 0;
    }
    return defined;
}

/* Adds M' of one example to the sums over all examples. */
static void add_example_others(lra_profile *p, const lra_profile_sums *s, double *to)
{
    const lra_profile_mask *m = s->mask;
    double *other = lra_alloc_array(2 * (size_t)m->n + 1, sizeof *other), *equal = other + m->n;
    float *bin = p->binned + (p->examples * P_BINNED + P_OTHER) * p->n_bins;
    bool defined = others_of(s, other, equal);
    to[P_SELF] = m->n_other > 0 ? s->self : NAN;
    to[P_SELF_EQUAL] = m->n_other > 0 ? m->self / (double)m->n_other : NAN;
    to[P_DIST] = to[P_DIST_EQUAL] = defined ? 0 : NAN;
    p->n_other += defined, p->lone += s->lone;
    for (int64_t d = 1; d < m->n && defined; d++) {
        to[P_DIST] += (double)d * other[d], to[P_DIST_EQUAL] += (double)d * equal[d];
        p->other[d] += other[d], p->other_equal[d] += equal[d];
    }
    for (int64_t k = 0, d = 0; k < p->n_bins; k++) {
        double sum = 0;
        for (; d < p->bin_end[k] && d < m->n; d++) sum += other[d];
        bin[k] = (float)sum;
    }
    lra_free(other);
}

/* Adds one example to the sums over all examples. */
static void add_sums(lra_profile *p, const lra_profile_mask *m, const double *mass,
                     const double *weight, const double *equal)
{
    for (int64_t d = 0; d < m->n; d++) {
        p->mass[d] += mass[d], p->mass_equal[d] += m->equal[d] / (double)m->n_rows;
        p->weight[d] += weight[d], p->equal[d] += equal[d];
        p->pairs[d] += m->pairs[d], p->reach[d] += m->reach[d];
        p->weight2[d] += weight[d] * weight[d];
        p->weight_pairs[d] += weight[d] * m->pairs[d];
        p->pairs2[d] += m->pairs[d] * m->pairs[d];
    }
    float *bin = p->binned + p->examples * p->n_bins * P_BINNED;
    for (int64_t k = 0, d = 0; k < p->n_bins; k++) {
        double sum[P_BINNED] = {0};
        for (; d < p->bin_end[k] && d < m->n; d++)
            sum[P_MASS] += mass[d], sum[P_WEIGHT] += weight[d], sum[P_EQUAL] += equal[d];
        for (int q = 0; q < P_BINNED; q++)
            if (q != P_OTHER) bin[q * p->n_bins + k] = (float)sum[q];
    }
}

void lra_profile_add(lra_profile *p, const lra_profile_sums *s)
{
    const lra_profile_mask *m = s->mask;
    double sum = 0, rows = (double)m->n_rows;
    p->undefined += s->undefined;
    for (int64_t d = 0; d < m->n; d++) sum += s->mass[d];
    if (m->n_rows == 0 || !(sum > 0) || !isfinite(sum)) {
        p->undefined += m->n_rows;
        return;
    }
    grow(p);
    double *mass = lra_alloc_array(3 * (size_t)m->n + 1, sizeof *mass);
    double *share = mass + m->n, *weight = share + m->n;
    for (int64_t d = 0; d < m->n; d++) {
        mass[d] = s->mass[d] / sum, share[d] = m->equal[d] / rows;
        weight[d] = s->intensity ? s->intensity[d] : mass[d] * rows;
    }
    double *number = p->number + p->examples * P_NUMBERS;
    add_numbers(s, mass, share, number);
    add_period(p->period, m, weight, number);
    add_sums(p, m, mass, weight, s->intensity ? s->equal : m->equal);
    add_example_others(p, s, number);
    p->examples++;
    lra_free(mass);
}

/* ---- read ------------------------------------------------------------------------------------ */

int64_t lra_profile_distances(const lra_profile *p)
{
    return p->n;
}

/* Relative half width of the interval of I at a distance; I is a ratio of sums over examples. */
static double intensity_half(const lra_profile *p, int64_t d)
{
    double n = (double)p->examples, i = p->weight[d] / p->pairs[d];
    double squares = p->weight2[d] - 2 * i * p->weight_pairs[d] + i * i * p->pairs2[d];
    if (p->examples < 2) return NAN;
    return 1.959963984540054 * sqrt(fmax(squares, 0) * n / (n - 1)) / p->weight[d];
}

void lra_profile_curves(const lra_profile *p, double *mass, double *equal_mass, double *rel,
                        double *lo, double *hi)
{
    double n = (double)p->examples;
    for (int64_t d = 0; d < p->n; d++) {
        bool pairs = p->pairs[d] > 0 && p->equal[d] > 0;
        double r = pairs ? p->weight[d] / p->equal[d] : NAN;
        double half = pairs && p->weight[d] > 0 ? intensity_half(p, d) : NAN;
        if (mass) mass[d] = p->mass[d] / n;
        if (equal_mass) equal_mass[d] = p->mass_equal[d] / n;
        if (rel) rel[d] = r;
        if (lo) lo[d] = r * (1 - half);
        if (hi) hi[d] = r * (1 + half);
    }
}

void lra_profile_others(const lra_profile *p, double *mass, double *equal_mass)
{
    double n = (double)p->n_other;
    for (int64_t d = 0; d < p->n; d++) {
        if (mass) mass[d] = n > 0 ? p->other[d] / n : NAN;
        if (equal_mass) equal_mass[d] = n > 0 ? p->other_equal[d] / n : NAN;
    }
}

double lra_profile_mean(const lra_profile *p, int number)
{
    double sum = 0, n = 0;
    for (int64_t b = 0; b < p->examples; b++) {
        double x = p->number[b * P_NUMBERS + number];
        if (!isnan(x)) sum += x, n++;
    }
    return sum / n;
}

void lra_profile_redraw(int64_t n, uint64_t key, int b, double *count)
{
    lra_rng rng = lra_rng_new(key, EXAMPLES, (uint64_t)b);
    clear(count, n);
    for (int64_t i = 0; i < n; i++) count[lra_rng_below(&rng, (uint32_t)n)] += 1;
}

void lra_profile_binned_sum(const lra_profile *p, int quantity, const double *count, double *out)
{
    clear(out, p->n_bins);
    for (int64_t b = 0; b < p->examples; b++) {
        const float *from = p->binned + (b * P_BINNED + quantity) * p->n_bins;
        if (count[b] > 0)
            for (int k = 0; k < p->n_bins; k++) out[k] += count[b] * (double)from[k];
    }
}
