/* Finds the attention layers of a graph (attention_nodes.h). */
#include "probes/shared/attention_nodes.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"

char *lra_attention_layer_name(const lra_tensor *node, int k)
{
    const char *at = strstr(lra_tensor_path(node), "layer");
    return at ? lra_format("%.*s", (int)strcspn(at, "/"), at) : lra_format("layer%d", k);
}

int64_t lra_attention_columns(const lra_train_spec *run)
{
    return run->pool == LRA_POOL_CLS ? 0 : lra_dataset_grid(run->data);
}

int64_t lra_attention_layer_heads(const lra_attention_nodes *n, int k)
{
    return n->matrix[k].family ? n->matrix[k].heads : lra_attention_heads(n->node[k]);
}

double lra_attention_layer_decay(const lra_attention_nodes *n, int k, int64_t head)
{
    return n->matrix[k].family ? 0 : lra_attention_decay(n->node[k], head);
}

int64_t lra_attention_layer_positions(const lra_attention_nodes *n, int k)
{
    return n->matrix[k].family ? n->matrix[k].T : lra_attention_positions(n->node[k]);
}

int64_t lra_attention_extra(const lra_length_graph *v)
{
    return v->network.cls != NULL;
}

/* True if the node is the `inner` attention op of one of the n mixing matrices w. */
static bool is_inner(int n, const lra_matrix *w, const lra_tensor *node)
{
    for (int k = 0; k < n; k++)
        if (w[k].of->inner == node) return true;
    return false;
}

int lra_attention_nodes_of(const lra_length_graph *v, lra_attention_nodes *out, lra_err *e)
{
    const char *model = v->network.model->name;
    lra_graph *g = v->network.graph;
    int64_t T = v->T + lra_attention_extra(v);
    lra_tensor *declared[LRA_ATTENTION_LAYERS], *all[LRA_ATTENTION_LAYERS];
    int n = lra_graph_nodes(g, &lra_op_attention, LRA_ATTENTION_LAYERS, all);
    *out = (lra_attention_nodes){.n = lra_graph_mixing(g, LRA_ATTENTION_LAYERS, declared)};
    if (n > LRA_ATTENTION_LAYERS || out->n > LRA_ATTENTION_LAYERS)
        return lra_fail(e, "%d attention layers, at most %d are supported", n > out->n ? n : out->n,
                        LRA_ATTENTION_LAYERS);
    for (int k = 0; k < out->n; k++) {
        out->node[k] = declared[k];
        out->matrix[k] = lra_matrix_at(declared[k], v->network.n, T);
    }
    for (int k = 0; k < n; k++)
        if (!lra_mixing_of(all[k]) && !is_inner(out->n, out->matrix, all[k]))
            out->left_out[out->n_left_out++] = all[k];
    if (out->n > 0) return 0;
    if (n == 0)
        return lra_fail_usage(
            e, "model '%s' has no attention; use 'lra-probe kernels' or 'lra-probe influence'",
            model);
    return lra_fail_usage(
        e,
        "the attention keys of model '%s' come from another sequence, so distances are undefined",
        model);
}
