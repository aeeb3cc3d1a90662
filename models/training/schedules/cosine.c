/* Cosine: (1 + cos(pi (t - W) / (T - W))) / 2; 0 beyond T (S4, S5). */
#include "models/training/schedule.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static double rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    (void)now;
    return s->rate * (1 + cos(PI * lra_schedule_progress(s, step))) / 2;
}

static void text(const lra_schedule *s, lra_text *to)
{
    lra_text_add(to, "half a cosine down to 0 at step %.0f", lra_schedule_total(s));
}

const lra_schedule_kind lra_schedule_cosine = {
    .name = "cosine",
    .paper = "S4, S5",
    .summary = "half a cosine from the peak to 0",
    .keys = (const lra_key[]){LRA_SCHEDULE_TOTAL, LRA_KEYS_END},
    .rate = rate,
    .text = text};
