/* The learning rate. */
#include "models/training/schedule.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/nearest.h"

static const double PI = 3.14159265358979323846;

static double total_steps(const lra_schedule *s)
{
    return (double)(s->total ? s->total : s->epochs * s->steps_per_epoch);
}

static double warm_steps(const lra_schedule *s)
{
    return s->warmup < 1 ? s->warmup * total_steps(s) : s->warmup;
}

/* From 0 at the end of the warm-up to 1 at the end of it all. */
static double progress(const lra_schedule *s, int64_t step)
{
    double from = warm_steps(s), n = total_steps(s) - from;
    return n > 0 ? fmin(fmax(((double)step - from) / n, 0), 1) : 0;
}

/* ---- settings that several have ----------------------------------------------------------------------------- */

#define FACTOR                                                                                     \
    LRA_REAL_FIELD(lra_schedule, factor, "factor", "0.5", 1e-6, 1, "what the rate is multiplied by")
#define TOTAL                                                                                      \
    LRA_INT_FIELD(lra_schedule, total, "total-steps", "0", 0, 1e15,                                \
                  "steps until 0; 0: those of all epochs")

/* ---- plateau ------------------------------------------------------------------------------------------- */

static int64_t final_epoch(const lra_schedule *s)
{
    return (int64_t)ceil((1 - s->final_share) * (double)s->epochs - 1e-9);
}

static double plateau_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    double rate = fmax(s->rate * now->plateau, fmin(s->min_rate, s->rate));
    int64_t first = final_epoch(s), epoch = step / s->steps_per_epoch;
    if (s->final_share > 0 && epoch >= first) {
        double n = (double)(s->epochs - first), done = (double)(epoch - first + 1) / n;
        rate *= 1 - (1 - s->final_rate) * done;
    }
    return rate;
}

static void plateau_epoch(const lra_schedule *s, lra_schedule_state *now, int64_t epoch,
                          double score)
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

static void plateau_text(const lra_schedule *s, lra_text *to)
{
    lra_text_add(to, "x%g after %" PRId64 " epochs without +%g, at least %g", s->factor,
                 s->patience, s->threshold, s->min_rate);
    if (final_epoch(s) < s->epochs)
        lra_text_add(to, "; from epoch %" PRId64 " of %" PRId64 " down to %g %%",
                     final_epoch(s) + 1, s->epochs, 100 * s->final_rate);
}

static const lra_key plateau_keys[] = {
    FACTOR,
    LRA_INT_FIELD(lra_schedule, patience, "patience", "10", 0, 1e6,
                  "epochs without a better one before the factor"),
    LRA_REAL_FIELD(lra_schedule, threshold, "threshold", "0.0001", 0, 1,
                   "by how much a better one is better"),
    LRA_REAL_FIELD(lra_schedule, min_rate, "min-rate", "1e-6", 0, 10, "least rate"),
    LRA_REAL_FIELD(lra_schedule, final_share, "final-share", "0.1", 0, 1,
                   "share of the epochs, at the end, in which the rate falls linearly"),
    LRA_REAL_FIELD(lra_schedule, final_rate, "final-rate", "0.01", 0, 1,
                   "share of the rate that is left then"),
    LRA_KEYS_END};

const lra_schedule_kind lra_schedule_plateau = {
    .keys = plateau_keys,
    .name = "plateau",
    .paper = "the locality paper",
    .summary = "factor after patience epochs without a better one; falls at the end",
    .rate = plateau_rate,
    .epoch = plateau_epoch,
    .text = plateau_text};

/* ---- functions of the step alone -------------------------------------------------------------------------- */

static double constant_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    (void)now, (void)step;
    return s->rate;
}

static void constant_text(const lra_schedule *s, lra_text *to)
{
    (void)s;
    lra_text_add(to, "constant");
}

const lra_schedule_kind lra_schedule_constant = {.name = "constant",
                                                 .paper = "arXiv:2310.02980",
                                                 .summary = "no change after the warm-up",
                                                 .rate = constant_rate,
                                                 .text = constant_text};

static double cosine_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    (void)now;
    return s->rate * (1 + cos(PI * progress(s, step))) / 2;
}

static void cosine_text(const lra_schedule *s, lra_text *to)
{
    lra_text_add(to, "half a cosine down to 0 at step %.0f", total_steps(s));
}

const lra_schedule_kind lra_schedule_cosine = {.name = "cosine",
                                               .paper = "S4, S5",
                                               .summary = "half a cosine from the peak to 0",
                                               .keys = (const lra_key[]){TOTAL, LRA_KEYS_END},
                                               .rate = cosine_rate,
                                               .text = cosine_text};

static double linear_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    (void)now;
    return s->rate * (1 - progress(s, step));
}

static void linear_text(const lra_schedule *s, lra_text *to)
{
    lra_text_add(to, "linearly down to 0 at step %.0f", total_steps(s));
}

static const lra_key linear_keys[] = {
    TOTAL,
    LRA_REAL_FIELD(lra_schedule, power, "warmup-power", "1", 1e-3, 100, "of the rise; 1: linear"),
    LRA_KEYS_END};

const lra_schedule_kind lra_schedule_linear = {.name = "linear",
                                               .paper = "MEGA",
                                               .summary = "a line from the peak to 0",
                                               .keys = linear_keys,
                                               .rate = linear_rate,
                                               .text = linear_text};

static double rsqrt_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    (void)now;
    return s->rate / sqrt(fmax((double)step + 1, warm_steps(s)));
}

static void rsqrt_text(const lra_schedule *s, lra_text *to)
{
    double W = fmax(warm_steps(s), 1);
    lra_text_add(to, "over sqrt(max(step, %.0f)), at most %.3g", W, s->rate / sqrt(W));
}

const lra_schedule_kind lra_schedule_rsqrt = {
    .name = "rsqrt",
    .paper = "the LRA's own Transformers",
    .summary = "rate over the square root of the step, from the warm-up on",
    .rate = rsqrt_rate,
    .text = rsqrt_text};

static double multistep_rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    (void)now;
    int64_t epoch = step / s->steps_per_epoch;
    return s->rate * pow(s->factor, (double)(epoch / s->every));
}

static void multistep_text(const lra_schedule *s, lra_text *to)
{
    lra_text_add(to, "x%g every %" PRId64 " epochs", s->factor, s->every);
}

static const lra_key multistep_keys[] = {
    FACTOR, LRA_INT_FIELD(lra_schedule, every, "every", "100", 1, 1e6, "epochs between two"),
    LRA_KEYS_END};

const lra_schedule_kind lra_schedule_multistep = {.name = "multistep",
                                                  .paper = "S4 on BIDMC",
                                                  .summary = "factor once every so many epochs",
                                                  .keys = multistep_keys,
                                                  .rate = multistep_rate,
                                                  .text = multistep_text};

/* ---- the registry ----------------------------------------------------------------------------------------- */

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

/* ---- any of them -------------------------------------------------------------------------------------------- */

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
    double rate = kind_of(s)->rate(s, now, step), W = warm_steps(s), done = ((double)step + 1) / W;
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
        lra_text_add(&t, "%g %% of %.0f steps", 100 * s->warmup, total_steps(s));
    else
        lra_text_add(&t, "%.0f steps", s->warmup);
    if (s->power > 0 && s->power != 1) lra_text_add(&t, " (power %g)", s->power);
    lra_text_add(&t, "; ");
    kind_of(s)->text(s, &t);
    return t.s;
}
