/* Models as tests run them. */
#include "tests/model_trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/base/mem.h"
#include "kernels/base/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"

lra_config *model_tiny(const lra_model *m, const char *variant)
{
    if (!m->tiny) fail_msg("model '%s' has no tiny settings", m->name);
    lra_config *c = lra_keys_config(m->keys);
    lra_keys_apply(m->keys, c, m->tiny);
    lra_keys_apply(m->keys, c, variant);
    return c;
}

/* Loss, output, and what is asked for. */
static int collect(model_trial *f, lra_tensor **out)
{
    int n = 0;
    out[n++] = f->k.loss, out[n++] = f->k.output, out[n++] = f->k.features;
    if (f->is.what == MODEL_UPDATE) {
        lra_adamw_spec spec = {0.9, 0.999, 1e-8, 0, 0, 0.01};
        out[n++] = f->update = lra_adamw(f->k.loss, f->n, f->param, &spec);
    }
    if (f->is.what != MODEL_GRADIENTS) return n;
    lra_grad(f->k.loss, NULL, f->n, f->param, f->grad);
    for (int i = 0; i < f->n; i++) out[n++] = f->grad[i];
    return n;
}

void model_open(model_trial *f, const model_case *what)
{
    lra_err e = {{0}};
    lra_network_spec shape = {.head = what->head,
                              .vocab = what->vocab,
                              .channels = what->vocab ? 0 : 1,
                              .outputs = TRIAL_CLASSES,
                              .T_max = what->T_max,
                              .pool = what->pool,
                              .limited = what->limited};
    lra_mode mode = what->what == MODEL_FORWARD ? LRA_EVAL : LRA_TRAIN;
    *f = (model_trial){.is = *what, .config = model_tiny(what->model, what->variant)};
    if (what->device)
        f->device = *what->device;
    else
        assert_int_equal(lra_cpu_device(&f->device, 1, &e), 0);
    f->k = lra_network_build(what->type, mode, what->model, f->config, &shape, what->B, what->T);
    f->n = lra_graph_params(f->k.graph, NULL);
    f->param = lra_alloc_array((size_t)f->n + 1, sizeof(lra_tensor *));
    f->grad = lra_alloc_array((size_t)f->n + 1, sizeof(lra_tensor *));
    lra_graph_params(f->k.graph, f->param);
    lra_tensor **out = lra_alloc_array((size_t)f->n + 4, sizeof(lra_tensor *));
    int n_out = collect(f, out);
    f->params = what->params ? what->params : lra_params_new(&f->device, 3);
    f->space = lra_space_new(&f->device);
    f->plan = lra_plan_new(f->k.graph, f->params, f->space, n_out, out, &e);
    if (!f->plan) fail_msg("%s %s: %s", what->model->name, what->variant, e.msg);
    lra_free(out);
}

void model_close(model_trial *f)
{
    lra_plan_free(f->plan);
    if (!f->is.params) lra_params_free(f->params);
    lra_space_free(f->space);
    lra_graph_free(f->k.graph);
    lra_config_free(f->config);
    lra_free(f->param);
    lra_free(f->grad);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void set(model_trial *f, const lra_tensor *input, const void *host)
{
    lra_err e = {{0}};
    if (lra_set(f->plan, input, host, &e) != 0) fail_msg("%s", e.msg);
}

/* A number for every token, in the type of the graph. */
static void set_values(model_trial *f, const int32_t *token)
{
    int64_t n = f->is.B * f->is.T;
    double *wide = lra_alloc_array((size_t)n, sizeof *wide);
    float *narrow = lra_alloc_array((size_t)n, sizeof *narrow);
    for (int64_t i = 0; i < n; i++) {
        wide[i] = token[i] / 4.0 - 1;
        narrow[i] = (float)wide[i];
    }
    bool f64 = lra_tensor_type(f->k.values) == LRA_F64;
    set(f, f->k.values, f64 ? (const void *)wide : (const void *)narrow);
    lra_free(wide);
    lra_free(narrow);
}

static void set_all(model_trial *f, const int32_t *length, const int32_t *token,
                    const int32_t *label)
{
    if (f->k.values)
        set_values(f, token);
    else
        set(f, f->k.tokens, token);
    set(f, f->k.length, length);
    set(f, f->k.label, label);
}

void model_set_tokens(model_trial *f, const int32_t *length, const int32_t *token)
{
    int64_t n = lra_elements(f->k.label);
    int32_t *label = lra_alloc_array((size_t)n, sizeof *label);
    for (int64_t i = 0; i < n; i++) label[i] = (int32_t)(i % TRIAL_CLASSES);
    set_all(f, length, token, label);
    lra_free(label);
}

void model_set(model_trial *f, const int32_t *length, int32_t pad)
{
    int64_t B = f->is.B, T = f->is.T;
    uint32_t vocab = f->is.vocab ? (uint32_t)f->is.vocab : TRIAL_VOCAB;
    int32_t *token = lra_alloc_array((size_t)(B * T), sizeof *token);
    int32_t *label = lra_alloc_array((size_t)B, sizeof *label);
    lra_rng r = lra_rng_new(5, 6, 7);
    for (int64_t b = 0; b < B; b++) {
        label[b] = (int32_t)lra_rng_below(&r, TRIAL_CLASSES);
        for (int64_t t = 0; t < T; t++) {
            int32_t word = (int32_t)lra_rng_below(&r, vocab);
            token[b * T + t] = t < length[b] ? word : pad;
        }
    }
    set_all(f, length, token, label);
    lra_free(token);
    lra_free(label);
}

/* ---- results --------------------------------------------------------------------------------- */

void model_run(model_trial *f)
{
    lra_err e = {{0}};
    if (lra_run(f->plan, &e) != 0) fail_msg("%s: %s", f->is.model->name, e.msg);
}

double model_step(model_trial *f, int i)
{
    lra_step step = {
        .seed = 1, .step = (uint64_t)i, .rate = (float)(f->is.rate > 0 ? f->is.rate : 0.01)};
    set(f, lra_step_input(f->k.graph), &step);
    model_run(f);
    double *status = model_get(f, f->update), loss = status[0];
    assert_true(status[2] == 1);
    lra_free(status);
    return loss;
}

double *model_get(model_trial *f, const lra_tensor *x)
{
    lra_err e = {{0}};
    int64_t n = lra_elements(x);
    double *v = lra_alloc_array((size_t)n, sizeof *v);
    if (lra_tensor_type(x) == LRA_F64) {
        if (lra_get(f->plan, x, v, &e) != 0) fail_msg("%s", e.msg);
        return v;
    }
    float *narrow = lra_alloc_array((size_t)n, sizeof *narrow);
    if (lra_get(f->plan, x, narrow, &e) != 0) fail_msg("%s", e.msg);
    for (int64_t i = 0; i < n; i++) v[i] = (double)narrow[i];
    lra_free(narrow);
    return v;
}

double model_loss(model_trial *f)
{
    double *v = model_get(f, f->k.loss), loss = v[0];
    lra_free(v);
    return loss;
}

void each_model(void (*f)(const lra_model *m, const char *variant))
{
    const char *shard = getenv("LRA_TEST_SHARD");
    int first = 0, n = 1;
    if (shard && sscanf(shard, "%d/%d", &first, &n) != 2) fail_msg("LRA_TEST_SHARD=%s", shard);
    for (int i = 0; lra_model_at(i); i++) {
        const lra_model *m = lra_model_at(i);
        if (i % n != first) continue;
        f(m, "");
        for (int k = 0; m->variants && m->variants[k]; k++) f(m, m->variants[k]);
    }
}
