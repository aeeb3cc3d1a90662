/* Part shift: sensitivity of the output to the position of the content within its padding
 * (shift.h).
 *   shift   position.shift.K: mean over examples of KL(p || p shifted by K tokens), in nats, where
 *           p are the output probabilities; `undefined` counts rows without room for the shift;
 *           null value: initial weights. Arrays x (4): K in tokens; kl (4,3): mean, lower and upper
 *           end
 * Models without position ids give exactly 0, because they depend only on relative positions.
 * Tested (tests/kernels/shift_test.c): the result equals that of shifting the rows of the position
 * table. */
#include <math.h>
#include <stdio.h>

#include "analysis/distributions.h"
#include "probes/influence/part.h"
#include "probes/influence/shift.h"

enum { EXAMPLES = 500, STEPS = LRA_SHIFTS };

static lra_measurement measurement_of(const lra_shifted *s, int k)
{
    char id[LRA_MEASUREMENT_ID];
    int64_t moved = s->by[k].n;
    double n = (double)moved, mean = moved > 0 ? s->by[k].kl / n : NAN;
    snprintf(id, sizeof id, "position.shift.%d", (int)lra_shift_steps[k]);
    lra_measurement f = lra_measurement_of(id, mean);
    if (moved > 1) {
        double of_mean = fmax(0, s->by[k].square / n - mean * mean) / (n - 1);
        f.lo = fmax(0, mean - lra_normal_quantile(0.975) * sqrt(of_mean)),
        f.hi = mean + lra_normal_quantile(0.975) * sqrt(of_mean);
    }
    f.examples = moved;
    f.undefined = s->requested - moved;
    return f;
}

static const char *undefined(const lra_influence *p)
{
    lra_goal goal = p->subject.data->task->goal;
    if (goal != LRA_GOAL_CLASS && goal != LRA_GOAL_PAIR) return "the outputs are no probabilities";
    const char *why = lra_influence_no_position_ids(p);
    const lra_sequences *r = &p->subject.data->split[LRA_TEST_SPLIT];
    for (int64_t i = 0; i < r->n && !why; i++)
        if (lra_sequences_length(r, i) < p->subject.data->max_length) return NULL;
    return why ? why : "all rows have the same length, which leaves no room for a shift";
}

static double passes(const lra_influence *p, int64_t examples)
{
    return lra_influence_weights(p) * (double)lra_influence_rows(p, examples) * (1 + STEPS);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    lra_shifted best, initial;
    double x[STEPS], kl[3 * STEPS];
    int rc = lra_shift_measure(&p->subject, LRA_TRAINED_WEIGHTS, examples, &p->steps, &best, e);
    if (rc == 0 && lra_influence_has_initial(p))
        rc = lra_shift_measure(&p->subject, LRA_RESET_WEIGHTS, examples, &p->steps, &initial, e);
    if (rc != 0) return rc;
    lra_probe_unit *u = lra_probe_unit_new(p->out, "shift");
    for (int k = 0; k < STEPS; k++) {
        lra_measurement f = measurement_of(&best, k);
        if (lra_influence_has_initial(p)) f.null[LRA_NULL_INIT] = measurement_of(&initial, k).value;
        x[k] = lra_shift_steps[k];
        kl[3 * k] = f.value, kl[3 * k + 1] = f.lo, kl[3 * k + 2] = f.hi;
        lra_probe_unit_measurements(u, 1, &f);
    }
    lra_probe_unit_array(u, "x", 1, (int64_t[]){STEPS}, x);
    lra_probe_unit_array(u, "kl", 2, (int64_t[]){STEPS, 3}, kl);
    return 0;
}

const lra_influence_part lra_part_shift = {
    .name = "shift",
    .summary = "effect of moving the content within its padding",
    .examples = EXAMPLES,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_INIT),
    .needs = LRA_ANSWERS_FORWARD | LRA_ANSWERS_PLACE,
    .undefined = undefined,
    .passes = passes,
    .measure = measure};
