/* Multistep: multiplies the rate by `factor` every `every` epochs (S4 on BIDMC). */
#include "models/training/schedule.h"

#include <inttypes.h>
#include <math.h>

static double rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    (void)now;
    int64_t epoch = step / s->steps_per_epoch;
    return s->rate * pow(s->factor, (double)(epoch / s->every));
}

static void text(const lra_schedule *s, lra_text *to)
{
    lra_text_add(to, "x%g every %" PRId64 " epochs", s->factor, s->every);
}

static const lra_key keys[] = {LRA_SCHEDULE_FACTOR,
                               LRA_INT_FIELD(lra_schedule, every, "every", "100", 1, 1e6,
                                             "number of epochs between two reductions"),
                               LRA_KEYS_END};

const lra_schedule_kind lra_schedule_multistep = {
    .name = "multistep",
    .paper = "S4 on BIDMC",
    .summary = "multiplied by factor at regular numbers of epochs",
    .keys = keys,
    .rate = rate,
    .text = text};
