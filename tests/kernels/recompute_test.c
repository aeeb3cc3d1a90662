/* Recomputation: bitwise equal results with less memory, for a chain whose optimum is known and for
 * the model of the ladder. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"
#include "models/network.h"
#include "tests/fixtures/sanitized.h"

static lra_device device;
static lra_err err;

/* ---- a chain: n results of one size ---------------------------------------------------------- */

enum { WIDE = 4096 };

/* Returns the memory for the gradient of a chain of n nodes, in buffers of WIDE floats. */
static double chain_buffers(int n, lra_keep keep)
{
    lra_graph *g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_graph_keep(g, keep);
    lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(1, WIDE)), *y = x, *dx;
    for (int i = 0; i < n; i++) y = lra_tanh(y);
    lra_grad(lra_mse(y, lra_zeros(g, LRA_F32, LRA_SHAPE(1, WIDE))), NULL, 1, &x, &dx);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(g, params, space, 1, &dx, &err);
    if (!plan) fail_msg("%s", err.msg);
    double bytes = lra_plan_cost(plan).workspace_bytes;
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(g);
    return bytes / (WIDE * sizeof(float));
}

TEST(a_chain_needs_the_root_of_its_length)
{
    assert_true(chain_buffers(400, LRA_KEEP_ALL) > 400);
    assert_true(chain_buffers(400, LRA_KEEP_PRODUCTS) <
                400 + 8); /* there is one segment, so that recomputation has no effect */
    for (int n = 25; n <= 400; n *= 4) {
        double buffers = chain_buffers(n, LRA_KEEP_LAYERS), bound = 2 * sqrt(n) + 8;
        if (buffers > bound) fail_msg("%d nodes: %.1f buffers, expected %.1f", n, buffers, bound);
    }
}

/* ---- the ladder's model ---------------------------------------------------------------------- */

enum { BATCH = 8, TOKENS = 512, STEPS = sanitized ? 1 : 2 };

typedef struct {
    uint64_t hash; /* hash of parameters and moments after STEPS steps */
    double flops, workspace;
} outcome;

static void set_inputs(lra_plan *plan, const lra_network *k, int step)
{
    static int32_t token[BATCH * TOKENS];
    const int32_t length[BATCH] = {512, 50, 7, 1, 300, 400, 2, 511};
    const int32_t label[BATCH] = {0, 1, 2, -1, 0, 1, 2, 0};
    const lra_step now = {.seed = 3, .step = (uint64_t)step, .rate = 0.01f};
    for (int i = 0; i < BATCH * TOKENS; i++) token[i] = (i * 7 + step * 5) % 11;
    assert_int_equal(lra_set(plan, k->tokens, token, &err), 0);
    assert_int_equal(lra_set(plan, k->length, length, &err), 0);
    assert_int_equal(lra_set(plan, k->label, label, &err), 0);
    assert_int_equal(lra_set(plan, lra_step_input(k->graph), &now, &err), 0);
}

static outcome train(lra_type type, lra_keep keep)
{
    outcome o = {0};
    const lra_adamw_spec adamw = {0.9, 0.999, 1e-8, 0.01, 1.0, 0.01};
    const lra_network_spec spec = {.vocab = 11, .outputs = 3};
    lra_config *c = lra_keys_config(lra_model_resconv.keys);
    assert_int_equal(lra_keys_assign(lra_model_resconv.keys, c, "dropout=0.2", "test", &err), 0);
    lra_network k = lra_network_build(type, LRA_TRAIN, &lra_model_resconv, c, &spec, BATCH, TOKENS);
    lra_graph_keep(k.graph, keep);
    int n = lra_graph_params(k.graph, NULL);
    lra_tensor **param = lra_alloc_array((size_t)n, sizeof *param);
    lra_graph_params(k.graph, param);
    lra_step_input(k.graph);
    lra_tensor *update = lra_adamw(k.loss, n, param, &adamw);
    lra_params *params = lra_params_new(&device, 5);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(k.graph, params, space, 1, &update, &err);
    if (!plan) fail_msg("%s", err.msg);
    lra_plan_poison(plan, true);
    for (int step = 0; step < STEPS; step++) {
        set_inputs(plan, &k, step);
        if (lra_run(plan, &err) != 0) fail_msg("%s", err.msg);
    }
    lra_cost cost = lra_plan_cost(plan);
    o = (outcome){lra_params_hash(params), cost.flops, cost.workspace_bytes};
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(k.graph);
    lra_config_free(c);
    lra_free(param);
    return o;
}

TEST(training_has_the_same_bits)
{
    static const lra_type types[] = {LRA_F32, LRA_BF16};
    for (int i = 0; i < 2; i++) {
        outcome all = train(types[i], LRA_KEEP_ALL), some = train(types[i], LRA_KEEP_PRODUCTS),
                few = train(types[i], LRA_KEEP_LAYERS);
        print_message("workspace %.0f, %.0f, %.0f KiB; %.1f, %.1f, %.1f MFLOP\n",
                      all.workspace / 1024, some.workspace / 1024, few.workspace / 1024,
                      all.flops / 1e6, some.flops / 1e6, few.flops / 1e6);
        assert_int_equal(all.hash, some.hash);
        assert_int_equal(all.hash, few.hash);
        assert_true(some.workspace < 0.8 * all.workspace && few.workspace < 0.6 * all.workspace);
        assert_true(all.flops < some.flops && some.flops < 1.05 * all.flops);
        assert_true(some.flops < few.flops && few.flops < 1.4 * all.flops);
    }
}

static int open_device(void **state)
{
    (void)state;
    return lra_cpu_device(&device, 2, &err);
}

GROUP(open_device, NULL);
