/* Computes the measurements of a ladder. */
#include "analysis/ladder.h"

#include <math.h>

#include "analysis/curve.h"
#include "kernels/base/core/err.h"
#include "kernels/base/core/mem.h"

static const lra_estimate none = {NAN, NAN, NAN};

/* ---- rungs ----------------------------------------------------------------------------------- */

/* Returns true if a reach covers the full sequence: at least T - 1, or unbounded. */
static bool sees_all(int64_t reach, int64_t T)
{
    return reach < 0 || reach >= T - 1;
}

static int64_t clipped(const lra_ladder_data *d, int r)
{
    return sees_all(d->rung[r].reach, d->T) ? d->T : d->rung[r].reach;
}

static int first_rung(const lra_ladder_data *d)
{
    int r = 0;
    while (r < d->n_rungs && clipped(d, r) == 0) r++;
    return r;
}

static int n_seeds_of(const lra_ladder_data *d, int r)
{
    return d->rung[r].n_seeds ? d->rung[r].n_seeds : d->n_seeds;
}

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

/* ---- series ---------------------------------------------------------------------------------- */

/* Adds a rung as a series, with the seeds that learned. */
static void add_rung(const lra_ladder_data *d, const lra_ladder_row *row, int r, lra_sample *s)
{
    const uint8_t *correct[LRA_MAX_SEEDS];
    const double *rows[LRA_MAX_SEEDS];
    int n = 0;
    if (d->n == 0) {
        lra_sample_add_number(s, d->rung[r].accuracy);
        return;
    }
    for (int k = 0; k < row->n_seeds; k++)
        if (row->learned[k]) correct[n] = d->rung[r].correct[k], rows[n++] = d->rung[r].row[k];
    if (d->values)
        lra_sample_add_rows(s, n, rows);
    else
        lra_sample_add_correct(s, n, correct);
}

static void add_reference(const lra_ladder_data *d, lra_sample *s)
{
    if (d->kind == LRA_REFERENCE_NUMBER)
        lra_sample_add_number(s, d->reference);
    else if (d->kind == LRA_REFERENCE_RUN && d->values)
        lra_sample_add_rows(s, 1, &d->reference_row);
    else if (d->kind == LRA_REFERENCE_RUN)
        lra_sample_add_correct(s, 1, &d->reference_correct);
}

static void add_chance(const lra_ladder_data *d, lra_sample *s)
{
    if (d->values && d->chance_row) {
        lra_sample_add_rows(s, 1, &d->chance_row);
        s->series[s->n_series - 1].n_seeds = 0;
    } else if (!d->values && d->chance_correct) {
        lra_sample_add_fixed(s, d->chance_correct);
    } else
        lra_sample_add_number(s, d->chance);
}

lra_sample *lra_ladder_sample(const lra_ladder_data *d, const lra_ladder *l)
{
    lra_sample *s = lra_sample_new(d->n, !d->values);
    for (int r = 0; r < d->n_rungs; r++) add_rung(d, &l->row[r], r, s);
    add_reference(d, s);
    add_chance(d, s);
    return s;
}

static int reference_series(const lra_ladder *l)
{
    return l->reference_rung >= 0 ? l->reference_rung : l->n_rungs;
}

/* ---- seeds that failed ----------------------------------------------------------------------- */

/* Condition (b) for an index (ladder.h): returns true if the half width of the paired interval of
 * reference - chance is below half of this difference. */
static bool clearly_above(const lra_sample *s, const lra_ladder *l, lra_estimate *difference)
{
    lra_estimate x = lra_sample_difference(s, reference_series(l), s->n_series - 1, 0.95);
    *difference = x;
    return s->n == 0 ? x.value > 0 : (x.hi - x.lo) / 2 < x.value / 2;
}

/* Marks the seeds of rung r that learned, with gains measured against `full`; returns true if some
 * did not. */
static bool mark_learned(const lra_sample *s, double full, int r, lra_ladder *out)
{
    lra_ladder_row *row = &out->row[r];
    const lra_series *x = &s->series[r];
    row->n_learned = lra_seeds_learned(row->n_seeds, x->by_seed, s->series[s->n_series - 1].value,
                                       full, x->seed_error, row->learned);
    return row->n_learned < row->n_seeds;
}

static void mark_all(lra_ladder_row *row)
{
    row->n_learned = row->n_seeds;
    for (int k = 0; k < row->n_seeds; k++) row->learned[k] = true;
}

/* Excludes the seeds that did not learn from the rows, and returns the series of the others. First
 * the reference's seeds are split, with gains measured against its own learned seeds. If these are
 * not clearly above chance, no rung is split, because gaps between seeds at chance are noise. */
static lra_sample *take_learned(const lra_ladder_data *d, lra_ladder *out)
{
    lra_sample *s = lra_ladder_sample(d, out);
    int reference = out->reference_rung;
    lra_estimate above;
    bool failed = false;
    if (d->n == 0 || d->all_learned) return s;
    if (reference >= 0 && mark_learned(s, NAN, reference, out)) {
        lra_sample_free(s);
        s = lra_ladder_sample(d, out);
        if (!clearly_above(s, out, &above)) {
            mark_all(&out->row[reference]);
            lra_sample_free(s);
            return lra_ladder_sample(d, out);
        }
    } else if (!clearly_above(s, out, &above))
        return s;
    double full = s->series[reference_series(out)].value;
    for (int r = 0; r < d->n_rungs; r++)
        if (r != reference) failed = mark_learned(s, full, r, out) || failed;
    if (!failed) return s;
    lra_sample_free(s);
    return lra_ladder_sample(d, out);
}

/* ---- values and contrasts -------------------------------------------------------------------- */

static void set_rows(const lra_sample *s, lra_ladder *out)
{
    for (int r = 0; r < out->n_rungs; r++) {
        lra_ladder_row *row = &out->row[r];
        row->accuracy = lra_sample_value(s, r);
        row->seed_sd = s->series[r].sd;
        row->ratio = row->accuracy.value / out->reference;
        row->seeds_dominate = lra_sample_seeds_dominate(s, r);
        out->few_seeds = out->few_seeds || row->seeds_dominate;
        out->one_seed = out->one_seed || s->series[r].n_seeds == 1;
        int reference = reference_series(out), null = out->row[0].null_row ? 0 : -1;
        out->above[r] = r == reference ? none : lra_sample_difference(s, r, reference, 0.95);
        out->above_chance[r] = lra_sample_difference(s, r, s->n_series - 1, 0.95);
        out->above_null[r] = null < 0 || r == null ? none : lra_sample_difference(s, r, null, 0.95);
    }
}

/* Computes the least squares slope of the metric against log2 R, as a contrast of the rungs. */
static void set_slope(const lra_curve_axis *a, const lra_sample *s, lra_ladder *out)
{
    double g[LRA_MAX_SERIES] = {0}, mean = 0, square = 0;
    int n = a->n_rungs - a->first, last = a->n_rungs - 1;
    out->slope = none;
    out->widest_minus_narrowest = none;
    if (n < 2) return;
    for (int r = a->first; r <= last; r++) mean += a->place[r] / n;
    for (int r = a->first; r <= last; r++) square += (a->place[r] - mean) * (a->place[r] - mean);
    for (int r = a->first; r <= last; r++) g[r] = (a->place[r] - mean) / square;
    out->slope = lra_contrast(s, g, 0.95);
    out->widest_minus_narrowest = lra_sample_difference(s, last, a->first, 0.95);
}

/* Tests rungs from the widest down until a test fails. */
static lra_sufficient sufficient(const lra_ladder *l, int first, const lra_estimate *x,
                                 double margin)
{
    lra_sufficient to = {INFINITY, false};
    for (int r = l->n_rungs - 1; r >= first; r--) {
        if (r != l->reference_rung && !(x[r].lo >= -margin)) {
            to.unresolved = !((x[r].hi - x[r].lo) / 2 <= margin) && !(x[r].hi <= -margin);
            break;
        }
        to.reach = (double)l->row[r].reach;
    }
    return to;
}

static void set_sufficient(const lra_sample *s, const lra_ladder_data *d, int first,
                           lra_ladder *out)
{
    int reference = reference_series(out), m = d->n_tasks > 1 ? d->n_tasks : 1;
    double unit = d->values ? fabs(out->reference - out->chance) : 1;
    lra_estimate x[LRA_LADDER_MAX_RUNGS];
    for (int r = 0; r < d->n_rungs; r++)
        x[r] = m > 1 ? lra_sample_difference(s, r, reference, 1 - 0.05 / m) : out->above[r];
    for (int i = 0; i < LRA_LADDER_RADII; i++)
        out->sufficient[i] = sufficient(out, first, x, unit * lra_ladder_points[i]);
}

/* ---- the index ------------------------------------------------------------------------------- */

/* Sets the end of the axis, and the flags `span` and `extrapolated`. */
static void set_end(const lra_ladder_data *d, lra_ladder *out)
{
    bool rung = out->last_reach == d->T;
    bool run = d->kind == LRA_REFERENCE_RUN && sees_all(d->reference_reach, d->T);
    bool outside = run || d->kind == LRA_REFERENCE_NUMBER;
    out->end = rung || outside ? d->T : out->last_reach;
    out->span = !rung && !outside;
    double first = log2((double)out->first_reach), end = log2((double)d->T);
    if (!rung && outside && end > first)
        out->extrapolated = (end - log2((double)out->last_reach)) / (end - first);
}

static void set_state(const lra_sample *s, int first, lra_ladder *out)
{
    bool clear = clearly_above(s, out, &out->reference_minus_chance);
    out->state = out->n_rungs - first < 2 ? LRA_LI_ONE_RUNG : LRA_LI_GIVEN;
    if (!clear) out->state = LRA_LI_AT_CHANCE;
}

static void set_curve(const lra_curve *c, lra_ladder *out)
{
    bool gains = out->state != LRA_LI_AT_CHANCE, index = out->state == LRA_LI_GIVEN;
    out->li = out->li_raw = none;
    for (int r = 0; r < out->n_rungs; r++)
        out->row[r].gain = (lra_estimate){gains ? c->gain[r] : NAN, NAN, NAN};
    if (index) out->li.value = c->li, out->li_raw.value = c->li_raw;
    for (int i = 0; i < LRA_LADDER_RADII; i++)
        out->radius[i] = (lra_estimate){index ? c->radius[i] : NAN, NAN, NAN};
}

/* If all replicates are equal: replaces the interval of the gain by that of the difference from the
 * reference (lra_contrast()), converted to a gain. */
static void widen_gain(const lra_sample *s, int rung, lra_ladder *out)
{
    lra_estimate *gain = &out->row[rung].gain;
    lra_estimate x = lra_sample_difference(s, rung, reference_series(out), 0.95);
    double half = (x.hi - x.lo) / 2 / out->reference_minus_chance.value;
    if (gain->lo == gain->hi && half > 0) gain->lo -= half, gain->hi += half;
}

/* Sets percentile intervals of the columns of the table (B replicates): gains, li, li_raw,
 * radii. */
static void set_intervals(const lra_ladder_data *d, const lra_sample *s, double *table,
                          lra_ladder *out)
{
    int B = d->n_replicates, R = d->n_rungs;
    for (int r = 0; r < R && out->state != LRA_LI_AT_CHANCE; r++) {
        lra_estimate *gain = &out->row[r].gain;
        *gain = r == out->reference_rung
                    ? (lra_estimate){1, 1, 1} /* gain of the reference, by definition */
                    : lra_holding(lra_percentile(gain->value, B, table + r * B, 0.95));
        if (r != out->reference_rung) widen_gain(s, r, out);
    }
    if (out->state != LRA_LI_GIVEN) return;
    out->li = lra_percentile(out->li.value, B, table + R * B, 0.95);
    out->li_raw = lra_percentile(out->li_raw.value, B, table + (R + 1) * B, 0.95);
    out->li.lo = fmax(fmin(out->li.lo, out->li_raw.lo), 0); /* LI is at least 0 */
    out->li = lra_holding(out->li);
    out->li_raw = lra_holding(out->li_raw);
    for (int i = 0; i < LRA_LADDER_RADII; i++)
        out->radius[i] = lra_holding(
            lra_percentile(out->radius[i].value, B, table + (R + 2 + i) * B, 0.95));
}

static void resample(const lra_ladder_data *d, const lra_sample *s, const lra_curve_axis *a,
                     lra_ladder *out)
{
    int B = d->n_replicates, R = d->n_rungs, reference = reference_series(out);
    double *drawn = lra_alloc_array((size_t)B * (size_t)s->n_series, sizeof *drawn);
    double *table = lra_alloc_array((size_t)B * (size_t)(R + 2 + LRA_LADDER_RADII), sizeof *table);
    lra_sample_draw(s, d->key, B, drawn);
    for (int b = 0; b < B; b++) {
        const double *value = drawn + (size_t)b * (size_t)s->n_series;
        lra_curve c;
        lra_curve_compute(a, value, value[reference], value[s->n_series - 1], &c);
        for (int r = 0; r < R; r++) table[r * B + b] = c.gain[r];
        table[R * B + b] = c.li;
        table[(R + 1) * B + b] = c.li_raw;
        for (int i = 0; i < LRA_LADDER_RADII; i++) table[(R + 2 + i) * B + b] = c.radius[i];
    }
    set_intervals(d, s, table, out);
    lra_free(drawn);
    lra_free(table);
}

/* ---- the ladder ------------------------------------------------------------------------------ */

static void open_rows(const lra_ladder_data *d, lra_ladder *out)
{
    for (int r = 0; r < d->n_rungs; r++) {
        lra_ladder_row *row = &out->row[r];
        row->kernel = d->rung[r].kernel;
        row->reach = clipped(d, r);
        row->null_row = row->reach == 0;
        row->n_seeds = n_seeds_of(d, r);
        mark_all(row);
    }
    out->first_reach = clipped(d, first_rung(d));
    out->last_reach = clipped(d, d->n_rungs - 1);
    out->reference_rung = d->kind == LRA_REFERENCE_WIDEST ? d->n_rungs - 1
                          : d->kind == LRA_REFERENCE_RUNG ? d->reference_rung
                                                          : -1;
}

/* Checks that every estimate lies within its interval. */
static void check_intervals(const lra_ladder *l)
{
    bool good = lra_holds_value(&l->li) && lra_holds_value(&l->li_raw) &&
                lra_holds_value(&l->slope) && lra_holds_value(&l->widest_minus_narrowest);
    for (int i = 0; i < LRA_LADDER_RADII; i++) good = good && lra_holds_value(&l->radius[i]);
    for (int r = 0; r < l->n_rungs; r++)
        good = good && lra_holds_value(&l->row[r].accuracy) && lra_holds_value(&l->row[r].gain);
    if (!good) LRA_BUG("an estimate lies outside its interval");
}

int lra_ladder_compute(const lra_ladder_data *d, lra_ladder *out)
{
    *out = (lra_ladder){.n_rungs = d->n_rungs, .n_seeds = d->n_seeds};
    int rc = check(d, out), first = first_rung(d);
    if (rc != LRA_LADDER_OK) return rc;
    int64_t reach[LRA_LADDER_MAX_RUNGS];
    lra_curve c;
    open_rows(d, out);
    lra_sample *s = take_learned(d, out);
    out->reference = s->series[reference_series(out)].value;
    out->chance = s->series[s->n_series - 1].value;
    set_rows(s, out);
    set_end(d, out);
    set_state(s, first, out);
    for (int r = 0; r < d->n_rungs; r++) reach[r] = out->row[r].reach;
    lra_curve_axis a = lra_curve_axis_of(d->n_rungs, reach, out->end, d->values);
    double value[LRA_MAX_SERIES];
    for (int r = 0; r < s->n_series; r++) value[r] = s->series[r].value;
    lra_curve_compute(&a, value, out->reference, out->chance, &c);
    set_slope(&a, s, out);
    set_sufficient(s, d, first, out);
    set_curve(&c, out);
    if (d->n > 0 && d->n_replicates > 0) resample(d, s, &a, out);
    lra_sample_free(s);
    check_intervals(out);
    return LRA_LADDER_OK;
}

lra_estimate lra_ladder_against(const lra_ladder_data *d, const lra_ladder *l,
                                const uint8_t *correct)
{
    lra_sample *s = lra_ladder_sample(d, l);
    int baseline = lra_sample_add_fixed(s, correct);
    lra_estimate x = lra_sample_difference(s, baseline, reference_series(l), 0.95);
    lra_sample_free(s);
    return x;
}
