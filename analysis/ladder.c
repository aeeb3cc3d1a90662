/* The ladder. */
#include "analysis/ladder.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_block.h>
#include <gsl/gsl_vector.h>

/* ---- point values from accuracies ------------------------------------------------------------------------ */

/* What is computed anew in every replicate. */
typedef struct {
    double gain[LRA_LADDER_MAX_RUNGS];
    double li, li_raw, difference;
    double radius[LRA_LADDER_RADII];
} curve;

static const double radius_points[LRA_LADDER_RADII] = {0.01, 0.02, 0.05};

static int64_t clipped(const lra_ladder_data *d, int r)
{
    return d->rung[r].reach > d->T || d->rung[r].reach < 0 ? d->T : d->rung[r].reach;
}

static int first_rung(const lra_ladder_data *d)
{
    int r = 0;
    while (r < d->n_rungs && clipped(d, r) == 0) r++;
    return r;
}

static bool has_reference_run(const lra_ladder_data *d)
{
    return d->reference_correct || d->reference_row;
}

/* accuracy: of the rungs, then of the reference run where there is one. */
static double reference_of(const lra_ladder_data *d, const double *accuracy)
{
    if (has_reference_run(d)) return accuracy[d->n_rungs];
    return isnan(d->reference) ? accuracy[d->n_rungs - 1] : d->reference;
}

/* Smallest R whose accuracy is within `points` of the reference, linear in log2 R between rungs. */
static double radius(const lra_ladder_data *d, const double *accuracy, double points)
{
    double wanted = reference_of(d, accuracy) - points;
    int first = first_rung(d);
    for (int r = first; r < d->n_rungs; r++) {
        if (accuracy[r] < wanted) continue;
        double here = log2((double)clipped(d, r));
        if (r == first) return exp2(here);
        double before = log2((double)clipped(d, r - 1));
        double share = (wanted - accuracy[r - 1]) / (accuracy[r] - accuracy[r - 1]);
        return exp2(before + share * (here - before));
    }
    return INFINITY;
}

static void evaluate(const lra_ladder_data *d, const double *accuracy, curve *c)
{
    double span = reference_of(d, accuracy) - d->chance, best = 0;
    int first = first_rung(d), last = d->n_rungs - 1;
    double width = log2((double)d->T) - log2((double)clipped(d, first));
    c->li = c->li_raw = 0;
    for (int r = 0; r < d->n_rungs; r++) {
        c->gain[r] = (accuracy[r] - d->chance) / span;
        if (r < first) continue;
        best = fmax(best, fmin(fmax(c->gain[r], 0), 1));
        int64_t next = r == last ? d->T : clipped(d, r + 1);
        double step = log2((double)next) - log2((double)clipped(d, r));
        c->li += best * step / width;
        c->li_raw += c->gain[r] * step / width;
    }
    if (width <= 0) c->li = c->li_raw = NAN; /* a single rung at T */
    c->difference = accuracy[last] - accuracy[first];
    double unit = d->measure ? fabs(span) : 1;
    for (int i = 0; i < LRA_LADDER_RADII; i++)
        c->radius[i] = radius(d, accuracy, unit * radius_points[i]);
}

static double share(const uint8_t *correct, int64_t n)
{
    int64_t right = 0;
    for (int64_t i = 0; i < n; i++) right += correct[i];
    return (double)right / (double)n;
}

/* ---- bootstrap ------------------------------------------------------------------------------------------- */

/* What is drawn together: the rungs and the reference run. */
static int n_drawn(const lra_ladder_data *d)
{
    return d->n_rungs + has_reference_run(d);
}

/* pattern[s*n + i]: bit r is set when rung r is right on example i with seed s. */
static void pack(const lra_ladder_data *d, uint32_t *pattern)
{
    for (int s = 0; s < d->n_seeds; s++)
        for (int64_t i = 0; i < d->n; i++) {
            uint32_t bits = 0;
            for (int r = 0; r < d->n_rungs; r++)
                if (d->rung[r].correct[s][i]) bits |= (uint32_t)1 << r;
            if (d->reference_correct && d->reference_correct[i]) bits |= (uint32_t)1 << d->n_rungs;
            pattern[s * d->n + i] = bits;
        }
}

static uint32_t below(uint32_t word, int64_t n)
{
    return (uint32_t)(((uint64_t)word * (uint64_t)n) >> 32);
}

/* Accuracies of one replicate: counts of patterns among the drawn examples, then of rungs.  The examples are
 * drawn once for all seeds: they are the same test set, and what is hard for one seed is hard for all. */
static void draw(const lra_ladder_data *d, int replicate, const uint32_t *pattern, uint32_t *word,
                 uint32_t *count, double *accuracy)
{
    size_t n_patterns = (size_t)1 << n_drawn(d);
    int64_t n = d->n;
    memset(count, 0, n_patterns * sizeof *count);
    d->words(d->key, (uint64_t)replicate, n + d->n_seeds, word);
    for (int s = 0; s < d->n_seeds; s++) {
        int64_t seed = d->n_seeds >= 3 ? (int64_t)below(word[n + s], d->n_seeds) : s;
        const uint32_t *row = pattern + seed * n;
        for (int64_t i = 0; i < n; i++) count[row[below(word[i], n)]]++;
    }
    for (int r = 0; r < n_drawn(d); r++) {
        double right = 0;
        for (size_t p = 0; p < n_patterns; p++)
            if (p >> r & 1) right += count[p];
        accuracy[r] = right / ((double)n * d->n_seeds);
    }
}

/* The same of a measure: every rung on the same rows and seeds. */
static void draw_rows(const lra_ladder_data *d, int replicate, uint32_t *word, double *value)
{
    d->words(d->key, (uint64_t)replicate, d->n + d->n_seeds, word);
    for (int r = 0; r < n_drawn(d); r++) {
        value[r] = 0;
        for (int s = 0; s < d->n_seeds; s++) {
            uint32_t drawn = below(word[d->n + s], d->n_seeds);
            const double *row = r == d->n_rungs ? d->reference_row
                                                : d->rung[r].row[d->n_seeds >= 3 ? (int)drawn : s];
            value[r] += lra_measure_rows(d->measure, row, word) / d->n_seeds;
        }
    }
}

/* Columns of the table of replicates. */
static int columns(const lra_ladder_data *d)
{
    return 2 * d->n_rungs + 3 + LRA_LADDER_RADII;
}

static void keep(const lra_ladder_data *d, const double *accuracy, const curve *c, double *table,
                 int replicate)
{
    int B = d->n_replicates, at = 0;
    for (int r = 0; r < d->n_rungs; r++) table[at++ * B + replicate] = accuracy[r];
    for (int r = 0; r < d->n_rungs; r++) table[at++ * B + replicate] = c->gain[r];
    table[at++ * B + replicate] = c->li;
    table[at++ * B + replicate] = c->li_raw;
    table[at++ * B + replicate] = c->difference;
    for (int i = 0; i < LRA_LADDER_RADII; i++) table[at++ * B + replicate] = c->radius[i];
}

static void set_intervals(const lra_ladder_data *d, double *table, lra_ladder *out)
{
    int B = d->n_replicates, at = 0;
    for (int r = 0; r < d->n_rungs; r++, at++)
        out->row[r].accuracy = lra_percentile(out->row[r].accuracy.value, B, table + at * B, 0.95);
    for (int r = 0; r < d->n_rungs; r++, at++)
        out->row[r].gain = lra_percentile(out->row[r].gain.value, B, table + at * B, 0.95);
    lra_estimate *scalar[] = {&out->li,        &out->li_raw,    &out->widest_minus_narrowest,
                              &out->radius[0], &out->radius[1], &out->radius[2]};
    for (int i = 0; i < 3 + LRA_LADDER_RADII; i++, at++)
        *scalar[i] = lra_percentile(scalar[i]->value, B, table + at * B, 0.95);
}

static int bootstrap(const lra_ladder_data *d, lra_ladder *out)
{
    size_t n = (size_t)(d->n + 1) * (size_t)d->n_seeds, B = (size_t)d->n_replicates;
    gsl_block_uint *pattern = gsl_block_uint_alloc(n), *word = gsl_block_uint_alloc(n);
    gsl_block_uint *count = gsl_block_uint_alloc((size_t)1 << (d->measure ? 0 : n_drawn(d)));
    gsl_block *table = gsl_block_alloc((size_t)columns(d) * B);
    int rc = pattern && word && count && table ? LRA_LADDER_OK : LRA_LADDER_NO_MEMORY;
    if (rc == LRA_LADDER_OK) {
        if (!d->measure) pack(d, pattern->data);
        for (int b = 0; b < d->n_replicates; b++) {
            double accuracy[LRA_LADDER_MAX_RUNGS + 1];
            curve c;
            if (d->measure)
                draw_rows(d, b, word->data, accuracy);
            else
                draw(d, b, pattern->data, word->data, count->data, accuracy);
            evaluate(d, accuracy, &c);
            keep(d, accuracy, &c, table->data, b);
        }
        set_intervals(d, table->data, out);
    }
    if (pattern) gsl_block_uint_free(pattern);
    if (word) gsl_block_uint_free(word);
    if (count) gsl_block_uint_free(count);
    if (table) gsl_block_free(table);
    return rc;
}

/* ---- the ladder ------------------------------------------------------------------------------------------ */

static int check(const lra_ladder_data *d, lra_ladder *out)
{
    if (d->n_rungs < 1 || first_rung(d) == d->n_rungs) return LRA_LADDER_EMPTY;
    for (int r = 1; r < d->n_rungs; r++)
        if (clipped(d, r) == clipped(d, r - 1)) {
            out->row[0].kernel = d->rung[r - 1].kernel;
            out->row[1].kernel = d->rung[r].kernel;
            return LRA_LADDER_EQUAL_REACH;
        }
    return LRA_LADDER_OK;
}

/* Of rung r with one seed; r = n_rungs: the reference run. */
static double value_of(const lra_ladder_data *d, int r, int s)
{
    bool rung = r < d->n_rungs;
    if (d->measure)
        return lra_measure_rows(d->measure, rung ? d->rung[r].row[s] : d->reference_row, NULL);
    return share(rung ? d->rung[r].correct[s] : d->reference_correct, d->n);
}

static lra_estimate exact(double x)
{
    return (lra_estimate){x, NAN, NAN};
}

/* A reference that is not above chance measures nothing. */
static void forget_gains(lra_ladder *out)
{
    const lra_estimate none = {NAN, NAN, NAN};
    for (int r = 0; r < out->n_rungs; r++) out->row[r].gain = none;
    out->li = out->li_raw = none;
}

int lra_ladder_compute(const lra_ladder_data *d, lra_ladder *out)
{
    double accuracy[LRA_LADDER_MAX_RUNGS + 1];
    curve c;
    *out = (lra_ladder){.n_rungs = d->n_rungs, .n_seeds = d->n_seeds};
    int rc = check(d, out);
    if (rc != LRA_LADDER_OK) return rc;
    for (int r = 0; r < d->n_rungs; r++) {
        double by_seed[LRA_LADDER_MAX_SEEDS];
        for (int s = 0; s < d->n_seeds && d->n; s++) by_seed[s] = value_of(d, r, s);
        lra_estimate t = d->n ? lra_t_interval(d->n_seeds, by_seed, 0.95)
                              : exact(d->rung[r].accuracy);
        accuracy[r] = t.value;
        out->row[r].over_seeds = t;
    }
    if (has_reference_run(d)) accuracy[d->n_rungs] = value_of(d, d->n_rungs, 0);
    evaluate(d, accuracy, &c);
    out->reference = reference_of(d, accuracy);
    out->first_reach = clipped(d, first_rung(d));
    for (int r = 0; r < d->n_rungs; r++) {
        lra_ladder_row *row = &out->row[r];
        row->kernel = d->rung[r].kernel;
        row->reach = clipped(d, r);
        row->null_row = row->reach == 0;
        row->accuracy = exact(accuracy[r]);
        row->gain = exact(c.gain[r]);
        row->ratio = accuracy[r] / out->reference;
    }
    for (int i = 0; i < LRA_LADDER_RADII; i++) out->radius[i] = exact(c.radius[i]);
    out->li = exact(c.li);
    out->li_raw = exact(c.li_raw);
    out->widest_minus_narrowest = exact(c.difference);
    if (d->n == 0) return LRA_LADDER_OK;
    rc = bootstrap(d, out);
    if (out->reference <= d->chance) forget_gains(out);
    for (int r = 0; r < d->n_rungs && d->n_seeds == 1 && !d->measure; r++)
        out->row[r].accuracy = lra_wilson(accuracy[r] * (double)d->n, (double)d->n, 0.95);
    return rc;
}
