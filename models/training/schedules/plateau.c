/* Plateau: reduces the rate by a factor on a plateau of the validation score, and linearly in the
 * last epochs.
 * Source: the locality paper states a plateau schedule and a reduction in the last 10 % of the
 * epochs. It does not state the numbers; the defaults here are one choice for all runs.
 * The rate is multiplied by `factor` after each `patience` epochs whose validation score is not
 * above the best by `threshold`, but is never below min_rate. From epoch ceil((1 - final_share) E)
 * on, plateaus have no effect, and the rate decreases linearly to `final_rate` times its value at
 * that epoch. The score is the metric of the task, with a negative sign if lower values are
 * better. */
#include "models/training/schedule.h"

#include <inttypes.h>
#include <math.h>

static int64_t final_epoch(const lra_schedule *s)
{
    return (int64_t)ceil((1 - s->final_share) * (double)s->epochs - 1e-9);
}

static double rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    double rate = fmax(s->rate * now->plateau, fmin(s->min_rate, s->rate));
    int64_t first = final_epoch(s), epoch = step / s->steps_per_epoch;
    if (s->final_share > 0 && epoch >= first) {
        double n = (double)(s->epochs - first), done = (double)(epoch - first + 1) / n;
        rate *= 1 - (1 - s->final_rate) * done;
    }
    return rate;
}

static void end_epoch(const lra_schedule *s, lra_schedule_state *now, int64_t epoch, double score)
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

static void text(const lra_schedule *s, lra_text *to)
{
    lra_text_add(to, "x%g after %" PRId64 " epochs without an improvement of %g, minimum %g",
                 s->factor, s->patience, s->threshold, s->min_rate);
    if (final_epoch(s) < s->epochs)
        lra_text_add(to, "; from epoch %" PRId64 " of %" PRId64 " down to %g %%",
                     final_epoch(s) + 1, s->epochs, 100 * s->final_rate);
}

static const lra_key keys[] = {
    LRA_SCHEDULE_FACTOR,
    LRA_INT_FIELD(lra_schedule, patience, "patience", "10", 0, 1e6,
                  "number of epochs without an improvement before a reduction"),
    LRA_REAL_FIELD(lra_schedule, threshold, "threshold", "0.0001", 0, 1,
                   "smallest difference that counts as an improvement"),
    LRA_REAL_FIELD(lra_schedule, min_rate, "min-rate", "1e-6", 0, 10, "smallest learning rate"),
    LRA_REAL_FIELD(
        lra_schedule, final_share, "final-share", "0.1", 0, 1,
        "share of the epochs, at the end of training, in which the rate decreases linearly"),
    LRA_REAL_FIELD(lra_schedule, final_rate, "final-rate", "0.01", 0, 1,
                   "share of the rate that remains at the end"),
    LRA_KEYS_END};

const lra_schedule_kind lra_schedule_plateau = {
    .keys = keys,
    .name = "plateau",
    .paper = "the locality paper",
    .summary =
        "rate times `factor` after `patience` epochs without an improvement; linear decrease "
        "at the end",
    .rate = rate,
    .epoch = end_epoch,
    .text = text};
