/* Finds nodes that mix positions without a convolution kernel (uncovered.h). In a graph with
 * distance limits, every op that mixes positions reads a limit, so these nodes are the readers of
 * limits whose op has no kernel. */
#include "probes/kernels/uncovered.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "probes/kernels/extract.h"

static const char *const covered[] = {"conv", "long_conv", "scan", NULL};

/* Name of the op without the suffix "_windowed", which marks the variant with a distance limit. */
static char *op_name(const lra_tensor *node)
{
    static const char suffix[] = "_windowed";
    size_t n = strlen(node->op->name), less = sizeof suffix - 1;
    bool near = n > less && strcmp(node->op->name + n - less, suffix) == 0;
    return lra_format("%.*s", (int)(near ? n - less : n), node->op->name);
}

/* "distance_mask" is covered too: it masks a kernel that a convolution reads. */
static bool is_covered(const char *op)
{
    bool found = strcmp(op, "distance_mask") == 0;
    for (int i = 0; covered[i] && !found; i++) found = strcmp(op, covered[i]) == 0;
    return found;
}

static void add_node(lra_text *t, const lra_tensor *node)
{
    char *op = op_name(node), *name = lra_found_name(node);
    char *one = lra_format("%s (%s)", name, op);
    /* skip repeated names: each head has a limit of its own, and two towers have the same layers */
    if (!is_covered(op) && (t->n == 0 || !strstr(t->s, one)))
        lra_text_add(t, "%s%s", t->n ? ", " : "", one);
    lra_free(one);
    lra_free(name);
    lra_free(op);
}

char *lra_uncovered_nodes(const lra_train_spec *run, lra_device *device, lra_err *e)
{
    const char *no_limit_reason = lra_model_no_limit_reason(run->model, run->model_config);
    if (no_limit_reason) return lra_copy_text(no_limit_reason);
    lra_loaded_model m;
    lra_text t = {0};
    int rc = lra_load_model(&m, run, device, LRA_INITIAL_WEIGHTS, e);
    if (rc == 0) rc = lra_loaded_limit(&m, e);
    if (rc == 0) {
        m.type = LRA_F32;
        lra_loaded_graph(&m, 1, m.buckets.length[m.buckets.n - 1]);
        lra_text_add(&t, "%s", "");
        for (int i = 0; i < m.n_limits; i++) add_node(&t, lra_loaded_limited_node(&m, i));
    }
    lra_loaded_free(&m);
    if (rc == 0) return t.s;
    lra_text_free(&t);
    return NULL;
}
