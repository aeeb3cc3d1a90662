/* Part jacobian: the distance of the inputs on which the features of a position depend
 * (jacobian.h), after training and at initialisation; the shift between the two is the effect of
 * training.
 *   jacobian        weights J(i,j): all profile statistics, shift.w1, shift.js; shift.peak: the
 *                   distance at which the weight grew most relative to initialisation;
 *                   jacobian.leak (jacobian.h)
 *   jacobian.p2     the same statistics with weights J(i,j)^2
 *   jacobian.px     for images: distances in pixels
 *   jacobian.init   initial weights: only the curves
 * The uniform baseline covers all inputs (for a causal model, position i and those before it),
 * whatever the model's reach, so that models of different reach have the same baseline.
 * The part does not measure the distance of a dependency if the model has one output per input. For
 * two-token XOR at distance 8, 16, 32, range.q95 is the reach of a convolution model (6, 12, 23 for
 * reach 6, 12, 24), and otherwise close to its value at initialisation. shift.peak finds the
 * distance in all 18 runs of copy at distance 8 to 64, also in stacks of narrow layers, but only in
 * 6 of 22 runs with one output (reports/measured/known-truth). */
#include "probes/influence/jacobian_profiles.h"

#include <string.h>

enum {
    EXAMPLES = 64,
    PLAIN = LRA_JACOBIAN_PLAIN,
    SQUARES = LRA_JACOBIAN_SQUARES,
    PIXELS = LRA_JACOBIAN_PIXELS,
    N_PROFILES = LRA_JACOBIAN_PROFILES
};
static const char *const unit_names[N_PROFILES] = {"jacobian", "jacobian.p2", "jacobian.px"};
typedef lra_jacobian_profiles profiles;

static double passes(const lra_influence *p, int64_t examples)
{
    return lra_influence_weights(p) *
           lra_jacobian_profiles_passes(p, examples, LRA_JACOBIAN_POSITIONS);
}

static int run(lra_influence *p, int64_t examples, lra_subject_weights weights, profiles *to,
               lra_err *e)
{
    return lra_jacobian_profiles_measure(p, examples, LRA_JACOBIAN_POSITIONS, NULL, weights, to, e);
}

static void add_unit(lra_influence *p, int k, const profiles *best, const profiles *initial)
{
    lra_measurement own[LRA_PROFILE_MEASUREMENTS + 4], init[LRA_PROFILE_MEASUREMENTS];
    const lra_profile_options o = {.suffix = k == PIXELS ? ".px" : NULL,
                                   .reach = k == PIXELS || p->result->reach < 0 ? 0
                                                                                : p->result->reach,
                                   .key = p->subject.seed};
    lra_probe_unit *u = lra_probe_unit_new(p->out, unit_names[k]);
    lra_influence_add_curves(u, best->profile[k]);
    int n = lra_profile_measurements(best->profile[k], &o, own);
    bool has_initial = lra_influence_has_initial(p);
    if (has_initial) {
        int n_init = lra_profile_measurements(initial->profile[k], &o, init);
        lra_measurements_null(n, own, n_init, init, LRA_NULL_INIT);
        n += lra_profile_shift(initial->profile[k], best->profile[k], &o, own + n);
    }
    if (k == PLAIN) {
        lra_measurement f = lra_measurement_of("jacobian.leak", best->report.leak);
        f.examples = best->report.examples, f.null[LRA_NULL_UNIFORM] = 0;
        own[n++] = f;
    }
    if (k == PLAIN && has_initial)
        own[n++] = lra_profile_peak(initial->profile[PLAIN], best->profile[PLAIN], true, &o);
    /* approximate, because draws of v, and positions of long examples, are sampled */
    for (int i = 0; i < n; i++)
        if (strcmp(own[i].id, "jacobian.leak") != 0 || best->report.examples < p->result->n)
            own[i].flags |= LRA_APPROX;
    lra_probe_unit_measurements(u, n, own);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    profiles best, initial;
    lra_jacobian_profiles_open(&best, p, true);
    lra_jacobian_profiles_open(&initial, p, true);
    int rc = run(p, examples, LRA_TRAINED_WEIGHTS, &best, e);
    if (rc == 0 && lra_influence_has_initial(p))
        rc = run(p, examples, LRA_RESET_WEIGHTS, &initial, e);
    for (int k = 0; k < N_PROFILES && rc == 0; k++)
        if (best.profile[k]) add_unit(p, k, &best, &initial);
    if (rc == 0 && lra_influence_has_initial(p))
        lra_influence_add_curves(lra_probe_unit_new(p->out, "jacobian.init"),
                                 initial.profile[PLAIN]);
    lra_jacobian_profiles_close(&best);
    lra_jacobian_profiles_close(&initial);
    return rc;
}

static const lra_part_setting settings[] = {LRA_UNIFORM_SETTING("jacobian"), {.name = NULL}};

const lra_influence_part lra_part_jacobian = {
    .name = "jacobian",
    .summary = "distance of the inputs that the features of a position depend on",
    .examples = EXAMPLES,
    .least = 1,
    .units = (const char *const[]){"jacobian.p2", "jacobian.px", "jacobian.init", NULL},
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM) | LRA_NULL_BIT(LRA_NULL_INIT),
    .settings = settings,
    .needs = LRA_ANSWERS_VJP,
    .passes = passes,
    .measure = measure};
