/* Part heads: the gain that remains if one attention head, or a group of adjacent heads, has the
 * distance limit r and all other heads are unlimited (distance_ablation.h). It shows which heads
 * need distant context.
 *   heads.LAYER.headN, heads.LAYER.headN-M   layer.w50 .. .w99: smallest r that keeps this share of
 *                                            the gain
 * --head-groups is the maximum number of groups in a layer. With the defaults, the cost is close to
 * that of part cut: four times as many curves, on a quarter of the examples. If two heads are
 * dispensable one at a time, they need not be dispensable together, because another head or the
 * residual stream can hold the same information; part cut limits all heads of a layer together.
 * Tested (tests/kernels/distance_limit_test.c, attention_test.c): two heads of a layer with
 * different limits together reach as far as the larger limit, and each head gives, bit for bit, the
 * result that it gives if all heads of its layer have its limit. */
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
     .help = "part 'heads': maximum number of groups of adjacent heads in a layer"},
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
    lra_device here = p->engine->device;
    return lra_ablation_curves(&p->engine->spec, &here, groups_of(p));
}

static const char *undefined(const lra_influence *p)
{
    const char *why = lra_model_no_limit_reason(p->engine->spec.model,
                                                p->engine->spec.model_config);
    if (why) return why;
    return curves_of(p) ? NULL : "no layer has several heads of attention";
}

static const char *hint(const lra_influence *p)
{
    return lra_ablation_hint(&p->engine->spec);
}

static double passes(const lra_influence *p, int64_t examples)
{
    return (double)lra_influence_rows(p, examples) *
           (double)lra_ablation_runs(curves_of(p), p->subject.data->max_length);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    lra_ablation c;
    int rc = lra_ablation_measure(&p->engine->spec, &p->engine->device, groups_of(p), examples,
                                  &p->steps, &c, e);
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
    .engine = true,
    .undefined = undefined,
    .hint = hint,
    .passes = passes,
    .measure = measure};
