/* Attention in a graph. */
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
    const lra_tensor *y = n->matrix[k].family ? n->matrix[k].part : n->node[k];
    bool asks = y && y->op == &lra_op_attention && head < lra_attention_heads(y);
    return asks ? lra_attention_decay(y, head) : 0;
}

int64_t lra_attention_layer_positions(const lra_attention_nodes *n, int k)
{
    return n->matrix[k].family ? n->matrix[k].T : lra_attention_positions(n->node[k]);
}

int64_t lra_attention_extra(const lra_length_graph *v)
{
    return v->network.cls != NULL;
}

/* Returns true if one of these matrices contains the node. */
static bool is_part(int n, const lra_matrix *w, const lra_tensor *node)
{
    for (int k = 0; k < n; k++)
        if (w[k].family && w[k].part == node) return true;
    return false;
}

/* The nodes of an op in the order of the graph: matrices of families, and those of attention
 * itself. */
static void take(const lra_length_graph *v, const lra_op *op, lra_attention_nodes *out)
{
    lra_graph *g = v->network.graph;
    int n = lra_graph_nodes(g, op, 0, NULL);
    int64_t T = v->T + lra_attention_extra(v);
    lra_tensor **all = lra_alloc_array((size_t)n + 1, sizeof *all);
    lra_matrix *w = lra_alloc_array((size_t)n + 1, sizeof *w);
    lra_graph_nodes(g, op, n, all);
    for (int k = 0; k < n; k++) w[k] = lra_matrix_find(all[k], v->network.n, T);
    for (int k = 0; k < n && out->n < LRA_ATTENTION_LAYERS; k++) {
        bool attention = op == &lra_op_attention, own = attention && !lra_attention_crosses(all[k]);
        if (w[k].family || own) {
            out->node[out->n] = all[k];
            out->matrix[out->n++] = w[k];
        } else if (attention && !is_part(n, w, all[k]) && out->n_left_out < LRA_ATTENTION_LAYERS) {
            out->left_out[out->n_left_out++] = all[k];
        }
    }
    lra_free(all);
    lra_free(w);
}

int lra_attention_nodes_of(const lra_length_graph *v, lra_attention_nodes *out, lra_err *e)
{
    const char *model = v->network.model->name;
    int n = lra_graph_nodes(v->network.graph, &lra_op_attention, 0, NULL);
    *out = (lra_attention_nodes){0};
    if (n > LRA_ATTENTION_LAYERS)
        return lra_fail(e, "%d layers of attention, at most %d", n, LRA_ATTENTION_LAYERS);
    take(v, &lra_op_attention, out);
    take(v, &lra_op_matmul, out);
    if (out->n > 0) return 0;
    if (n == 0)
        return lra_fail_usage(
            e, "model '%s' has no attention; 'lra-probe kernels' and 'influence' ask others",
            model);
    return lra_fail_usage(e,
                          "keys of all attention of model '%s' are another sequence, "
                          "which has no distances",
                          model);
}
