/* Dilated residual convolutions depend on every token within their reach and on none beyond: the
 * Jacobian of one position with respect to the inputs, in float64. */
#include "tests/fixtures/test.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "models/network.h"

enum { WIDTH = 6, CHANNELS = 2 };

typedef struct {
    int64_t kernel, layers, dilation, reach; /* reach: computed by hand, in tokens to each side */
    bool causal;
} stack;

/* The reach is the sum of (K-1)/2 times 1, K, K^2, .. limited by the dilation. */
static const stack stacks[] = {
    {3, 4, 1, 4, false},
    {3, 4, 2, 1 + 2 + 2 + 2, false},
    {3, 4, 10, 1 + 3 + 9 + 10, false},
    {3, 3, 9, 1 + 3 + 9, false},
    {3, 4, 1000, 1 + 3 + 9 + 27, false},
    {5, 3, 4, 2 * (1 + 4 + 4), false},
    {5, 3, 8, 2 * (1 + 5 + 8), false},
    {5, 2, 7, 2 * (1 + 5), false},
    {7, 2, 7, 3 * (1 + 7), false},
    {7, 3, 20, 3 * (1 + 7 + 20), false},
    {1, 3, 8, 0, false},
    {3, 3, 4, 2 * (1 + 3 + 4), true},
    {5, 2, 3, 4 * (1 + 3), true},
};

static lra_config *config_of(const stack *s)
{
    lra_config *c = lra_keys_config(lra_model_resconv.keys);
    lra_config_set_int(c, "width", WIDTH);
    lra_config_set_int(c, "hidden", 16);
    lra_config_set_int(c, "layers", s->layers);
    lra_config_set_int(c, "kernel", s->kernel);
    lra_config_set_int(c, "dilation", s->dilation);
    lra_config_set_int(c, "causal", s->causal);
    return c;
}

/* Computes |d features[at] / d values[j]| for every j, along a random direction. */
static void jacobian(const lra_config *c, int64_t T, int64_t at, double *share)
{
    lra_err e = {{0}};
    lra_device device;
    const lra_network_spec spec = {.head = LRA_HEAD_TOKENS, .channels = CHANNELS, .outputs = 1};
    lra_network k = lra_network_open(LRA_F64, LRA_EVAL, &lra_model_resconv, c, &spec, 1, T);
    lra_tensor *seed = lra_input(k.graph, "seed", LRA_F64, LRA_SHAPE(1, 1, WIDTH)), *dx;
    lra_grad(lra_slice(k.features, 1, at, 1), seed, 1, &k.values, &dx);
    OK(lra_cpu_device(&device, 1, &e));
    lra_params *params = lra_params_new(&device, 11);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(k.graph, params, space, 1, &dx, &e);
    NOT_NULL(plan);
    lra_rng r = lra_rng_new(1, 2, 3);
    double *x = lra_alloc_array((size_t)(T * CHANNELS), sizeof *x), direction[WIDTH];
    int32_t length = (int32_t)T;
    for (int64_t i = 0; i < T * CHANNELS; i++) x[i] = lra_rng_u01(&r) - 0.5;
    for (int i = 0; i < WIDTH; i++) direction[i] = lra_rng_u01(&r) - 0.5;
    assert_int_equal(lra_set(plan, k.values, x, &e), 0);
    assert_int_equal(lra_set(plan, k.length, &length, &e), 0);
    assert_int_equal(lra_set(plan, seed, direction, &e), 0);
    if (lra_run(plan, &e) != 0 || lra_get(plan, dx, x, &e) != 0) fail_msg("%s", e.msg);
    for (int64_t j = 0; j < T; j++) {
        share[j] = 0;
        for (int i = 0; i < CHANNELS; i++) share[j] += x[j * CHANNELS + i] * x[j * CHANNELS + i];
    }
    lra_free(x);
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(k.graph);
}

TEST(every_distance_up_to_the_reach_counts)
{
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        const stack *s = &stacks[i];
        lra_config *c = config_of(s);
        int64_t T = 2 * s->reach + 7, at = s->reach + 3;
        double *share = lra_alloc_array((size_t)T, sizeof *share);
        assert_int_equal(lra_model_resconv.reach(c), s->reach);
        jacobian(c, T, at, share);
        for (int64_t j = 0; j < T; j++) {
            bool seen = llabs(j - at) <= s->reach && !(s->causal && j > at);
            if ((share[j] != 0) != seen)
                fail_msg(
                    "K = %d, %d layers, dilation %d: position %d, %d away, has %g of the Jacobian",
                    (int)s->kernel, (int)s->layers, (int)s->dilation, (int)j, (int)(j - at),
                    share[j]);
        }
        lra_free(share);
        lra_config_free(c);
    }
}

TEST(dilation_costs_nothing)
{
    const lra_network_spec spec = {.head = LRA_HEAD_CLASS, .vocab = 5, .outputs = 2};
    const stack near = {5, 3, 1, 0, false}, far = {5, 3, 25, 0, false};
    lra_config *a = config_of(&near), *b = config_of(&far);
    assert_int_equal(lra_network_parameters(&lra_model_resconv, a, &spec),
                     lra_network_parameters(&lra_model_resconv, b, &spec));
    lra_config_free(a);
    lra_config_free(b);
}

TEST(dilation_below_one_is_refused)
{
    const lra_network_spec spec = {.head = LRA_HEAD_CLASS, .vocab = 5, .outputs = 2};
    const stack s = {5, 3, 0, 0, false};
    lra_err e = {{0}};
    lra_config *c = config_of(&s);
    assert_int_equal(lra_network_check(&lra_model_resconv, c, &spec, &e), LRA_USAGE);
    assert_non_null(strstr(e.msg, "dilation is 0"));
    lra_config_free(c);
}
