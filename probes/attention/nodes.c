/* Attention in a graph. */
#include "probes/attention/nodes.h"

#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention_statistics.h"

char *lra_attention_layer_name(const lra_tensor *node, int k)
{
    const char *at = strstr(lra_tensor_path(node), "layer");
    return at ? lra_format("%.*s", (int)strcspn(at, "/"), at) : lra_format("layer%d", k);
}

int64_t lra_attention_columns(const lra_train_spec *run)
{
    return run->pool == LRA_POOL_CLS ? 0 : lra_dataset_grid(run->data);
}

int lra_attention_nodes_of(const lra_view *v, lra_attention_nodes *out, lra_err *e)
{
    lra_tensor *all[LRA_ATTENTION_LAYERS];
    const char *model = v->network.model->name;
    int n = lra_graph_nodes(v->network.graph, &lra_op_attention, LRA_ATTENTION_LAYERS, all);
    *out = (lra_attention_nodes){0};
    if (n == 0) return lra_fail_usage(e, "model '%s' has no attention", model);
    if (n > LRA_ATTENTION_LAYERS)
        return lra_fail(e, "%d layers of attention, at most %d", n, LRA_ATTENTION_LAYERS);
    for (int k = 0; k < n; k++) {
        if (lra_attention_crosses(all[k]))
            out->left_out[out->n_left_out++] = all[k];
        else
            out->node[out->n++] = all[k];
    }
    if (out->n == 0)
        return lra_fail_usage(e,
                              "keys of all attention of model '%s' are another sequence, "
                              "which has no distances",
                              model);
    return 0;
}
