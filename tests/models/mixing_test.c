/* Declared mixing matrices (kernels/graph/mixing.h): every model of the registry, with each of its
 * variants, declares exactly the layers that weight positions by their content. */
#include "tests/fixtures/test.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/mixing.h"
#include "kernels/graph/op.h"
#include "kernels/ops/args.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/tiny_model.h"

enum { B = 2, T = 13, T_MAX = 16, MOST = 64 };

static void open_model(tiny_model *f, const lra_model *m, const char *variant)
{
    const model_case what = {.model = m,
                             .variant = variant,
                             .type = LRA_F32,
                             .vocab = TRIAL_VOCAB,
                             .B = B,
                             .T = T,
                             .T_max = T_MAX,
                             .what = MODEL_FORWARD,
                             .pool = LRA_POOL_MEAN};
    model_open(f, &what);
}

/* Marks the node and all nodes from which it is computed, but not beyond other declared nodes. */
static void mark(const lra_tensor *x, bool *seen)
{
    if (seen[x->id]) return;
    seen[x->id] = true;
    for (int i = 0; i < x->n_src; i++)
        if (!lra_mixing_of(x->src[i])) mark(x->src[i], seen);
}

/* Returns, indexed by node id, which nodes are used to compute declared matrices. */
static bool *covered(const lra_graph *g, int nodes)
{
    lra_tensor *declared[MOST];
    bool *seen = lra_alloc_array((size_t)nodes + 1, sizeof *seen);
    int n = lra_graph_mixing(g, MOST, declared);
    assert_true(n <= MOST);
    for (int i = 0; i < n; i++) mark(declared[i], seen);
    return seen;
}

static bool is_product_of_products(const lra_tensor *y)
{
    const lra_tensor *sums = y->op == &lra_op_matmul ? y->src[1] : NULL;
    return sums && sums->op == &lra_op_matmul && sums->shape.n == 4 &&
           ((const matmul_args *)sums->args)->a_t && sums->src[0]->shape.d[2] == T;
}

/* Returns true if a node weights positions by content: an attention operation, a softmax over
 * positions, or a product with a sum of products over positions. */
static bool weighs_positions(const lra_tensor *y)
{
    return y->op == &lra_op_attention || (y->op == &lra_op_softmax && lra_width(y) == T) ||
           is_product_of_products(y);
}

static int count_nodes(const lra_graph *g)
{
    int n = 0;
    for (int i = 0; lra_op_at(i); i++) n += lra_graph_nodes(g, lra_op_at(i), 0, NULL);
    return n;
}

static lra_text kinds;

static void check_model(const lra_model *m, const char *variant)
{
    tiny_model f;
    open_model(&f, m, variant);
    const lra_graph *g = f.k.graph;
    int nodes = count_nodes(g);
    bool *seen = covered(g, nodes);
    for (int i = 0; lra_op_at(i); i++) {
        lra_tensor **list = lra_alloc_array((size_t)nodes + 1, sizeof(lra_tensor *));
        int n = lra_graph_nodes(g, lra_op_at(i), nodes, list);
        for (int k = 0; k < n; k++)
            if (weighs_positions(list[k]) && !seen[list[k]->id])
                fail_msg("model '%s' %s: '%s' (%s) weighs positions, and declares no mixing matrix",
                         m->name, variant, lra_tensor_path(list[k]), list[k]->op->name);
        lra_free(list);
    }
    lra_tensor *declared[MOST];
    int n = lra_graph_mixing(g, MOST, declared);
    lra_text_add(&kinds, "%s %s:", m->name, variant);
    for (int i = 0; i < n; i++) {
        const lra_mixing *x = lra_mixing_of(declared[i]);
        lra_text_add(&kinds, " %s", lra_mixing_name(x->kind));
        assert_non_null(x->value);
        assert_true(i == 0 || declared[i]->id > declared[i - 1]->id);
    }
    lra_text_add(&kinds, "%s\n", n ? "" : " none");
    lra_free(seen);
    model_close(&f);
}

/* The golden list changes if a model gains or loses a mixing matrix. */
TEST(all_models)
{
    each_model(check_model);
    if (getenv("LRA_TEST_SHARD")) {
        lra_text_free(&kinds);
        return;
    }
    check_golden("mixing.txt", kinds.s);
}

/* A declaration on a view applies to the node that computes it; a second declaration of a node is
 * an error. */
TEST(one_for_a_node)
{
    lra_err e = {{0}};
    lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(2, 6));
    lra_tensor *y = lra_exp(x), *z = lra_relu(y);
    lra_tensor *view = lra_reshape(z, LRA_SHAPE(12)), *found[2];
    lra_declare_mixing(view, &(lra_mixing){LRA_MIX_MAP, .value = x, .inner = view});
    lra_declare_mixing(y, &(lra_mixing){LRA_MIX_SOFTMAX, .value = x});
    assert_int_equal(lra_graph_mixing(g, 2, found), 2);
    assert_ptr_equal(found[0], y);
    assert_ptr_equal(found[1], z);
    assert_int_equal(lra_mixing_of(z)->kind, LRA_MIX_MAP);
    assert_ptr_equal(lra_mixing_of(z)->inner, z);
    assert_null(lra_mixing_of(view));
    assert_int_equal(lra_graph_check(g, &e), 0);
    lra_declare_mixing(z, &(lra_mixing){LRA_MIX_MAP, .value = x});
    assert_int_not_equal(lra_graph_check(g, &e), 0);
    lra_graph_free(g);
}
