/* The learning rate. */
#include "models/training/schedule.h"

#include <math.h>
#include <stdio.h>

static int64_t final_epoch(const lra_schedule *s)
{
    return (int64_t)ceil((1 - s->final_share) * (double)s->epochs - 1e-9);
}

lra_schedule_state lra_schedule_start(void)
{
    return (lra_schedule_state){1, -INFINITY, 0};
}

double lra_schedule_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    double rate = fmax(s->rate * now->plateau, fmin(s->min_rate, s->rate));
    double n_warm = s->warmup * (double)(s->epochs * s->steps_per_epoch);
    if ((double)step + 1 < n_warm) rate *= ((double)step + 1) / n_warm;
    int64_t first = final_epoch(s), epoch = step / s->steps_per_epoch;
    if (s->final_share > 0 && epoch >= first) {
        double n = (double)(s->epochs - first), done = (double)(epoch - first + 1) / n;
        rate *= 1 - (1 - s->final_rate) * done;
    }
    return rate;
}

void lra_schedule_epoch(const lra_schedule *s, lra_schedule_state *now, int64_t epoch, double score)
{
    if (score > now->best + s->threshold) {
        now->best = score;
        now->bad = 0;
        return;
    }
    if (s->final_share > 0 && epoch >= final_epoch(s)) return;
    if (++now->bad <= s->patience) return;
    now->plateau *= s->factor;
    now->bad = 0;
}

void lra_schedule_text(const lra_schedule *s, char *buf, int size)
{
    int n = snprintf(buf, (size_t)size,
                     "rate %g; warm-up %g %% of %lld steps; x%g after %lld epochs without +%g, at "
                     "least %g",
                     s->rate, 100 * s->warmup, (long long)(s->epochs * s->steps_per_epoch),
                     s->factor, (long long)s->patience, s->threshold, s->min_rate);
    if (final_epoch(s) < s->epochs && n > 0 && n < size)
        snprintf(buf + n, (size_t)(size - n), "; from epoch %lld of %lld down to %g %%",
                 (long long)final_epoch(s) + 1, (long long)s->epochs, 100 * s->final_rate);
}
