/* Part cut: what is left when nothing farther than r counts, in all layers and in each alone
 * (cut.h).
 *   cut          cut.r50 .r90 .r95 .r99: smallest r that keeps so much of the gain; and of
 *                attention, in
 *   cut.window   window.w50 ..
 *   cut.LAYER    layer.w50 .. .w99: the same where that layer alone is cut
 * Two-token XOR at 8, 16, 32 steps: cut.r95 is the distance of three convolutions; 16 and 32 at 8
 * and 16 steps of s4d, 32, 16 and 128 of a Transformer, whose layers pass on what they found, so
 * that it bounds the distance from above.  Chance of a kept share is not defined; beside each
 * stands the length, which keeps everything. */
#include "probes/influence/cut.h"
#include "probes/influence/part.h"

#include "kernels/base/mem.h"

static const char *undefined(const lra_influence *p)
{
    return lra_model_unlimited(p->spec.model, p->spec.model_config);
}

static double passes(const lra_influence *p, int64_t examples)
{
    lra_device here = p->device;
    return (double)lra_influence_rows(p, examples) *
           (double)lra_cut_runs(lra_cut_curves(&p->spec, &here, 0), p->spec.data->max_length);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    lra_cut c;
    int rc = lra_cut_measure(&p->spec, &p->device, 0, examples, &p->steps, &c, e);
    for (int k = 0; k < c.n_curves && rc == 0; k++) {
        lra_gain g;
        const lra_cut_curve *curve = &c.curve[k];
        char *name = curve->name ? lra_format("cut.%s", curve->name) : lra_copy_text("cut");
        lra_probe_unit *u = lra_probe_unit_new(p->out, name);
        lra_influence_gain(p, c.n, c.index, c.n_points, c.r, curve->row, c.full, &g);
        lra_influence_add_gain(p, u, k ? "layer.w" : "cut.r", NULL, &g, c.n);
        if (k == 0 && c.attention)
            lra_influence_add_gain(p, lra_probe_unit_new(p->out, "cut.window"), "window.w", NULL,
                                   &g, c.n);
        lra_free(name);
    }
    lra_cut_free(&c);
    return rc;
}

const lra_influence_part lra_part_cut = {
    "cut",  "accuracy when nothing beyond r steps counts, layer by layer",
    2000,   undefined,
    passes, measure,
    1};
