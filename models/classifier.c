/* Embedding, encoder, pooling and head: what every classifier shares. */
#include "models/classifier.h"

#include "kernels/base/mem.h"
#include "kernels/graph/op.h"
#include "models/layers.h"

/* (B,T) to (B,T,D). */
static lra_tensor *embed(lra_classifier *k, const lra_config *c, const lra_head *head, int64_t B,
                         int64_t T)
{
    lra_graph *g = k->graph;
    int64_t width = lra_config_int(c, "width");
    if (head->vocab == 0) {
        k->values = lra_input(g, "values", lra_real(g), LRA_SHAPE(B, T, head->channels));
        return lra_layer_linear(lra_cast(k->values, lra_elem(g)), "embed", width, LRA_ACT_NONE,
                                NULL);
    }
    k->tokens = lra_input(g, "tokens", LRA_I32, LRA_SHAPE(B, T));
    lra_push(g, "embed");
    lra_shape table = LRA_SHAPE(head->vocab, width);
    lra_tensor *x = lra_embedding(lra_param(g, "table", table, "normal:1"), k->tokens);
    lra_pop(g);
    return x;
}

lra_classifier lra_classifier_build(lra_type type, lra_mode mode, const lra_model *m,
                                    const lra_config *c, const lra_head *head, int64_t B, int64_t T)
{
    lra_graph *g = lra_graph_new(type, mode);
    lra_classifier k = {.graph = g};
    lra_tensor *x = embed(&k, c, head, B, T);
    k.length = lra_input(g, "length", LRA_I32, LRA_SHAPE(B));
    k.label = lra_input(g, "label", LRA_I32, LRA_SHAPE(B));

    lra_push(g, "encoder");
    x = m->encode(g, c, x, k.length);
    lra_pop(g);
    x = lra_name(x, "features");

    lra_tensor *p = lra_cast(lra_pool(x, k.length, head->pool), lra_elem(g));
    k.logits = lra_layer_linear(p, "head", head->classes, LRA_ACT_NONE, NULL);
    k.logits = lra_name(lra_cast(k.logits, lra_real(g)), "logits");
    k.loss = lra_cross_entropy(k.logits, k.label);
    return k;
}

int64_t lra_classifier_parameters(const lra_model *m, const lra_config *c, const lra_head *head)
{
    lra_classifier k = lra_classifier_build(LRA_F32, LRA_EVAL, m, c, head, 1, 8);
    int n = lra_graph_params(k.graph, NULL);
    lra_tensor **param = lra_alloc_array((size_t)n + 1, sizeof *param);
    lra_graph_params(k.graph, param);
    int64_t total = 0;
    for (int i = 0; i < n; i++) total += lra_elements(param[i]);
    lra_free(param);
    lra_graph_free(k.graph);
    return total;
}
