/* Measured values: creating, checking, combining over seeds. */
#include "analysis/measurement.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/distributions.h"
#include "analysis/measurement_info.h"
#include "kernels/base/core/mem.h"

const char *const lra_null_names[LRA_NULLS] = {"uniform", "init", "shuffled", "perm"};

const char *lra_measurement_flag_name(int i)
{
    static const char *const name[LRA_MEASUREMENT_FLAGS] = {
        "censored",  "flat",        "one-seed",    "clipped", "approx",  "fallback", "ill-formed",
        "few-seeds", "censored-lo", "censored-hi", "noise",   "no-gain", "no-median"};
    return i < LRA_MEASUREMENT_FLAGS ? name[i] : NULL;
}

lra_measurement lra_measurement_of(const char *id, double value)
{
    const lra_measurement_info *info = lra_measurement_info_find(id, NULL);
    if (!info && *id) LRA_BUG("measurement '%s' is not declared in analysis/measurements.def", id);
    lra_measurement f = {.value = value, .lo = NAN, .hi = NAN, .seeds = 1, .flags = LRA_ONE_SEED};
    for (int k = 0; k < LRA_NULLS; k++) f.null[k] = NAN;
    snprintf(f.id, sizeof f.id, "%s", id);
    snprintf(f.unit, sizeof f.unit, "%s", info ? info->unit : "1");
    return f;
}

void lra_measurement_in_pixels(lra_measurement *f)
{
    if (strcmp(f->unit, "tokens") == 0) snprintf(f->unit, sizeof f->unit, "pixels");
}

int lra_measurement_check(const lra_measurement *f, lra_err *e)
{
    static const double rounding = 1e-6;
    const lra_measurement_info *info = lra_measurement_info_find(f->id, NULL);
    if (!info) return 0;
    bool pixels = strcmp(info->unit, "tokens") == 0 && strcmp(f->unit, "pixels") == 0;
    if (!pixels && strcmp(f->unit, info->unit) != 0)
        return lra_fail(e, "'%s' has the unit '%s', expected '%s'", f->id, f->unit, info->unit);
    double least, most;
    lra_measurement_bounds(f->id, INFINITY, &least, &most);
    if (f->value < least - rounding || f->value > most + rounding)
        return lra_fail(e, "'%s' is %g, expected %s", f->id, f->value,
                        lra_measurement_range_names[info->range]);
    return 0;
}

const lra_measurement *lra_measurement_find(int n, const lra_measurement *list, const char *id)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].id, id) == 0) return &list[i];
    return NULL;
}

void lra_measurements_null(int n, lra_measurement *list, int n_from, const lra_measurement *from,
                           lra_null kind)
{
    for (int i = 0; i < n; i++) {
        const lra_measurement *f = lra_measurement_find(n_from, from, list[i].id);
        if (f) list[i].null[kind] = f->value;
    }
}

/* Mean of the values of `x` that are not NaN; n_known: their number. */
static double mean_of(int n, const double *x, int *n_known)
{
    double sum = 0;
    *n_known = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(x[i])) sum += x[i], ++*n_known;
    return *n_known ? sum / *n_known : NAN;
}

/* Collects one property of the measurement of each seed. */
static void column(int n, const lra_measurement *by_seed, double (*of)(const lra_measurement *),
                   double *out)
{
    for (int i = 0; i < n; i++) out[i] = of(&by_seed[i]);
}
static double value_of(const lra_measurement *f)
{
    return f->value;
}
static double below_of(const lra_measurement *f)
{
    return f->value - f->lo;
}
static double above_of(const lra_measurement *f)
{
    return f->hi - f->value;
}

/* Sets value and interval, from the half widths over examples and the standard error over seeds. */
static void widen(lra_measurement *f, int n, const double *value, const double *below,
                  const double *above)
{
    int known, k;
    double squares = 0, down = mean_of(n, below, &k), up = mean_of(n, above, &k);
    f->value = mean_of(n, value, &known);
    f->lo = f->value - down, f->hi = f->value + up;
    if (known < 2) return;
    for (int i = 0; i < n; i++)
        if (!isnan(value[i])) squares += (value[i] - f->value) * (value[i] - f->value);
    double t = lra_t_quantile(known - 1, 0.975) * sqrt(squares / (known - 1) / known);
    /* no interval over examples: computed from weights alone, only seeds vary */
    if (isnan(down)) down = 0;
    if (isnan(up)) up = 0;
    f->lo = f->value - sqrt(down * down + t * t), f->hi = f->value + sqrt(up * up + t * t);
    f->flags &= ~(uint32_t)LRA_ONE_SEED;
    if (known < 5 && t > (down + up) / 2) f->flags |= LRA_FEW_SEEDS;
}

lra_measurement lra_measurement_of_seeds(int n, const lra_measurement *by_seed)
{
    double *value = lra_alloc_array((size_t)n * 4, sizeof *value);
    double *below = value + n, *above = below + n, *null = above + n;
    lra_measurement f = by_seed[0];
    column(n, by_seed, value_of, value);
    column(n, by_seed, below_of, below);
    column(n, by_seed, above_of, above);
    for (int i = 1; i < n; i++) {
        f.flags |= by_seed[i].flags;
        f.undefined += by_seed[i].undefined;
    }
    widen(&f, n, value, below, above);
    int known;
    for (int k = 0; k < LRA_NULLS; k++) {
        for (int i = 0; i < n; i++) null[i] = by_seed[i].null[k];
        f.null[k] = mean_of(n, null, &known);
    }
    mean_of(n, value, &known);
    f.seeds = known;
    lra_free(value);
    return f;
}
