/* Constant rate after the warm-up (Amos et al. 2024, arXiv:2310.02980: pretraining). */
#include "models/training/schedule.h"

static double rate(const lra_schedule *s, const lra_schedule_state *now, int64_t step)
{
    (void)now, (void)step;
    return s->rate;
}

static void text(const lra_schedule *s, lra_text *to)
{
    (void)s;
    lra_text_add(to, "constant");
}

const lra_schedule_kind lra_schedule_constant = {.name = "constant",
                                                 .paper = "arXiv:2310.02980",
                                                 .summary = "constant rate after the warm-up",
                                                 .rate = rate,
                                                 .text = text};
