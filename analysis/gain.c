/* Computes gains of restricted models. */
#include "analysis/gain.h"

#include <math.h>

#include "kernels/base/core/mem.h"

const double lra_gain_shares[LRA_GAIN_SHARES] = {0.50, 0.90, 0.95, 0.99};
static const double rounding = 1e-12;

int lra_gain_axis(int64_t first, int64_t end, double *x)
{
    int n = 0;
    if (first <= 0 && end > 0) x[n++] = 0;
    for (int64_t at = 1; at < end && n < LRA_GAIN_POINTS - 1; at *= 2)
        if (at >= first) x[n++] = (double)at;
    x[n++] = (double)end;
    return n;
}

/* Statistics of one curve of metric values; computed once for the measured values and once for
 * every replicate. */
typedef struct {
    double gain[LRA_GAIN_POINTS], least[LRA_GAIN_SHARES], area;
    double costs_from, costs_to;
} reading;

static double area_of(int n, const double *x, const double *gain)
{
    double sum = 0, width = 0;
    for (int i = 1; i < n; i++) {
        if (x[i - 1] <= 0) continue;
        double step = log2(x[i] / x[i - 1]);
        sum += step * (gain[i] + gain[i - 1]) / 2;
        width += step;
    }
    return width > 0 ? sum / width : NAN;
}

static reading read_curve(int n, const double *x, const double *value)
{
    reading r;
    double full = value[n], chance = value[n + 1];
    for (int i = 0; i < n; i++) r.gain[i] = (value[i] - chance) / (full - chance);
    for (int k = 0; k < LRA_GAIN_SHARES; k++) {
        r.least[k] = INFINITY;
        for (int i = n - 1; i >= 0; i--)
            if (r.gain[i] >= lra_gain_shares[k] - rounding) r.least[k] = x[i];
    }
    r.area = area_of(n, x, r.gain);
    r.costs_from = INFINITY, r.costs_to = 0;
    for (int i = 0; i < n; i++) {
        if (!(r.gain[i] <= 0.95 + rounding)) continue;
        r.costs_from = fmin(r.costs_from, x[i]);
        r.costs_to = fmax(r.costs_to, x[i]);
    }
    return r;
}

/* Returns the percentile interval of the member at offset `at` of all readings, around its value;
 * it contains the value. room: (n) working memory. */
static lra_estimate interval_of(const reading *list, int n, double value, size_t at, double *room)
{
    for (int b = 0; b < n; b++)
        room[b] = *(const double *)(const void *)((const char *)&list[b] + at);
    return lra_holding(lra_percentile(value, n, room, 0.95));
}

/* Extends the intervals of costs_from and costs_to over the values between measured x. The lower
 * end of costs_from becomes one above the preceding measured x; the upper end of costs_to becomes
 * one below the following measured x. */
static void cover_grid(lra_gain *g)
{
    lra_estimate *from = &g->costs_from, *to = &g->costs_to;
    double below = NAN, above = NAN;
    for (int i = 0; i < g->n && g->x[i] < from->lo; i++) below = g->x[i];
    for (int i = g->n - 1; i >= 0 && g->x[i] > to->hi; i--) above = g->x[i];
    if (isfinite(from->lo) && !isnan(below)) from->lo = below + 1;
    if (to->hi > 0 && !isnan(above)) to->hi = above - 1;
}

static void add_intervals(const lra_sample *s, const reading *own, uint64_t key, lra_gain *out)
{
    int R = s->n_series, B = LRA_REPLICATES;
    double *drawn = lra_alloc_array((size_t)(B * R), sizeof *drawn);
    double *room = lra_alloc_array((size_t)B, sizeof *room);
    reading *list = lra_alloc_array((size_t)B, sizeof *list);
    lra_sample_draw(s, key, B, drawn);
    for (int b = 0; b < B; b++) list[b] = read_curve(out->n, out->x, drawn + b * R);
    for (int i = 0; i < out->n; i++)
        out->gain[i] = interval_of(list, B, own->gain[i],
                                   offsetof(reading, gain) + (size_t)i * sizeof(double), room);
    for (int k = 0; k < LRA_GAIN_SHARES; k++)
        out->least[k] = interval_of(list, B, own->least[k],
                                    offsetof(reading, least) + (size_t)k * sizeof(double), room);
    out->area = interval_of(list, B, own->area, offsetof(reading, area), room);
    out->costs_from = interval_of(list, B, own->costs_from, offsetof(reading, costs_from), room);
    out->costs_to = interval_of(list, B, own->costs_to, offsetof(reading, costs_to), room);
    cover_grid(out);
    lra_free(drawn);
    lra_free(room);
    lra_free(list);
}

/* Returns true if the unrestricted model (series n) is not clearly above chance (series n + 1). */
static bool at_chance(const lra_sample *s, int n, lra_estimate *above)
{
    *above = lra_sample_difference(s, n, n + 1, 0.95);
    return !((above->hi - above->lo) / 2 < above->value / 2);
}

static double difference_of(const double *value)
{
    return (value[0] - value[1]) / (value[2] - value[3]);
}

lra_estimate lra_gain_difference(const lra_sample *s, uint64_t key)
{
    enum { SERIES = 4 };
    lra_estimate above, none = {NAN, NAN, NAN};
    double value[SERIES];
    if (at_chance(s, 2, &above)) return none;
    double *drawn = lra_alloc_array((size_t)LRA_REPLICATES * SERIES, sizeof *drawn);
    for (int r = 0; r < SERIES; r++) value[r] = s->series[r].value;
    lra_sample_draw(s, key, LRA_REPLICATES, drawn);
    for (int b = 0; b < LRA_REPLICATES; b++)
        drawn[b] = difference_of(drawn + (ptrdiff_t)b * SERIES);
    lra_estimate x = lra_percentile(difference_of(value), LRA_REPLICATES, drawn, 0.95);
    lra_free(drawn);
    return lra_holding(x);
}

void lra_gain_undefined(int n, const double *x, lra_gain *out)
{
    const lra_estimate none = {NAN, NAN, NAN};
    *out = (lra_gain){.n = n, .chance = NAN, .undefined = true};
    for (int i = 0; i < n; i++) out->x[i] = x[i], out->value[i] = out->gain[i] = none;
    for (int k = 0; k < LRA_GAIN_SHARES; k++) out->least[k] = none;
    out->full = out->above = out->area = out->costs_from = out->costs_to = none;
    out->whole_area = NAN;
}

void lra_gain_compute(const lra_sample *s, const double *x, uint64_t key, lra_gain *out)
{
    const lra_estimate none = {NAN, NAN, NAN};
    double value[LRA_MAX_SERIES];
    *out = (lra_gain){.n = s->n_series - 2};
    int n = out->n;
    for (int i = 0; i < n; i++) out->x[i] = x[i], out->value[i] = lra_sample_value(s, i);
    for (int r = 0; r < s->n_series; r++) value[r] = s->series[r].value;
    out->full = lra_sample_value(s, n);
    out->chance = value[n + 1];
    out->at_chance = at_chance(s, n, &out->above);
    for (int i = 0; i < n; i++) out->gain[i] = none;
    for (int k = 0; k < LRA_GAIN_SHARES; k++) out->least[k] = none;
    out->area = out->costs_from = out->costs_to = none;
    double last[LRA_GAIN_POINTS] = {0};
    last[n - 1] = 1;
    out->whole_area = area_of(n, x, last);
    if (out->at_chance) return;
    reading own = read_curve(n, x, value);
    add_intervals(s, &own, key, out);
}
