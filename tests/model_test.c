/* Every model of the registry: gradients in float64, padding, learning one batch, saving, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/base/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"
#include "models/network.h"

enum { B = 3, T = 12, VOCAB = 9, CLASSES = 4 };
static const int32_t lengths[B] = {12, 7, 1};

static lra_config *tiny(const lra_model *m)
{
    lra_err e;
    lra_config *c = lra_keys_config(m->keys);
    static const char *const small[] = {"layers=2", "width=6", "hidden=8"};
    for (int i = 0; i < 3; i++)
        if (lra_keys_assign(m->keys, c, small[i], m->name, &e) != 0) fail_msg("%s", e.msg);
    return c;
}

static void fill(int32_t *token, int32_t *label, int32_t pad)
{
    lra_rng r = lra_rng_new(5, 6, 7);
    for (int b = 0; b < B; b++) {
        label[b] = (int32_t)lra_rng_below(&r, CLASSES);
        for (int t = 0; t < T; t++) {
            int32_t word = (int32_t)lra_rng_below(&r, VOCAB);
            token[b * T + t] = t < lengths[b] ? word : pad;
        }
    }
}

/* A model with its plan; everything in one place so that a test frees it with one call. */
typedef struct {
    lra_device device;
    lra_config *config;
    lra_network k;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
    lra_tensor *param[64], *grad[64], *update;
    int n;
} fixture;

/* vocab 0: real numbers instead of tokens. */
static void open_fixture(fixture *f, const lra_model *m, lra_type type, bool update, int64_t vocab)
{
    lra_err e = {{0}};
    lra_network_spec shape = {.vocab = vocab, .outputs = CLASSES, .channels = vocab ? 0 : 1};
    memset(f, 0, sizeof *f);
    assert_int_equal(lra_cpu_device(&f->device, 1, &e), 0);
    f->config = tiny(m);
    f->k = lra_network_build(type, LRA_TRAIN, m, f->config, &shape, B, T);
    f->n = lra_graph_params(f->k.graph, f->param);
    assert_true(f->n < 64);
    lra_tensor *out[66];
    int n_out = 0;
    out[n_out++] = f->k.loss;
    out[n_out++] = f->k.output;
    if (update) {
        lra_adamw_spec spec = {0.9, 0.999, 1e-8, 0, 0, 0.01};
        f->update = lra_adamw(f->k.loss, f->n, f->param, &spec);
        out[n_out++] = f->update;
    } else {
        lra_grad(f->k.loss, NULL, f->n, f->param, f->grad);
        for (int i = 0; i < f->n; i++) out[n_out++] = f->grad[i];
    }
    f->params = lra_params_new(&f->device, 3);
    f->space = lra_space_new(&f->device);
    f->plan = lra_plan_new(f->k.graph, f->params, f->space, n_out, out, &e);
    if (!f->plan) fail_msg("%s", e.msg);
}

static void close_fixture(fixture *f)
{
    lra_plan_free(f->plan);
    lra_params_free(f->params);
    lra_space_free(f->space);
    lra_graph_free(f->k.graph);
    lra_config_free(f->config);
}

/* A number for every token, in the type of the graph. */
static void set_values(fixture *f, const int32_t *token)
{
    lra_err e;
    double wide[B * T];
    float narrow[B * T];
    for (int i = 0; i < B * T; i++) {
        wide[i] = token[i] / 4.0 - 1;
        narrow[i] = (float)wide[i];
    }
    bool f64 = f->k.values->type == LRA_F64;
    const void *host = f64 ? (const void *)wide : (const void *)narrow;
    assert_int_equal(lra_set(f->plan, f->k.values, host, &e), 0);
}

static void set_batch(fixture *f, int32_t pad)
{
    int32_t token[B * T], label[B];
    lra_err e;
    fill(token, label, pad);
    if (f->k.values)
        set_values(f, token);
    else
        assert_int_equal(lra_set(f->plan, f->k.tokens, token, &e), 0);
    assert_int_equal(lra_set(f->plan, f->k.length, lengths, &e), 0);
    assert_int_equal(lra_set(f->plan, f->k.label, label, &e), 0);
}

static double loss_of(fixture *f)
{
    lra_err e;
    double loss;
    assert_int_equal(lra_run(f->plan, &e), 0);
    assert_int_equal(lra_get(f->plan, f->k.loss, &loss, &e), 0);
    return loss;
}

/* Central differences over every parameter, every 3rd element; ReLU kinks allow few outliers. */
static void check_gradient(fixture *f, int i, int *n_checked, int *n_bad)
{
    lra_err e;
    const char *path = lra_tensor_path(f->param[i]);
    int64_t n = lra_elements(f->param[i]);
    double *value = lra_alloc_array((size_t)n, sizeof *value);
    double *grad = lra_alloc_array((size_t)n, sizeof *grad);
    loss_of(f);
    assert_int_equal(lra_get(f->plan, f->grad[i], grad, &e), 0);
    assert_int_equal(lra_params_get(f->params, path, value, &e), 0);
    for (int64_t j = 0; j < n; j += 3) {
        double x = value[j], h = 1e-6, around[2];
        for (int side = 0; side < 2; side++) {
            value[j] = side ? x + h : x - h;
            assert_int_equal(lra_params_set(f->params, path, value, &e), 0);
            around[side] = loss_of(f);
        }
        value[j] = x;
        double numeric = (around[1] - around[0]) / (2 * h);
        ++*n_checked;
        *n_bad += fabs(numeric - grad[j]) > 1e-6 * fmax(fabs(grad[j]), 1e-2);
    }
    assert_int_equal(lra_params_set(f->params, path, value, &e), 0);
    lra_free(value);
    lra_free(grad);
}

static void gradients_in_float64(void **state)
{
    (void)state;
    for (int k = 0; lra_model_at(k / 2); k++) {
        fixture f;
        int n_checked = 0, n_bad = 0, m = k / 2;
        open_fixture(&f, lra_model_at(m), LRA_F64, false, k % 2 ? 0 : VOCAB);
        set_batch(&f, 0);
        for (int i = 0; i < f.n; i++) check_gradient(&f, i, &n_checked, &n_bad);
        assert_true(n_checked > 100);
        if (n_bad * 200 > n_checked)
            fail_msg("%s: %d of %d derivatives are wrong", lra_model_at(m)->name, n_bad, n_checked);
        close_fixture(&f);
    }
}

static void padding_has_no_influence(void **state)
{
    (void)state;
    for (int m = 0; lra_model_at(m / 4); m++) {
        fixture f;
        lra_err e;
        float logits[2][B * CLASSES];
        open_fixture(&f, lra_model_at(m / 4), m % 2 ? LRA_BF16 : LRA_F32, false, m & 2 ? 0 : VOCAB);
        for (int pad = 0; pad < 2; pad++) {
            set_batch(&f, pad ? 8 : 0);
            assert_int_equal(lra_run(f.plan, &e), 0);
            assert_int_equal(lra_get(f.plan, f.k.output, logits[pad], &e), 0);
        }
        assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
        close_fixture(&f);
    }
}

/* 200 steps on one batch leave less than 10 % of the loss. */
static void one_batch_is_learned(void **state)
{
    (void)state;
    for (int m = 0; lra_model_at(m); m++) {
        fixture f;
        lra_err e;
        float status[4], first = 0;
        open_fixture(&f, lra_model_at(m), LRA_F32, true, VOCAB);
        for (int i = 0; i < 200; i++) {
            lra_step step = {.seed = 1, .step = (uint64_t)i, .rate = 0.01f};
            set_batch(&f, 0);
            assert_int_equal(lra_set(f.plan, lra_step_input(f.k.graph), &step, &e), 0);
            assert_int_equal(lra_run(f.plan, &e), 0);
            assert_int_equal(lra_get(f.plan, f.update, status, &e), 0);
            if (i == 0) first = status[0];
            assert_true(status[2] == 1);
        }
        assert_true(status[0] < 0.1f * first);
        close_fixture(&f);
    }
}

/* Parameters and ten losses of every model, against tests/golden/models.txt: "NAME parameters losses".  In
 * float64, so that machines agree; a new model adds its line with LRA_UPDATE_GOLDEN=1. */
static void sizes_and_losses(void **state)
{
    (void)state;
    lra_err e = {{0}};
    lra_text now = {0};
    for (int m = 0; lra_model_at(m); m++) {
        fixture f;
        int64_t size = 0;
        open_fixture(&f, lra_model_at(m), LRA_F64, true, VOCAB);
        for (int i = 0; i < f.n; i++) size += lra_elements(f.param[i]);
        lra_text_add(&now, "%s %lld", lra_model_at(m)->name, (long long)size);
        for (int i = 0; i < 10; i++) {
            lra_step step = {.seed = 1, .step = (uint64_t)i, .rate = 0.01f};
            double status[4];
            set_batch(&f, 0);
            assert_int_equal(lra_set(f.plan, lra_step_input(f.k.graph), &step, &e), 0);
            assert_int_equal(lra_run(f.plan, &e), 0);
            assert_int_equal(lra_get(f.plan, f.update, status, &e), 0);
            lra_text_add(&now, " %.8f", status[0]);
        }
        lra_text_add(&now, "\n");
        close_fixture(&f);
    }
    const char *source = getenv("LRA_SOURCE"), *update = getenv("LRA_UPDATE_GOLDEN");
    char *path = lra_format("%s/tests/golden/models.txt", source ? source : ".");
    if (update && *update) assert_int_equal(lra_file_write(path, now.s, now.n, &e), 0);
    size_t n;
    char *golden = lra_file_read(path, 1 << 20, &n, &e), *a = now.s, *b = golden;
    if (!golden) fail_msg("%s", e.msg);
    for (;;) { /* word by word: numbers within 1e-6 */
        size_t na = strcspn(a, " \n"), nb = strcspn(b, " \n");
        bool number = strchr("0123456789", *a) && strchr("0123456789", *b) && na && nb;
        bool same = number ? fabs(strtod(a, NULL) - strtod(b, NULL)) < 1e-6
                           : na == nb && strncmp(a, b, na) == 0;
        if (!same || a[na] != b[nb]) fail_msg("found '%.60s', golden '%.60s'", a, b);
        if (!a[na]) break;
        a += na + 1, b += nb + 1;
    }
    lra_free_large(golden);
    lra_free(path);
    lra_text_free(&now);
}

static void saved_parameters_are_the_same(void **state)
{
    (void)state;
    for (int m = 0; lra_model_at(m); m++) {
        fixture a, b;
        lra_err e = {{0}};
        open_fixture(&a, lra_model_at(m), LRA_F32, false, VOCAB);
        lra_h5 *file = lra_h5_create("model_test.h5", "checkpoint", &e);
        assert_non_null(file);
        assert_int_equal(lra_params_write(a.params, file, &e), 0);
        assert_int_equal(lra_h5_commit(file, &e), 0);
        open_fixture(&b, lra_model_at(m), LRA_F32, false, VOCAB);
        uint64_t hash = lra_params_hash(a.params);
        float zero[4096] = {0};
        assert_int_equal(lra_params_set(b.params, lra_params_path(b.params, 0), zero, &e), 0);
        assert_true(lra_params_hash(b.params) != hash);
        file = lra_h5_open("model_test.h5", "checkpoint", &e);
        assert_non_null(file);
        assert_int_equal(lra_params_read(b.params, file, &e), 0);
        lra_h5_close(file);
        assert_true(lra_params_hash(b.params) == hash);
        remove("model_test.h5");
        close_fixture(&a);
        close_fixture(&b);
    }
}

static void reach_and_size_of_resconv(void **state)
{
    (void)state;
    lra_network_spec spec = {.vocab = 18, .outputs = 10};
    lra_config *c = lra_keys_config(lra_model_resconv.keys);
    lra_config_set(c, "kernel", "61");
    assert_int_equal(lra_model_resconv.reach(c), 180);
    /* embedding, 6 (norm + convolution + linear), norm, head */
    int64_t layer = 2 * 128 + 61 * 128 * 256 + 256 + 256 * 128 + 128;
    assert_int_equal(lra_network_parameters(&lra_model_resconv, c, &spec),
                     18 * 128 + 6 * layer + 2 * 128 + 128 * 10 + 10);
    lra_config_free(c);
}

static void bad_configurations_are_named(void **state)
{
    (void)state;
    lra_err e = {{0}};
    lra_network_spec spec = {.vocab = 18, .outputs = 10};
    lra_config *c = lra_keys_config(lra_model_resconv.keys);
    lra_config_set(c, "kernel", "4");
    lra_network k = lra_network_build(LRA_F32, LRA_EVAL, &lra_model_resconv, c, &spec, 2, 8);
    assert_int_equal(lra_graph_check(k.graph, &e), -1);
    assert_string_equal(e.msg, "'encoder': kernel is 4, expected an odd number from 1");
    lra_graph_free(k.graph);
    assert_null(lra_model_find("resconf", &e));
    assert_string_equal(e.msg, "unknown model 'resconf'; did you mean 'resconv'? ('lra-probe list "
                               "models' shows all)");
    lra_config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_in_float64),
        cmocka_unit_test(padding_has_no_influence),
        cmocka_unit_test(one_batch_is_learned),
        cmocka_unit_test(sizes_and_losses),
        cmocka_unit_test(saved_parameters_are_the_same),
        cmocka_unit_test(reach_and_size_of_resconv),
        cmocka_unit_test(bad_configurations_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
