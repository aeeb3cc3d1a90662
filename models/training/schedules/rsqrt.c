/* Inverse square root: 1 / sqrt(max(t + 1, W)). `rate` is the rate that step 1 would have without
 * warm-up (0.05 for the Transformers of the Long Range Arena). */
#include "models/training/schedule.h"

#include <math.h>

static double rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    (void)now;
    return s->rate / sqrt(fmax((double)step + 1, lra_schedule_warm(s)));
}

static void text(const lra_schedule *s, lra_text *to)
{
    double W = fmax(lra_schedule_warm(s), 1);
    lra_text_add(to, "over sqrt(max(step, %.0f)), at most %.3g", W, s->rate / sqrt(W));
}

const lra_schedule_kind lra_schedule_rsqrt = {
    .name = "rsqrt",
    .paper = "Transformers of the Long Range Arena",
    .summary = "inverse square root of the step, after the warm-up",
    .rate = rate,
    .text = text};
