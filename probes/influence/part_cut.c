/* Part cut: the gain that remains if distances are limited to r, in all layers at once and in each
 * layer alone (distance_ablation.h). r is a limit PER LAYER: L consecutive layers that mix
 * positions reach together
 *   min(L r, T - 1, the model's own reach)
 * tokens. Part context limits the complete model.
 *   cut          cut.r50 .r90 .r95 .r99: smallest r that keeps this share of the gain; cut.reach99:
 *                tokens that all layers reach together at cut.r99; arrays depth (1): L; most (1):
 *                min(T - 1, the model's own reach)
 *   cut.window   only if all limited ops are attention: the thresholds of unit cut under the names
 *                window.w50 .. .w99
 *   cut.LAYER    layer.w50 .. .w99: smallest r that keeps this share if only that layer is limited
 * A model that answers requests must accept distance limits (facts.limits).
 * A threshold has no chance level; its null value is the input length, which keeps the complete
 * gain. */
#include "probes/influence/cut_of_model.h"

#include <math.h>

#include "kernels/base/core/mem.h"

static const char *undefined(const lra_influence *p)
{
    if (!p->engine) return lra_model_cut_undefined(&p->subject);
    return lra_model_no_limit_reason(p->engine->spec.model, p->engine->spec.model_config);
}

static const char *hint(const lra_influence *p)
{
    return p->engine ? lra_ablation_hint(&p->engine->spec) : NULL;
}

static double passes(const lra_influence *p, int64_t examples)
{
    int curves = lra_model_cut_curves(&p->subject);
    if (p->engine) {
        lra_device here = p->engine->device;
        curves = lra_ablation_curves(&p->engine->spec, &here, 0);
    }
    return (double)lra_influence_rows(p, examples) *
           (double)lra_ablation_runs(curves, p->subject.data->max_length);
}

/* cut.reach99 = min(L r, most). If r is only a lower bound (censored), the smallest possible
 * threshold is r + 1: if L (r + 1) >= most, the result is exactly `most` and no longer a bound. */
static lra_measurement reach_of(const lra_gain *g, int64_t n, double depth, double most)
{
    lra_measurement r = lra_influence_least("cut.r", LRA_GAIN_SHARES - 1, g, n);
    lra_measurement f = lra_measurement_of("cut.reach99", fmin(depth * r.value, most));
    f.examples = n, f.flags = r.flags, f.null[LRA_NULL_UNIFORM] = most;
    f.lo = fmin(depth * r.lo, most), f.hi = fmin(depth * r.hi, most);
    if (isnan(r.value)) f.value = f.lo = f.hi = NAN;
    if (f.flags & LRA_CENSORED && depth * (r.value + 1) >= most)
        f.value = f.lo = most, f.flags &= ~(uint32_t)(LRA_CENSORED | LRA_CENSORED_HI);
    return f;
}

static void add_reach(const lra_influence *p, lra_probe_unit *u, const lra_ablation *c,
                      const lra_gain *g)
{
    int64_t reach = p->subject.model->facts.reach;
    if (p->engine) {
        const lra_model *m = p->engine->spec.model;
        reach = m->reach ? m->reach(p->engine->spec.model_config) : -1;
    }
    double depth = c->depth, most = (double)p->subject.data->max_length - 1;
    if (reach >= 0) most = fmin(most, (double)reach);
    lra_measurement f = reach_of(g, c->n, depth, most);
    lra_probe_unit_measurements(u, 1, &f);
    lra_probe_unit_array(u, "depth", 1, (int64_t[]){1}, &depth);
    lra_probe_unit_array(u, "most", 1, (int64_t[]){1}, &most);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    lra_ablation c;
    int rc = p->engine ? lra_ablation_measure(&p->engine->spec, &p->engine->device, 0, examples,
                                              &p->steps, &c, e)
                       : lra_model_cut_measure(&p->subject, examples, &p->steps, &c, e);
    for (int k = 0; k < c.n_curves && rc == 0; k++) {
        lra_gain g;
        const lra_ablation_curve *curve = &c.curve[k];
        char *name = curve->name ? lra_format("cut.%s", curve->name) : lra_copy_text("cut");
        lra_probe_unit *u = lra_probe_unit_new(p->out, name);
        lra_influence_gain(p, c.n, c.index, c.n_points, c.r, curve->row, c.full, &g);
        lra_influence_add_gain(p, u, k ? "layer.w" : "cut.r", NULL, &g, c.n);
        if (k == 0) add_reach(p, u, &c, &g);
        if (k == 0 && c.attention)
            lra_influence_add_gain(p, lra_probe_unit_new(p->out, "cut.window"), "window.w", NULL,
                                   &g, c.n);
        lra_free(name);
    }
    lra_ablation_free(&c);
    return rc;
}

const lra_influence_part lra_part_cut = {
    .name = "cut",
    .summary = "gain with distance limit r in every layer (per layer, not of the complete model)",
    .examples = 2000,
    .examples_by_requests = 500,
    .least = 1,
    .units = (const char *const[]){"cut.*", NULL},
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .undefined = undefined,
    .hint = hint,
    .passes = passes,
    .measure = measure};
