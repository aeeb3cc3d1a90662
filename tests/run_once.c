/* A graph that a test runs once, on the CPU. */
#include "tests/run_once.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"

void run_once(lra_tensor *y, int n_threads, int n, const run_input *in, void *out)
{
    lra_err e = {{0}};
    lra_device device;
    lra_graph *g = y->graph;
    assert_int_equal(lra_cpu_device(&device, n_threads, &e), 0);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(g, params, space, 1, &y, &e);
    if (!plan) fail_msg("%s", e.msg);
    for (int i = 0; i < n; i++)
        if (in[i].to && lra_set(plan, in[i].to, in[i].data, &e) != 0) fail_msg("%s", e.msg);
    if (lra_run(plan, &e) != 0 || lra_get(plan, y, out, &e) != 0) fail_msg("%s", e.msg);
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(g);
}
