/* Residual blocks around long convolutions. */
#include "models/conv_blocks.h"

#include <math.h>

#include "kernels/graph/op.h"
#include "models/layers.h"

bool lra_conv_blocks_causal(const lra_config *c)
{
    return lra_config_int(c, "causal") != 0;
}

int64_t lra_conv_blocks_reach(const lra_config *c)
{
    (void)c;
    return -1;
}

lra_tensor *lra_conv_blocks_norm(const lra_build *b, lra_tensor *x)
{
    bool batch = lra_config_is(b->config, "norm-kind", "batch");
    return batch ? lra_layer_batch_norm(x, "norm", b->length) : lra_layer_layer_norm(x, "norm");
}

/* Returns k * u + D u for each of the C kernels of a channel: (B,T,C D). */
static lra_tensor *convolve(const lra_build *b, lra_tensor *u, lra_tensor *k)
{
    lra_graph *g = b->graph;
    lra_shape s = lra_tensor_shape(k);
    /* the kernel has one dimension only after an error in the graph */
    int64_t D = lra_width(u), width = s.n > 1 ? s.d[s.n - 2] : D;
    if (width > D) {
        u = lra_broadcast(lra_reshape(u, LRA_SHAPE(b->B, b->T, 1, D)),
                          LRA_SHAPE(b->B, b->T, width / D, D));
        u = lra_reshape(u, LRA_SHAPE(b->B, b->T, width));
    }
    lra_tensor *skip = lra_param(g, "skip", LRA_SHAPE(width), LRA_SPEC(LRA_NORMAL(1)));
    return lra_add(lra_long_conv(u, lra_name(k, "kernel"), b->length),
                   lra_mul(u, lra_cast(skip, lra_elem(g))));
}

lra_tensor *lra_conv_blocks(const lra_build *b, lra_tensor *x, const char *scope,
                            lra_kernels kernels)
{
    const lra_config *c = b->config;
    bool post = lra_config_is(c, "norm", "post"), gate = lra_config_int(c, "gate");
    int64_t width = lra_config_int(c, "width");
    double dropout = lra_config_real(c, "dropout");
    bool early = lra_config_has(c, "early-dropout") && lra_config_int(c, "early-dropout");
    for (int64_t i = 0; i < lra_config_int(c, "layers"); i++) {
        lra_push(b->graph, "layer%d", (int)i);
        lra_tensor *u = post ? x : lra_conv_blocks_norm(b, x);
        lra_push(b->graph, "%s", scope);
        lra_tensor *h = convolve(b, u, kernels(b));
        h = lra_gelu(early ? lra_dropout(h, dropout, false) : h);
        lra_pop(b->graph);
        h = lra_layer_linear(lra_dropout(h, dropout, true), "mix", (gate ? 2 : 1) * width,
                             LRA_ACT_NONE, NULL);
        if (gate)
            h = lra_gate(lra_slice(h, 2, width, width), LRA_GATE_SIGMOID,
                         lra_slice(h, 2, 0, width));
        x = lra_layer_stream_add(x, lra_dropout(h, dropout, true));
        if (post) x = lra_conv_blocks_norm(b, x);
        lra_pop(b->graph);
    }
    return post ? x : lra_conv_blocks_norm(b, x);
}

lra_param_spec lra_log_steps(const lra_build *b, lra_param_spec s)
{
    s.init = LRA_INIT_UNIFORM;
    s.a = log(lra_config_real(b->config, "dt-min"));
    s.b = log(lra_config_real(b->config, "dt-max"));
    if (s.a > s.b) lra_graph_fail(b->graph, "dt-min is above dt-max");
    return s;
}
