/* Plans a network on random tokens, for benchmarks of steps and of attention introspection. */
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "probes/bench/bench.h"

static int set_tokens(const bench *b, bench_network *m, lra_err *e)
{
    int32_t *value = lra_alloc_array((size_t)(b->B * b->T), sizeof *value);
    lra_rng rng = lra_rng_new(1, 1, 0);
    for (int64_t i = 0; i < b->B * b->T; i++)
        value[i] = (int32_t)lra_rng_below(&rng, (uint32_t)b->vocab);
    int rc = lra_set(m->plan, m->k.tokens, value, e);
    for (int64_t i = 0; i < b->B; i++) value[i] = (int32_t)b->T;
    if (rc == 0) rc = lra_set(m->plan, m->k.length, value, e);
    lra_free(value);
    return rc;
}

int bench_network_plan(bench *b, bench_network *m, int n, lra_tensor *const *out, lra_err *e)
{
    m->params = lra_params_new(&b->device, 1);
    m->space = lra_space_new(&b->device);
    m->plan = lra_plan_new(m->k.graph, m->params, m->space, n, out, e);
    if (!m->plan) return lra_fail_in(e, "model '%s'", b->model->name);
    lra_plan_threads(m->plan, b->threads);
    return bench_room(b, m->plan, e) == 0 ? set_tokens(b, m, e) : LRA_FAILED;
}

void bench_network_close(bench_network *m)
{
    lra_plan_free(m->plan);
    lra_space_free(m->space);
    lra_params_free(m->params);
    lra_graph_free(m->k.graph);
}
