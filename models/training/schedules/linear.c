/* Linear: (T - t) / (T - W); 0 beyond T (MEGA). */
#include "models/training/schedule.h"

static double rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    (void)now;
    return s->rate * (1 - lra_schedule_progress(s, step));
}

static void text(const lra_schedule *s, lra_text *to)
{
    lra_text_add(to, "linearly down to 0 at step %.0f", lra_schedule_total(s));
}

static const lra_key keys[] = {LRA_SCHEDULE_TOTAL,
                               LRA_REAL_FIELD(lra_schedule, power, "warmup-power", "1", 1e-3, 100,
                                              "exponent of the warm-up (1 = linear)"),
                               LRA_KEYS_END};

const lra_schedule_kind lra_schedule_linear = {.name = "linear",
                                               .paper = "MEGA",
                                               .summary = "linear decrease from the peak to 0",
                                               .keys = keys,
                                               .rate = rate,
                                               .text = text};
