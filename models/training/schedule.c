/* Computes the learning rate: warm-up, then one of the schedules. */
#include "models/training/schedule.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/nearest.h"

double lra_schedule_total(const lra_schedule *s)
{
    return (double)(s->total ? s->total : s->epochs * s->steps_per_epoch);
}

double lra_schedule_warm(const lra_schedule *s)
{
    return s->warmup < 1 ? s->warmup * lra_schedule_total(s) : s->warmup;
}

double lra_schedule_progress(const lra_schedule *s, int64_t step)
{
    double from = lra_schedule_warm(s), n = lra_schedule_total(s) - from;
    return n > 0 ? fmin(fmax(((double)step - from) / n, 0), 1) : 0;
}

/* ---- the registry ---------------------------------------------------------------------------- */

static const lra_schedule_kind *const registry[] = {
#define LRA_SCHEDULE(name) &lra_schedule_##name,
#include "models/training/schedules.def"
#undef LRA_SCHEDULE
};
enum { N_SCHEDULES = sizeof registry / sizeof *registry };

const lra_schedule_kind *lra_schedule_at(int i)
{
    return i >= 0 && i < N_SCHEDULES ? registry[i] : NULL;
}

const lra_schedule_kind *lra_schedule_find(const char *name, lra_err *e)
{
    const char *names[N_SCHEDULES];
    for (int i = 0; i < N_SCHEDULES; i++) {
        names[i] = registry[i]->name;
        if (strcmp(names[i], name) == 0) return registry[i];
    }
    lra_fail_unknown(e, "schedule", name, N_SCHEDULES, names, "lra-probe list schedules");
    return NULL;
}

/* ---- any of them ----------------------------------------------------------------------------- */

static const lra_schedule_kind *kind_of(const lra_schedule *s)
{
    return s->kind ? s->kind : &lra_schedule_plateau;
}

lra_schedule_state lra_schedule_start(void)
{
    return (lra_schedule_state){1, -INFINITY, 0};
}

double lra_schedule_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    double rate = kind_of(s)->rate(s, now, step), W = lra_schedule_warm(s),
           done = ((double)step + 1) / W;
    if ((double)step + 1 >= W) return rate;
    return rate * (s->power > 0 ? pow(done, s->power) : done);
}

void lra_schedule_epoch(const lra_schedule *s, lra_schedule_state *now, int64_t epoch, double score)
{
    if (kind_of(s)->epoch) kind_of(s)->epoch(s, now, epoch, score);
}

char *lra_schedule_text(const lra_schedule *s)
{
    lra_text t = {0};
    lra_text_add(&t, "%s; rate %g; warm-up ", kind_of(s)->name, s->rate);
    if (s->warmup < 1)
        lra_text_add(&t, "%g %% of %.0f steps", 100 * s->warmup, lra_schedule_total(s));
    else
        lra_text_add(&t, "%.0f steps", s->warmup);
    if (s->power > 0 && s->power != 1) lra_text_add(&t, " (power %g)", s->power);
    lra_text_add(&t, "; ");
    kind_of(s)->text(s, &t);
    return t.s;
}
