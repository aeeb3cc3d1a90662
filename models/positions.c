/* Position embeddings that are added to the inputs.
 * Source: Vaswani et al. 2017, section 3.5 (sinusoidal, base 10000). */
#include "models/positions.h"

#include <math.h>

#include "kernels/graph/op.h"

static const double BASE = 10000;

/* Sinusoidal position table: (T,D). */
static void fill_waves(const lra_fill *f, double *v)
{
    int64_t D = f->shape.d[1];
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++) {
        int64_t channel = i % D, pair = channel / 2;
        double angle = (double)(i / D) * pow(BASE, -2.0 * (double)pair / (double)D);
        v[i] = channel % 2 ? cos(angle) : sin(angle);
    }
}

lra_tensor *lra_add_positions(const lra_build *b, lra_tensor *x, lra_positions kind)
{
    lra_graph *g = b->graph;
    lra_shape s = LRA_SHAPE(b->T_max, lra_width(x));
    lra_tensor *table;
    lra_push(g, "positions");
    switch (kind) {
    case LRA_POSITIONS_SINUSOIDAL:
        table = lra_constant(g, "table", s, LRA_SPEC(LRA_FILL(fill_waves)));
        break;
    case LRA_POSITIONS_LEARNED: table = lra_param(g, "table", s, LRA_SPEC(LRA_NORMAL(0.02))); break;
    case LRA_POSITIONS_NONE:
    case LRA_POSITIONS_ROTARY:
    default: lra_pop(g); return x;
    }
    lra_tensor *rows = b->position_ids ? lra_embedding(table, b->position_ids)
                                       : lra_cast(lra_slice(table, 0, 0, b->T), lra_elem(g));
    x = lra_add(x, rows);
    lra_pop(g);
    return x;
}
