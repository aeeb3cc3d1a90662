/* One batch of a small model. */
#include "tests/parity/parity_case.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"

enum { VOCAB = 9, CLASSES = 4, SEED = 3 };
static const double rate = 1e-2, decay = 0.1;

/* Applies the changes to the settings; the key `pool` belongs to the network. */
static int configure(parity_case *c, lra_pool_kind *pool, lra_err *e)
{
    static const char *const pools[] = {"mean", "last", "max", "cls"};
    static const lra_pool_kind kinds[] = {LRA_POOL_MEAN, LRA_POOL_LAST, LRA_POOL_MAX, LRA_POOL_CLS};
    const lra_model *m = c->is.model;
    char *changes = lra_copy_text(c->is.changes), *at = strstr(changes, "pool=");
    int rc = 0;
    *pool = LRA_POOL_MEAN;
    if (at && (at == changes || at[-1] == ' ')) {
        size_t n = strcspn(at, " ");
        rc = lra_fail(e, "'%.*s' is no pool", (int)n, at);
        for (int i = 0; i < 4; i++)
            if (strlen(pools[i]) == n - 5 && strncmp(at + 5, pools[i], n - 5) == 0)
                *pool = kinds[i], rc = 0;
        memset(at, ' ', n);
    }
    c->config = lra_keys_config(m->keys);
    lra_keys_apply(m->keys, c->config, m->tiny);
    lra_keys_apply(m->keys, c->config, changes);
    lra_free(changes);
    return rc;
}

static lra_plan *plan(parity_case *c, lra_err *e)
{
    if (!c->is.trained) {
        c->gradients = lra_gradients_new(&c->network);
        return lra_plan_new(c->network.graph, c->params, c->space, c->gradients.n_out,
                            c->gradients.out, e);
    }
    lra_adamw_spec spec = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = decay, .rate = rate};
    int n = lra_graph_params(c->network.graph, NULL);
    lra_tensor **param = lra_alloc_array((size_t)n + 1, sizeof *param);
    lra_graph_params(c->network.graph, param);
    c->update = lra_adamw(c->network.loss, n, param, &spec);
    lra_free(param);
    return lra_plan_new(c->network.graph, c->params, c->space, 1, &c->update, e);
}

int parity_open(parity_case *c, const parity_what *what, lra_err *e)
{
    lra_network_spec spec = {.vocab = VOCAB, .outputs = CLASSES, .T_max = PARITY_T_MAX};
    *c = (parity_case){.is = *what};
    if (lra_cpu_device(&c->device, 1, e) != 0 || configure(c, &spec.pool, e) != 0)
        return LRA_FAILED;
    c->network = lra_network_build(what->type, LRA_TRAIN, what->model, c->config, &spec, PARITY_B,
                                   what->T);
    c->params = lra_params_new(&c->device, (uint64_t)(SEED + what->draw));
    c->space = lra_space_new(&c->device);
    c->plan = plan(c, e);
    return c->plan ? parity_set(c, e) : lra_fail_in(e, "%s %s", what->model->name, what->changes);
}

void parity_close(parity_case *c)
{
    lra_plan_free(c->plan);
    lra_params_free(c->params);
    lra_space_free(c->space);
    lra_gradients_free(&c->gradients);
    lra_graph_free(c->network.graph);
    lra_config_free(c->config);
    *c = (parity_case){0};
}

int parity_set(parity_case *c, lra_err *e)
{
    int T = c->is.T;
    const int32_t length[PARITY_B] = {T, (T + 3) / 2, 5}, label[PARITY_B] = {0, 1, 2};
    int32_t token[PARITY_B * PARITY_T_MAX];
    for (int i = 0; i < PARITY_B * T; i++)
        token[i] = i % T < length[i / T] ? (i * 7 + i / T) % VOCAB : 0;
    int rc = lra_set(c->plan, c->network.tokens, token, e);
    lra_tensor *step = lra_find(c->network.graph, "step");
    if (rc == 0) rc = lra_set(c->plan, c->network.length, length, e);
    if (rc == 0 && step) rc = lra_set(c->plan, step, &(lra_step){0}, e);
    return rc == 0 ? lra_set(c->plan, c->network.label, label, e) : rc;
}

int parity_train(parity_case *c, double *loss, lra_err *e)
{
    int rc = 0;
    for (int i = 0; i < PARITY_STEPS && rc == 0; i++) {
        lra_step step = {.seed = 1, .step = (uint64_t)i, .rate = (float)rate};
        double status[4];
        rc = parity_set(c, e);
        if (rc == 0) rc = lra_set(c->plan, lra_step_input(c->network.graph), &step, e);
        if (rc == 0) rc = lra_run(c->plan, e);
        if (rc == 0) rc = lra_get(c->plan, c->update, status, e);
        loss[i] = status[0];
    }
    return rc;
}

void parity_group(const lra_tensor *param, double group[2])
{
    const lra_param_spec *s = lra_spec_of(param);
    group[0] = s->rate > 0 ? s->rate / rate : s->rate_factor > 0 ? s->rate_factor : 1;
    if (s->frozen) group[0] = 0;
    group[1] = s->no_decay ? 0 : decay;
}
