/* Part layers: the distance of the inputs on which the features after each layer depend, as part
 * jacobian measures it for the features before the pool. For models that name their layers (key
 * feature_layers of `ready`, audit/ready.h).
 *   layers.LAYER   weights J(i,j) = || d h_i / d e_j ||, h_i: features of position i after the
 *                  layer; all profile statistics, with those of initial weights as null values
 * The units are in the order of the model. */
#include "probes/influence/jacobian_profiles.h"

#include "kernels/base/core/mem.h"
#include "probes/shared/map_block.h"

enum { EXAMPLES = 16, POSITIONS = 8, LEAST_LAYERS = 2 };

static const char *undefined(const lra_influence *p)
{
    return p->subject.model->facts.n_feature_layers < LEAST_LAYERS
               ? "the model names fewer than two layers with features (feature_layers)"
               : NULL;
}

static double passes(const lra_influence *p, int64_t examples)
{
    return lra_influence_weights(p) * (double)p->subject.model->facts.n_feature_layers *
           lra_jacobian_profiles_passes(p, examples, POSITIONS);
}

static void add_unit(lra_influence *p, const char *layer, const lra_jacobian_profiles *best,
                     const lra_jacobian_profiles *initial)
{
    lra_measurement own[LRA_PROFILE_MEASUREMENTS], init[LRA_PROFILE_MEASUREMENTS];
    const lra_profile_options o = {.key = p->subject.seed};
    char *name = lra_map_layer_name(layer), *unit = lra_format("layers.%s", name);
    lra_probe_unit *u = lra_probe_unit_new(p->out, unit);
    lra_influence_add_curves(u, best->profile[LRA_JACOBIAN_PLAIN]);
    int n = lra_profile_measurements(best->profile[LRA_JACOBIAN_PLAIN], &o, own);
    if (lra_influence_has_initial(p)) {
        int n_init = lra_profile_measurements(initial->profile[LRA_JACOBIAN_PLAIN], &o, init);
        lra_measurements_null(n, own, n_init, init, LRA_NULL_INIT);
    }
    for (int i = 0; i < n; i++) own[i].flags |= LRA_APPROX; /* draws and positions are sampled */
    lra_probe_unit_measurements(u, n, own);
    lra_free(unit);
    lra_free(name);
}

/* Learns the widths of all layers, so that the plan of an audit has these requests in one round. */
static int learn_widths(const lra_influence *p, lra_err *e)
{
    lra_responder *r = p->subject.model;
    int rc = 0;
    for (int k = 0; k < r->facts.n_feature_layers && (rc == 0 || rc == LRA_ABSENT); k++) {
        lra_err other;
        int64_t D;
        int one = lra_responder_width(r, r->facts.feature_layer[k], &D, rc == 0 ? e : &other);
        if (rc == 0 || one == LRA_FAILED) rc = one;
    }
    return rc;
}

static int measure_layer(lra_influence *p, const char *layer, int64_t examples, lra_err *e)
{
    lra_jacobian_profiles best, initial;
    lra_jacobian_profiles_open(&best, p, false);
    lra_jacobian_profiles_open(&initial, p, false);
    int rc = lra_jacobian_profiles_measure(p, examples, POSITIONS, layer, LRA_TRAINED_WEIGHTS,
                                           &best, e);
    if (rc == 0 && lra_influence_has_initial(p))
        rc = lra_jacobian_profiles_measure(p, examples, POSITIONS, layer, LRA_RESET_WEIGHTS,
                                           &initial, e);
    if (rc == 0) add_unit(p, layer, &best, &initial);
    lra_jacobian_profiles_close(&best);
    lra_jacobian_profiles_close(&initial);
    return rc;
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    const lra_responder_facts *f = &p->subject.model->facts;
    int rc = learn_widths(p, e);
    for (int k = 0; k < f->n_feature_layers && rc == 0; k++) {
        rc = measure_layer(p, f->feature_layer[k], examples, e);
        if (rc != 0) lra_fail_in(e, "layer '%s'", f->feature_layer[k]);
    }
    return rc;
}

static const lra_part_setting settings[] = {LRA_UNIFORM_SETTING("layers"), {.name = NULL}};

const lra_influence_part lra_part_layers = {
    .name = "layers",
    .summary = "distance of the inputs that the features after each layer depend on",
    .examples = EXAMPLES,
    .least = 1,
    .units = (const char *const[]){"layers.*", NULL},
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM) | LRA_NULL_BIT(LRA_NULL_INIT),
    .settings = settings,
    .needs = LRA_ANSWERS_VJP,
    .undefined = undefined,
    .passes = passes,
    .measure = measure};
