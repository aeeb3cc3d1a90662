/* Computes effective distances of a sweep (sweep_reach.h). */
#include "reports/ladder/sweep_reach.h"

#include <math.h>

#include "kernels/base/core/mem.h"

enum { B = LRA_LADDER_REPLICATES };

/* One distance of the sweep: its rungs and, as last series, its chance. */
typedef struct {
    lra_sample *sample;
    double *drawn; /* (B, series) values of bootstrap replicates */
} place;

/* Draws the bootstrap replicates of distance i, with separate random numbers, because the test sets
 * of different distances are independent. */
static void open_place(place *p, const lra_ladder_view *v, int i)
{
    p->sample = lra_ladder_sample(&v->data, &v->ladder);
    p->drawn = lra_alloc_array((size_t)B * (size_t)p->sample->n_series, sizeof *p->drawn);
    lra_sample_draw(p->sample, (uint64_t)i + 1, B, p->drawn);
}

static void close_place(place *p)
{
    lra_sample_free(p->sample);
    lra_free(p->drawn);
}

/* Value of series r in replicate b; b < 0: the value on the original sample. */
static double value_of(const place *p, int r, int b)
{
    int n = p->sample->n_series;
    return b < 0 ? p->sample->series[r].value : p->drawn[(size_t)b * (size_t)n + (size_t)r];
}

/* Chance in replicate b, averaged over the test sets of all distances, which share one label
 * distribution. With a separate chance for each set, the gain of a model without errors would not
 * be 1 at all distances. */
static double chance_of(const lra_sweep *s, const place *p, int b)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++) sum += value_of(&p[i], p[i].sample->n_series - 1, b);
    return sum / s->n;
}

static double half_distance(const lra_sweep *s, const double *gain)
{
    for (int i = 1; i < s->n; i++) {
        if (!(gain[i] < 0.5)) continue;
        double from = log2(s->number[i - 1]), to = log2(s->number[i]);
        return exp2(from + (gain[i - 1] - 0.5) / (gain[i - 1] - gain[i]) * (to - from));
    }
    return INFINITY;
}

static lra_sweep_reach reach_of(const lra_sweep *s, const place *p, int r)
{
    double gain[LRA_SWEEP_MAX_VALUES],
        *table = lra_alloc_array((size_t)(s->n + 1) * B, sizeof *table);
    lra_sweep_reach out = {{NAN, NAN, NAN}, NAN};
    const lra_sample *first = p[0].sample;
    lra_estimate own = lra_sample_difference(first, r, first->n_series - 1, 0.95);
    if (!((own.hi - own.lo) / 2 < own.value / 2)) {
        lra_free(table);
        return out;
    }
    for (int b = 0; b < B; b++) {
        double chance = chance_of(s, p, b), of = value_of(&p[0], r, b) - chance;
        for (int i = 0; i < s->n; i++)
            gain[i] = table[i * B + b] = (value_of(&p[i], r, b) - chance) / of;
        table[s->n * B + b] = half_distance(s, gain);
    }
    double chance = chance_of(s, p, -1), of = value_of(&p[0], r, -1) - chance;
    for (int i = 0; i < s->n; i++) gain[i] = (value_of(&p[i], r, -1) - chance) / of;
    out.half = lra_holding(lra_percentile(half_distance(s, gain), B, table + s->n * B, 0.95));
    for (int i = 0; i < s->n; i++) {
        lra_estimate x = lra_holding(lra_percentile(gain[i], B, table + i * B, 0.95));
        if (!(x.lo >= 0.95)) break;
        out.solved = s->number[i];
    }
    lra_free(table);
    return out;
}

lra_sweep_reach *lra_sweep_reaches(const lra_sweep *s)
{
    place p[LRA_SWEEP_MAX_VALUES];
    int n_rungs = s->at[0]->ladder.n_rungs;
    lra_sweep_reach *out = lra_alloc_array((size_t)n_rungs, sizeof *out);
    for (int i = 0; i < s->n; i++) open_place(&p[i], s->at[i], i);
    for (int r = 0; r < n_rungs; r++) out[r] = reach_of(s, p, r);
    for (int i = 0; i < s->n; i++) close_place(&p[i]);
    return out;
}
