/* Statistics of outputs for perturbed inputs, with labels and without labels. */
#include "probes/influence/perturbed_answers.h"

#include <math.h>
#include <string.h>

#include "analysis/interval.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

/* ---- rows ------------------------------------------------------------------------------------ */

/* Sums the outputs of each row, separately in each of `sets` sets: (sets, n) to (sets, rows). */
static lra_sums *by_row(const lra_restricted *r, int sets, const lra_sums *x)
{
    int64_t n = sets * r->n / r->answers;
    lra_sums *sum = lra_alloc_array((size_t)n + 1, sizeof *sum);
    for (int64_t i = 0; i < n * r->answers; i++) lra_sums_add(&sum[i / r->answers], &x[i]);
    return sum;
}

/* Averages x (n) over the outputs of each row: row (n / answers). */
static void mean_by_row(const lra_restricted *r, const double *x, double *row)
{
    for (int64_t i = 0; i < r->n / r->answers; i++) {
        double sum = 0, requested = 0;
        for (int64_t k = i * r->answers; k < (i + 1) * r->answers; k++)
            if (r->full[k].n > 0) sum += x[k], requested++;
        row[i] = sum / requested;
    }
}

static void add_series(lra_sample *s, const lra_restricted *r, const double *x)
{
    double *row = lra_alloc_array((size_t)s->n + 1, sizeof *row);
    mean_by_row(r, x, row);
    lra_sample_add_rows(s, 1, (const double *const[]){row});
    lra_free(row);
}

static int64_t *index_of(const lra_restricted *r)
{
    int64_t n = r->n / r->answers, *index = lra_alloc_array((size_t)n + 1, sizeof *index);
    for (int64_t i = 0; i < n; i++) index[i] = r->index[i * r->answers];
    return index;
}

void lra_restricted_gain(const lra_influence *p, const lra_restricted *r, lra_gain *out)
{
    int64_t n = r->n / r->answers, *index = index_of(r);
    lra_sums *row = by_row(r, r->n_points, r->row), *full = by_row(r, 1, r->full);
    lra_influence_gain(p, n, index, r->n_points, r->w, row, full, out);
    lra_free(index);
    lra_free(row);
    lra_free(full);
}

lra_estimate lra_restricted_difference(const lra_influence *p, const lra_restricted *a, int point,
                                       const lra_restricted *b)
{
    int64_t n = a->n / a->answers, *index = index_of(a);
    if (b->n != a->n || memcmp(a->index, b->index, (size_t)a->n * sizeof *a->index) != 0)
        LRA_BUG("two fillers on different rows");
    lra_sums *one = by_row(a, 1, a->row + point * a->n), *other = by_row(b, 1, b->row);
    lra_sums *both = lra_alloc_array(2 * (size_t)n + 1, sizeof *both),
             *full = by_row(a, 1, a->full);
    memcpy(both, one, (size_t)n * sizeof *both);
    memcpy(both + n, other, (size_t)n * sizeof *both);
    lra_estimate x = lra_influence_difference(p, n, index, both, full);
    lra_free(index);
    lra_free(one);
    lra_free(other);
    lra_free(both);
    lra_free(full);
    return x;
}

/* ---- without labels -------------------------------------------------------------------------- */

static void add_most(const lra_gain *g, lra_probe_unit *u, int64_t n, int64_t n_answers)
{
    double kl[3 * LRA_GAIN_POINTS];
    int most = 0;
    for (int i = 0; i < g->n; i++) {
        const lra_estimate *x = &g->value[i]; /* value is -KL, so that larger is better */
        kl[3 * i] = fmax(0, -x->value), kl[3 * i + 1] = isnan(x->hi) ? NAN : fmax(0, -x->hi);
        kl[3 * i + 2] = -x->lo;
        if (kl[3 * i] > kl[3 * most]) most = i;
    }
    lra_probe_unit_array(u, "kl", 2, (int64_t[]){g->n, 3}, kl);
    lra_measurement f = lra_measurement_of("kl.most", kl[3 * most]);
    f.lo = kl[3 * most + 1], f.hi = kl[3 * most + 2], f.examples = n;
    /* the null value is the KL of the mean output; a single output equals the mean, so that it has
     * no null value */
    if (n_answers > 1) f.null[LRA_NULL_UNIFORM] = -g->chance;
    lra_probe_unit_measurements(u, 1, &f);
}

void lra_restricted_add_kl(const lra_influence *p, lra_probe_unit *u, const lra_restricted *r,
                           lra_gain *out)
{
    double *x = lra_alloc_array((size_t)r->n + 1, sizeof *x);
    lra_sample *s = lra_sample_new(r->n / r->answers, false);
    for (int k = 0; k < r->n_points; k++) {
        for (int64_t i = 0; i < r->n; i++) {
            int64_t at = k * r->n + i;
            x[i] = r->row[at].n > 0 ? -r->kl[at] / (double)r->row[at].n : 0;
        }
        add_series(s, r, x);
    }
    for (int64_t i = 0; i < r->n; i++) x[i] = 0;
    add_series(s, r, x);
    for (int64_t i = 0; i < r->n; i++) x[i] = r->entropy[i] - r->mean_entropy;
    add_series(s, r, x);
    lra_gain_compute(s, r->w, p->subject.seed, out);
    add_most(out, u, s->n, r->n);
    lra_sample_free(s);
    lra_free(x);
}

/* ---- outputs that need context --------------------------------------------------------------- */

/* Adds key.w05. The share of outputs that lose at most 2 nats is used as a gain with chance 0. */
static void add_least_keys(const lra_influence *p, lra_probe_unit *u, const lra_restricted *r,
                           lra_sample *kept)
{
    static const int share = 2; /* index in lra_gain_shares: 95 % */
    double *x = lra_alloc_array((size_t)r->n + 1, sizeof *x);
    lra_gain g;
    for (int64_t i = 0; i < r->n; i++) x[i] = 1;
    add_series(kept, r, x);
    lra_sample_add_number(kept, 0);
    lra_gain_compute(kept, r->w, p->subject.seed, &g);
    lra_measurement f = lra_measurement_of("key.w05", g.least[share].value);
    f.lo = g.least[share].lo, f.hi = g.least[share].hi, f.examples = kept->n;
    f.null[LRA_NULL_UNIFORM] = r->w[r->n_points - 1];
    if (isinf(f.value)) f.flags |= LRA_CENSORED;
    if (isinf(f.hi)) f.flags |= LRA_CENSORED_HI;
    lra_probe_unit_measurements(u, 1, &f);
    lra_free(x);
}

void lra_restricted_add_keys(const lra_influence *p, lra_probe_unit *u, const lra_restricted *r)
{
    static const double nats = 2;
    int64_t n = 0;
    double key[3 * LRA_GAIN_POINTS], rows = (double)(r->n / r->answers);
    double *kept = lra_alloc_array((size_t)r->n + 1, sizeof *kept);
    double *width = lra_alloc_array(3 * (size_t)r->n + 1, sizeof *width);
    double *index = width + r->n, *step = index + r->n;
    lra_sample *s = lra_sample_new(r->n / r->answers, true);
    for (int k = 0; k < r->n_points; k++) {
        for (int64_t i = 0; i < r->n; i++) {
            const lra_sums *x = &r->row[k * r->n + i];
            bool lost = x->n > 0 && x->loss / (double)x->n - r->full[i].loss > nats;
            kept[i] = !lost;
            if (lost) width[i] = r->w[k];
        }
        add_series(s, r, kept);
        double share = fmax(0, 1 - s->series[k].value);
        lra_estimate e = lra_wilson(share * rows, rows, 0.95);
        key[3 * k] = share, key[3 * k + 1] = e.lo, key[3 * k + 2] = e.hi;
    }
    for (int64_t i = 0; i < r->n; i++) {
        if (r->full[i].n == 0) continue;
        width[n] = width[i], index[n] = (double)r->index[i];
        step[n++] = r->step ? (double)r->step[i] : 0;
    }
    lra_probe_unit_array(u, "key", 2, (int64_t[]){r->n_points, 3}, key);
    lra_probe_unit_array(u, "rows", 1, &n, index);
    if (r->step) lra_probe_unit_array(u, "steps", 1, &n, step);
    lra_probe_unit_array(u, "width", 1, &n, width);
    add_least_keys(p, u, r, s);
    lra_sample_free(s);
    lra_free(kept);
    lra_free(width);
}
