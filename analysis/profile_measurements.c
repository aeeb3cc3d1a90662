/* Computes the measurements of distance profiles. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/decay.h"
#include "analysis/distributions.h"
#include "analysis/interval.h"
#include "analysis/profile_impl.h"
#include "kernels/base/core/mem.h"

/* Quantities with bootstrap intervals: quantiles of two masses (M and M'), and two fitted
 * slopes. */
enum { QUANTILES = 4, MASSES = 2, FITS = MASSES * QUANTILES, REPLICATED = FITS + 2 };
static const double quantile_of[QUANTILES] = {0.5, 0.9, 0.95, 0.99};
static const char *const quantile_id[MASSES][QUANTILES] = {
    {"range.q50", "range.q90", "range.q95", "range.q99"},
    {"dist.q50", "dist.q90", "dist.q95", "dist.q99"}};
static const int binned_mass[MASSES] = {P_MASS, P_OTHER};
#define LEVEL 0.95

/* The list of measurements that are written. */
typedef struct {
    const lra_profile *p;
    const lra_profile_options *o;
    lra_measurement *out;
    int n;
} list;

lra_measurement lra_profile_measurement(const lra_profile *p, const lra_profile_options *o,
                                        const char *id, double value)
{
    char name[LRA_MEASUREMENT_ID];
    snprintf(name, sizeof name, "%s%s%s", o->prefix ? o->prefix : "", id,
             o->suffix ? o->suffix : "");
    lra_measurement f = lra_measurement_of(name, value);
    f.examples = p->examples, f.undefined = p->undefined;
    if (p->columns) lra_measurement_in_pixels(&f);
    return f;
}

static lra_measurement *add(list *l, const char *id, double value, double equal)
{
    lra_measurement *f = &l->out[l->n++];
    *f = lra_profile_measurement(l->p, l->o, id, value);
    f->null[LRA_NULL_UNIFORM] = equal;
    return f;
}

/* ---- means and ratios of means over examples ------------------------------------------------- */

static double number_of(const lra_profile *p, int64_t b, int k)
{
    return p->number[b * P_NUMBERS + k];
}

/* Half width of the interval of the ratio of two means over examples, `above` / `below` (indices of
 * statistics); below < 0: of the mean `above`. */
static double half_width(const lra_profile *p, int above, int below)
{
    double n = 0, a = lra_profile_mean(p, above), squares = 0;
    double m = below < 0 ? 1 : lra_profile_mean(p, below), ratio = a / m;
    for (int64_t b = 0; b < p->examples; b++) {
        double x = number_of(p, b, above) - (below < 0 ? a : ratio * number_of(p, b, below));
        if (!isnan(x)) squares += x * x, n++;
    }
    if (n < 2) return NAN;
    return lra_normal_quantile((1 + LEVEL) / 2) * sqrt(squares / (n - 1) / n) / fabs(m);
}

/* Sets the ends of an interval within [least, most]. The value is clipped, too: a share of 1 is a
 * sum, which rounding may raise above 1. */
static void set_ends(lra_measurement *f, double half, double least, double most)
{
    if (f->value > most) f->value = most;
    if (f->value < least) f->value = least;
    f->lo = f->value - half, f->hi = f->value + half;
    if (f->lo < least) f->lo = least;
    if (f->hi > most) f->hi = most;
}

static lra_measurement *add_mean(list *l, const char *id, int number, int equal, double most)
{
    lra_measurement *f = add(l, id, lra_profile_mean(l->p, number),
                             equal < 0 ? NAN : lra_profile_mean(l->p, equal));
    set_ends(f, half_width(l->p, number, -1), 0, most);
    return f;
}

static lra_measurement *add_ratio(list *l, const char *id, int above, int below)
{
    lra_measurement *f = add(l, id, lra_profile_mean(l->p, above) / lra_profile_mean(l->p, below),
                             1);
    set_ends(f, half_width(l->p, above, below), 0, INFINITY);
    return f;
}

/* Adds `side` = (past - future)/(past + future), where past and future are means over examples. */
static void add_side(list *l)
{
    const lra_profile *p = l->p;
    double past = lra_profile_mean(p, P_PAST), future = lra_profile_mean(p, P_FUTURE),
           sum = past + future;
    double before = lra_profile_mean(p, P_PAST_EQUAL), after = lra_profile_mean(p, P_FUTURE_EQUAL);
    lra_measurement *f = add(l, "side", (past - future) / sum, (before - after) / (before + after));
    double n = (double)p->examples, squares = 0;
    for (int64_t b = 0; b < p->examples; b++) {
        double one = number_of(p, b, P_PAST), other = number_of(p, b, P_FUTURE);
        double x = one - other - f->value * (one + other);
        squares += x * x;
    }
    double half = p->examples < 2 ? NAN : sqrt(squares / (n - 1) / n) / sum;
    set_ends(f, lra_normal_quantile((1 + LEVEL) / 2) * half, -1, 1);
}

static void add_spread(list *l)
{
    lra_measurement entropy = *add_mean(l, "entropy", P_ENTROPY, P_LOG_KEYS, INFINITY);
    lra_measurement *rel = add_mean(l, "entropy.rel", P_ENTROPY_REL, -1, 1);
    rel->null[LRA_NULL_UNIFORM] = 1;
    lra_measurement *f = add(l, "support", exp(entropy.value), exp(entropy.null[LRA_NULL_UNIFORM]));
    f->lo = exp(entropy.lo), f->hi = exp(entropy.hi);
    add_mean(l, "support.pr", P_PARTICIPATION, P_KEYS, INFINITY);
}

/* ---- local mass ------------------------------------------------------------------------------ */

static double sum_to(const double *x, int64_t r)
{
    double sum = 0;
    for (int64_t d = 0; d <= r; d++) sum += x[d];
    return sum;
}

/* Half width of the interval of local.R, the mass within r; r + 1 is the end of a bin. */
static double local_half(const lra_profile *p, double value, int64_t r)
{
    double n = (double)p->examples, squares = 0;
    if (p->examples < 2) return NAN;
    for (int64_t b = 0; b < p->examples; b++) {
        const float *mass = p->binned + (b * P_BINNED + P_MASS) * p->n_bins;
        double sum = 0;
        for (int k = 0; k < p->n_bins && p->bin_end[k] <= r + 1; k++) sum += (double)mass[k];
        squares += (sum - value) * (sum - value);
    }
    return lra_normal_quantile((1 + LEVEL) / 2) * sqrt(squares / (n - 1) / n);
}

static void add_local(list *l, const double *mass, const double *equal)
{
    static const int64_t radius[] = {0, 1, 2, 3, 5, 10, 16, 32};
    enum { FIXED = sizeof radius / sizeof *radius };
    for (int k = 0; k < 20; k++) {
        int64_t r = k < FIXED ? radius[k] : (int64_t)64 << (k - FIXED);
        char id[32];
        if (r >= l->p->n - 1) return;
        snprintf(id, sizeof id, "local.%lld", (long long)r);
        lra_measurement *f = add(l, id, sum_to(mass, r), sum_to(equal, r));
        set_ends(f, local_half(l->p, f->value, r), 0, 1);
    }
}

/* ---- quantiles and fits ---------------------------------------------------------------------- */

static int64_t quantile(int64_t n, const double *mass, double q)
{
    double sum = 0;
    for (int64_t d = 0; d < n; d++) {
        sum += mass[d];
        if (sum >= q - 1e-12) return d;
    }
    return n - 1; /* reached only by rounding: all mass is within n distances */
}

/* Data for bootstrap resamples, in addition to the binned sums. */
typedef struct {
    const lra_profile *p;
    const double *mass[MASSES]; /* (n) M and M' over all examples */
    double *whole[P_BINNED];    /* (n_bins) binned sums over all examples */
    /* (n_bins) derivatives of the slopes of both decay laws with respect to ln I.rel in each bin */
    double *change[2];
    double slope[2]; /* slopes of both decay laws; NAN: no fit */
} replicas;

/* Returns quantile q of a binned mass. Within the bin that contains it, mass is distributed as over
 * all examples. NAN: no mass. */
static double quantile_in_bins(const replicas *r, int which, const double *mass, double q)
{
    const lra_profile *p = r->p;
    double sum = 0, total = 0, all = 0;
    for (int k = 0; k < p->n_bins; k++) all += r->whole[binned_mass[which]][k];
    for (int k = 0; k < p->n_bins; k++) total += mass[k];
    for (int k = 0; k < p->n_bins && total > 0; k++) {
        double before = sum;
        sum += mass[k];
        if (sum < (q - 1e-7) * total) continue;
        int64_t d = k ? p->bin_end[k - 1] : 0;
        double scale = mass[k] / (r->whole[binned_mass[which]][k] / all);
        for (sum = before; d + 1 < p->bin_end[k]; d++) {
            sum += r->mass[which][d] * scale;
            if (sum >= (q - 1e-7) * total) break;
        }
        return (double)d;
    }
    return total > 0 ? (double)(p->n - 1) : NAN;
}

static double slope_of(const replicas *r, int law, double *const *sum)
{
    double slope = r->slope[law];
    for (int k = 0; k < r->p->n_bins; k++) {
        if (r->change[law][k] == 0) continue;
        double weight = sum[P_WEIGHT][k] / r->whole[P_WEIGHT][k];
        double equal = sum[P_EQUAL][k] / r->whole[P_EQUAL][k];
        slope += r->change[law][k] * log(weight / equal);
    }
    return isfinite(slope) ? slope : NAN;
}

/* Computes quantiles, tau and beta of LRA_PROFILE_REDRAWS bootstrap resamples: out (REPLICATED,
 * resamples). */
static void replicate(const replicas *r, uint64_t key, double *out)
{
    const lra_profile *p = r->p;
    double *count = lra_alloc_array((size_t)p->examples, sizeof *count), *sum[P_BINNED];
    for (int q = 0; q < P_BINNED; q++) sum[q] = lra_alloc_array((size_t)p->n_bins, sizeof **sum);
    for (int b = 0; b < LRA_PROFILE_REDRAWS; b++) {
        lra_profile_redraw(p->examples, key, b, count);
        for (int q = 0; q < P_BINNED; q++) lra_profile_binned_sum(p, q, count, sum[q]);
        double *to = out + b;
        for (int q = 0; q < MASSES * QUANTILES; q++, to += LRA_PROFILE_REDRAWS) {
            int which = q / QUANTILES;
            *to = quantile_in_bins(r, which, sum[binned_mass[which]], quantile_of[q % QUANTILES]);
        }
        double slope = slope_of(r, 0, sum);
        to[0] = slope < 0 ? -1 / slope : isnan(slope) ? NAN : INFINITY;
        to[LRA_PROFILE_REDRAWS] = -slope_of(r, 1, sum);
    }
    for (int q = 0; q < P_BINNED; q++) lra_free(sum[q]);
    lra_free(count);
}

/* Returns the end (exclusive) of the distances 1, 2, .. of a fit: the first distance at which the
 * interval of the intensity is not above 0. */
static int64_t fit_end(const lra_profile *p, const double *rel, const double *lo)
{
    int64_t d = 1;
    while (d < p->n && (p->examples < 2 ? rel[d] > 0 : lo[d] > 0)) d++;
    return d;
}

/* Computes the derivatives of the slopes of both decay laws with respect to the fitted values: the
 * weighted deviations of x. */
static void set_change(replicas *r, int64_t end)
{
    const lra_profile *p = r->p;
    for (int law = 0; law < 2; law++) {
        double sum = 0, mean = 0, squares = 0;
        for (int64_t d = 1; d < end; d++) {
            double x = law ? log((double)d) : (double)d;
            sum += p->reach[d], mean += p->reach[d] * x;
        }
        mean /= sum;
        for (int64_t d = 1; d < end; d++) {
            double x = (law ? log((double)d) : (double)d) - mean;
            squares += p->reach[d] * x * x;
        }
        for (int64_t d = 0, k = 0; d < end; d++) {
            while (d >= p->bin_end[k]) k++;
            double x = (law ? log((double)d) : (double)d) - mean;
            if (d > 0) r->change[law][k] += p->reach[d] * x / squares;
        }
    }
}

static lra_decay fit(const lra_profile *p, const double *rel, int64_t end)
{
    double *d = lra_alloc_array((size_t)p->n, sizeof *d);
    for (int64_t i = 0; i < p->n; i++) d[i] = (double)i;
    lra_decay f = lra_decay_fit(end - 1, d + 1, rel + 1, p->reach + 1);
    lra_free(d);
    return f;
}

static void set_percentiles(lra_measurement *f, double *replicate)
{
    lra_estimate e = lra_holding(lra_percentile(f->value, LRA_PROFILE_REDRAWS, replicate, LEVEL));
    f->lo = e.lo, f->hi = e.hi;
    if (isinf(f->hi)) f->flags |= LRA_CENSORED_HI;
}

/* Returns LRA_FLAT if a slope cannot be distinguished from 0: its interval contains 0, or, without
 * an interval, no law is better than a constant. A tau that is not finite corresponds to a slope of
 * 0 or above. */
static uint32_t flat_of(const lra_measurement *f, const lra_decay *fit, bool tau)
{
    if (fit->n < 3) return 0;
    if (isnan(f->lo)) return fit->kind == LRA_DECAY_NONE ? LRA_FLAT : 0;
    if (tau) return isfinite(f->lo) && isinf(f->hi) ? LRA_FLAT : 0;
    return f->lo <= 0 && f->hi >= 0 ? LRA_FLAT : 0;
}

static void add_fits(list *l, const lra_decay *f, double *replicate)
{
    lra_measurement *tau = add(l, "decay.tau", f->tau < 0 ? INFINITY : f->tau, NAN);
    lra_measurement *beta = add(l, "decay.beta", f->beta, 0);
    if (isinf(tau->value)) tau->flags |= LRA_CENSORED;
    if (replicate && f->n >= 3) {
        set_percentiles(tau, replicate);
        set_percentiles(beta, replicate + LRA_PROFILE_REDRAWS);
    }
    uint32_t of_tau = flat_of(tau, f, true), of_beta = flat_of(beta, f, false);
    tau->flags |= of_tau, beta->flags |= of_beta;
    uint32_t flat = of_tau & of_beta;
    add(l, "decay.kind", f->n >= 3 ? (double)f->kind : NAN, LRA_DECAY_NONE)->flags |= flat;
    add(l, "decay.r2.exp", f->r2_exp, NAN);
    add(l, "decay.r2.power", f->r2_power, NAN);
}

static void add_quantiles(list *l, int which, const double *mass, const double *equal,
                          double *replicate)
{
    const lra_profile *p = l->p;
    bool defined = which == 0 || p->n_other > 0;
    for (int q = 0; q < QUANTILES; q++) {
        lra_measurement *f = add(l, quantile_id[which][q],
                                 defined ? (double)quantile(p->n, mass, quantile_of[q]) : NAN,
                                 defined ? (double)quantile(p->n, equal, quantile_of[q]) : NAN);
        f->undefined += which ? p->lone : 0;
        double *own = replicate + (which * QUANTILES + q) * LRA_PROFILE_REDRAWS;
        if (replicate && defined) set_percentiles(f, own);
    }
}

/* Adds range.q95.used: range.q95 (the last but one measurement of the list) divided by the reach of
 * a bounded model. */
static void add_used(list *l)
{
    if (l->o->reach <= 0) return;
    lra_measurement q95 = l->out[l->n - 2];
    double reach = (double)l->o->reach;
    lra_measurement *f = add(l, "range.q95.used", q95.value / reach,
                             q95.null[LRA_NULL_UNIFORM] / reach);
    f->lo = q95.lo / reach, f->hi = q95.hi / reach;
}

/* Computes bootstrap values of quantiles and fits, which the caller frees; requires two or more
 * examples. */
static double *redraw_all(const lra_profile *p, uint64_t key, const double *mass,
                          const double *other, const lra_decay *f, int64_t end)
{
    double *out = lra_alloc_array(REPLICATED * LRA_PROFILE_REDRAWS, sizeof *out);
    double *one = lra_alloc_array((size_t)p->examples, sizeof *one);
    replicas r = {.p = p, .mass = {mass, other}, .slope = {NAN, NAN}};
    for (int64_t b = 0; b < p->examples; b++) one[b] = 1;
    for (int q = 0; q < P_BINNED; q++) {
        r.whole[q] = lra_alloc_array((size_t)p->n_bins, sizeof **r.whole);
        lra_profile_binned_sum(p, q, one, r.whole[q]);
    }
    for (int law = 0; law < 2; law++)
        r.change[law] = lra_alloc_array((size_t)p->n_bins, sizeof **r.change);
    if (f->n >= 3) {
        r.slope[0] = isinf(f->tau) ? 0 : -1 / f->tau, r.slope[1] = -f->beta;
        set_change(&r, end);
    }
    replicate(&r, key, out);
    for (int q = 0; q < P_BINNED; q++) lra_free(r.whole[q]);
    for (int law = 0; law < 2; law++) lra_free(r.change[law]);
    lra_free(one);
    return out;
}

/* Adds self, the token's own share, and dist.mean, the mean distance of the other tokens. */
static void add_others(list *l)
{
    int first = l->n;
    add_mean(l, "self", P_SELF, P_SELF_EQUAL, 1);
    add_mean(l, "dist.mean", P_DIST, P_DIST_EQUAL, INFINITY);
    add_ratio(l, "dist.mean.rel", P_DIST, P_DIST_EQUAL);
    for (int i = first + 1; i < l->n; i++) l->out[i].undefined += l->p->lone;
}

int lra_profile_measurements(const lra_profile *p, const lra_profile_options *o,
                             lra_measurement *out)
{
    list l = {.p = p, .o = o, .out = out};
    if (p->examples == 0) return 0;
    double *mass = lra_alloc_array(6 * (size_t)p->n, sizeof *mass), *redraws = NULL;
    double *equal = mass + p->n, *rel = equal + p->n, *lo = rel + p->n;
    double *other = lo + p->n, *other_equal = other + p->n;
    lra_profile_others(p, other, other_equal);
    lra_profile_curves(p, mass, equal, rel, lo, NULL);
    int64_t end = fit_end(p, rel, lo);
    lra_decay f = fit(p, rel, end);
    if (p->examples > 1) redraws = redraw_all(p, o->key, mass, other, &f, end);
    unsigned groups = o->groups ? o->groups : LRA_PROFILE_ALL;
    if (groups & LRA_PROFILE_DISTANCES) {
        add_others(&l);
        add_quantiles(&l, 1, other, other_equal, redraws);
        add_mean(&l, "range.mean", P_MEAN, P_MEAN_EQUAL, INFINITY);
        add_ratio(&l, "range.mean.rel", P_MEAN, P_MEAN_EQUAL);
        add_quantiles(&l, 0, mass, equal, redraws);
        add_used(&l);
    }
    if (groups & LRA_PROFILE_SHAPE) add_local(&l, mass, equal);
    if (groups & LRA_PROFILE_FAR) add_mean(&l, "far.half", P_FAR, P_FAR_EQUAL, 1);
    if (groups & LRA_PROFILE_SHAPE) add_side(&l);
    if (groups & LRA_PROFILE_SHAPE) add_spread(&l);
    if (groups & LRA_PROFILE_FITS)
        add_fits(&l, &f, redraws ? redraws + FITS * LRA_PROFILE_REDRAWS : NULL);
    if (groups & LRA_PROFILE_SHAPE && p->period > 1 && lra_profile_mean(p, P_ADJACENT) > 0)
        add_ratio(&l, "periodic.p", P_PERIOD, P_ADJACENT);
    lra_free(redraws);
    lra_free(mass);
    return l.n;
}
