/* Part heads: the gain that remains if one attention head, or a few neighbouring heads, is limited
 * to distance r and all others are not (distance_ablation.h). Shows which heads need distant
 * context.
 *   heads.LAYER.headN, heads.LAYER.headN-M   layer.w50 .. .w99: as for a layer in part cut
 * A layer has at most --head-groups of these, so that they take as many passes as its layers do in
 * part cut: four times as many curves, of a quarter of the examples.  Two heads that are
 * dispensable one at a time need not be dispensable together: other heads, or the residual stream,
 * can hold the same information; part cut limits all heads of a layer together.  Known: two heads
 * of a layer with limits of their own reach as far as the farther one, and each alone is what it is
 * where all of its layer have its limit, bit for bit (tests/kernels/distance_limit_test.c,
 * attention_test.c). */
#include "probes/influence/distance_ablation.h"
#include "probes/influence/part.h"

#include <stdio.h>

#include "kernels/base/core/mem.h"

const lra_option lra_part_heads_options[] = {
    {.name = "head-groups",
     .kind = LRA_OPTION_INT,
     .value = "4",
     .min = 1,
     .max = 64,
     .arg = "N",
     .help = "part 'heads': largest number of groups of adjacent heads in a layer"},
    {.name = NULL}};

static int groups_of(const lra_influence *p)
{
    return (int)lra_option_int(p->options, "head-groups");
}

static void group_setting(const lra_influence *p, char text[LRA_SETTING_TEXT])
{
    snprintf(text, LRA_SETTING_TEXT, "%d", groups_of(p));
}

static const lra_part_setting settings[] = {{"head-groups", "0", group_setting}, {.name = NULL}};

static int curves_of(const lra_influence *p)
{
    lra_device here = p->device;
    return lra_ablation_curves(&p->spec, &here, groups_of(p));
}

static const char *undefined(const lra_influence *p)
{
    const char *why = lra_model_unlimited(p->spec.model, p->spec.model_config);
    if (why) return why;
    return curves_of(p) ? NULL : "no layer has several heads of attention";
}

static const char *hint(const lra_influence *p)
{
    return lra_ablation_hint(&p->spec);
}

static double passes(const lra_influence *p, int64_t examples)
{
    return (double)lra_influence_rows(p, examples) *
           (double)lra_ablation_runs(curves_of(p), p->spec.data->max_length);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    lra_ablation c;
    int rc = lra_ablation_measure(&p->spec, &p->device, groups_of(p), examples, &p->steps, &c, e);
    for (int k = 0; k < c.n_curves && rc == 0; k++) {
        lra_gain g;
        char *name = lra_format("heads.%s", c.curve[k].name);
        lra_influence_gain(p, c.n, c.index, c.n_points, c.r, c.curve[k].row, c.full, &g);
        lra_influence_add_gain(p, lra_probe_unit_new(p->out, name), "layer.w", NULL, &g, c.n);
        lra_free(name);
    }
    lra_ablation_free(&c);
    return rc;
}

const lra_influence_part lra_part_heads = {
    .name = "heads",
    .summary = "gain with distance limit r on a group of heads of one layer",
    .examples = 500,
    .least = 1,
    .units = (const char *const[]){"heads.*", NULL},
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .settings = settings,
    .undefined = undefined,
    .hint = hint,
    .passes = passes,
    .measure = measure};
