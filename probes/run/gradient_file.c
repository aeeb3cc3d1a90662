/* Computes the gradients of one batch and writes them to a file (gradient_file.h). */
#include "probes/run/gradient_file.h"

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "models/training/gradients.h"
#include "models/training/session.h"
#include "models/training/weights.h"

/* ---- a fresh model --------------------------------------------------------------------------- */

static int set_tokens(const lra_fresh_model *m, const lra_network *k, lra_plan *plan, lra_err *e)
{
    int32_t *v = lra_alloc_array((size_t)(m->B * m->T), sizeof *v);
    lra_rng r = lra_rng_new(m->seed, 1, 0);
    for (int64_t i = 0; i < m->B * m->T; i++) v[i] = (int32_t)lra_rng_below(&r, (uint32_t)m->vocab);
    int rc = lra_set(plan, k->tokens, v, e);
    for (int64_t i = 0; i < m->B; i++) v[i] = (int32_t)(m->T - i * m->T / (2 * m->B));
    if (rc == 0) rc = lra_set(plan, k->length, v, e);
    for (int64_t i = 0; i < m->B; i++) v[i] = (int32_t)(i % m->classes);
    if (rc == 0) rc = lra_set(plan, k->label, v, e);
    lra_free(v);
    return rc;
}

/* Adds the metadata that the weights file of a run of this model would contain. */
static int describe(const lra_fresh_model *m, lra_config *meta, lra_err *e)
{
    lra_config *all = lra_config_copy(m->config);
    lra_config_set(all, "model", m->model->name);
    lra_config_set_int(all, "seed", (int64_t)m->seed);
    char *lines = lra_config_lines(all);
    int rc = lra_weights_describe(lines, -1, meta, e);
    lra_free(lines);
    lra_config_free(all);
    return rc;
}

int lra_gradient_file_of_model(const lra_fresh_model *m, const char *to, int *n, lra_err *e)
{
    lra_device device;
    lra_network_spec spec = {.vocab = m->vocab, .outputs = m->classes};
    if (lra_network_check(m->model, m->config, &spec, e) != 0) return LRA_USAGE;
    if (lra_cpu_device(&device, m->threads, e) != 0) return LRA_FAILED;
    lra_network k = lra_network_build(m->type, LRA_EVAL, m->model, m->config, &spec, m->B, m->T);
    lra_gradients g = lra_gradients_new(&k);
    lra_params *params = lra_params_new(&device, m->seed);
    lra_space *space = lra_space_new(&device);
    lra_config *meta = lra_config_new();
    lra_plan *plan = lra_plan_new(k.graph, params, space, g.n_out, g.out, e);
    int rc = plan ? set_tokens(m, &k, plan, e) : lra_fail_in(e, "model '%s'", m->model->name);
    if (rc == 0) rc = lra_run(plan, e);
    if (rc == 0) rc = describe(m, meta, e);
    if (rc == 0) rc = lra_gradients_write(&g, plan, params, meta, 0, NULL, to, n, e);
    lra_config_free(meta);
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_gradients_free(&g);
    lra_graph_free(k.graph);
    return rc;
}

/* ---- a run ----------------------------------------------------------------------------------- */

void lra_gradient_spec(const lra_finished_run *run, lra_train_spec *spec)
{
    lra_job_spec(&run->job, run->result->seed, spec);
    lra_free((void *)(uintptr_t)spec->folder);
    spec->folder = lra_copy_text(run->folder); /* the run may have been moved since its training */
}

/* Runs the batch through a graph of its own length and writes the gradients. */
static int write_batch(lra_loaded_model *m, const lra_batch *b, const lra_config *meta,
                       const char *to, int *n, lra_err *e)
{
    lra_length_graph *v = lra_loaded_graph(m, m->run->batch, m->buckets.length[b->bucket]);
    lra_gradients g = lra_gradients_new(&v->network);
    for (int i = 0; i < g.n_out; i++) lra_length_graph_output(v, g.out[i]);
    int rc = lra_loaded_plan(m, e);
    if (rc == 0) rc = lra_session_set(m->run, &v->network, v->plan, b, e);
    if (rc == 0) rc = lra_length_graph_run(m, v, e);
    if (rc == 0) rc = lra_gradients_write(&g, v->plan, m->params, meta, 0, NULL, to, n, e);
    lra_gradients_free(&g);
    return rc;
}

int lra_gradient_file_of_run(const lra_finished_run *run, lra_weights_kind which, const char *to,
                             int *n, lra_err *e)
{
    lra_train_spec spec;
    lra_device device = run->job.device;
    lra_loaded_model m;
    lra_config *meta = lra_config_new();
    lra_gradient_spec(run, &spec);
    int rc = lra_load_model(&m, &spec, &device, which, e);
    if (rc == 0) rc = lra_weights_describe(run->result->config, -1, meta, e);
    if (rc == 0) {
        const lra_session s = {.spec = &spec, .buckets = m.buckets};
        lra_loader *l = lra_session_loader(&s, LRA_TRAIN_SPLIT, false);
        rc = write_batch(&m, lra_loader_get(l, 0), meta, to, n, e);
        lra_loader_free(l);
    }
    lra_loaded_free(&m);
    lra_config_free(meta);
    lra_job_spec_free(&spec);
    return rc;
}
