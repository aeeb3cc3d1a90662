/* Published weights: a file with the names and the layout of GPT-NeoX, made here from one pythia
 * model, gives another model the same outputs; files that do not fit are rejected. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/training/published.h"
#include "tests/fixtures/tiny_model.h"

enum { D = 16, H = 8, V = TRIAL_VOCAB, MOST = 64 };

static lra_err err;

typedef struct {
    lra_safetensor t[MOST];
    int n;
} file;

static void open_pythia(tiny_model *f)
{
    model_case what = {.model = &lra_model_pythia,
                       .variant = "",
                       .type = LRA_F32,
                       .vocab = V,
                       .B = 2,
                       .T = 9,
                       .T_max = 9,
                       .what = MODEL_FORWARD};
    model_open(f, &what);
}

/* Sets parameters to values that no seed gives. */
static void change(tiny_model *f)
{
    for (int i = 0; i < f->n; i++) {
        const char *path = lra_tensor_path(f->param[i]);
        float v[D * 3 * D];
        assert_true(lra_elements(f->param[i]) <= D * 3 * D);
        for (int64_t k = 0; k < lra_elements(f->param[i]); k++)
            v[k] = (float)sin((double)(k * 37 + i * 11)) / 3;
        assert_int_equal(lra_params_set(f->params, path, v, &err), 0);
    }
}

/* Adds an array of the model in the layout of the file: (in, out) becomes (out, in). */
static void add(file *to, const tiny_model *from, const char *name, const char *path, int64_t n,
                int64_t m)
{
    lra_safetensor *t = &to->t[to->n++];
    float *ours = lra_alloc_array((size_t)(n * (m ? m : 1)), sizeof *ours);
    float *theirs = lra_alloc_array((size_t)(n * (m ? m : 1)), sizeof *theirs);
    bool table = strcmp(path, "embed/table") == 0;
    assert_int_equal(lra_params_get(from->params, path, ours, &err), 0);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < (m ? m : 1); k++)
            if (table || m == 0)
                theirs[i * (m ? m : 1) + k] = ours[i * (m ? m : 1) + k];
            else
                theirs[k * n + i] = ours[i * m + k];
    *t = (lra_safetensor){lra_copy_text(name), {.dtype = LRA_DTYPE_F32, .bytes = theirs}};
    t->array.rank = m ? 2 : 1;
    t->array.dims[0] = m && !table ? m : n;
    t->array.dims[1] = m && !table ? n : m;
    lra_free(ours);
}

static void add_layer(file *to, const tiny_model *from, int layer)
{
    static const struct {
        const char *ours, *theirs;
        int64_t n, m;
    } all[] = {{"norm1/gain", "input_layernorm.weight", D, 0},
               {"norm1/bias", "input_layernorm.bias", D, 0},
               {"norm2/gain", "post_attention_layernorm.weight", D, 0},
               {"norm2/bias", "post_attention_layernorm.bias", D, 0},
               {"qkv/w", "attention.query_key_value.weight", D, 3 * D},
               {"qkv/b", "attention.query_key_value.bias", 3 * D, 0},
               {"out/w", "attention.dense.weight", D, D},
               {"out/b", "attention.dense.bias", D, 0},
               {"up/w", "mlp.dense_h_to_4h.weight", D, H},
               {"up/b", "mlp.dense_h_to_4h.bias", H, 0},
               {"down/w", "mlp.dense_4h_to_h.weight", H, D},
               {"down/b", "mlp.dense_4h_to_h.bias", D, 0},
               {"norm1/bias", "attention.masked_bias", D, 0}}; /* the reader ignores this array */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char ours[80], theirs[80];
        snprintf(ours, sizeof ours, "encoder/layer%d/%s", layer, all[i].ours);
        snprintf(theirs, sizeof theirs, "gpt_neox.layers.%d.%s", layer, all[i].theirs);
        add(to, from, theirs, ours, all[i].n, all[i].m);
    }
}

static void make(file *to, const tiny_model *from)
{
    *to = (file){.n = 0};
    add(to, from, "gpt_neox.embed_in.weight", "embed/table", V, D);
    for (int i = 0; i < 2; i++) add_layer(to, from, i);
    add(to, from, "gpt_neox.final_layer_norm.weight", "encoder/norm/gain", D, 0);
    add(to, from, "gpt_neox.final_layer_norm.bias", "encoder/norm/bias", D, 0);
}

static void free_file(file *f)
{
    for (int i = 0; i < f->n; i++) {
        lra_free(f->t[i].name);
        lra_free((void *)(uintptr_t)f->t[i].array.bytes);
    }
}

/* Writes and reads a file. Returns 0, or sets `err`. */
static int load(file *f, tiny_model *into, int *n_put)
{
    int converted;
    char path[64];
    lra_safetensors t;
    snprintf(path, sizeof path, "published_test.%ld.safetensors", (long)getpid());
    if (lra_safetensors_write(path, f->n, f->t, NULL, &err) != 0) fail_msg("%s", err.msg);
    if (lra_safetensors_read(path, &t, &err) != 0) fail_msg("%s", err.msg);
    remove(path);
    assert_true(lra_has_published_names(&lra_model_pythia, &t));
    assert_false(lra_has_published_names(&lra_model_transformer, &t));
    int rc = lra_published_import(into->params, &lra_model_pythia, &t, "w", &converted, n_put,
                                  &err);
    assert_int_equal(converted, 0);
    lra_safetensors_free(&t);
    return rc;
}

static double *features(tiny_model *f)
{
    static const int32_t length[] = {9, 4}, token[2 * 9] = {1, 4, 2, 8, 5, 7, 1, 0, 3, 6, 6, 2, 1};
    model_set_tokens(f, length, token);
    model_run(f);
    return model_get(f, f->k.features);
}

TEST(another_model_answers_alike)
{
    tiny_model a, b;
    file f;
    int n_put;
    open_pythia(&a);
    change(&a);
    open_pythia(&b);
    make(&f, &a);
    if (load(&f, &b, &n_put) != 0) fail_msg("%s", err.msg);
    assert_int_equal(n_put, 1 + 2 * 12 + 2);
    double *x = features(&a), *y = features(&b);
    for (int i = 0; i < 2 * 9 * D; i++) assert_true(x[i] == y[i]);
    lra_free(x);
    lra_free(y);
    free_file(&f);
    model_close(&b);
    model_close(&a);
}

static void expect(file *f, tiny_model *into, const char *message)
{
    int n_put;
    assert_int_equal(load(f, into, &n_put), LRA_FAILED);
    if (!strstr(err.msg, message)) fail_msg("'%s' is not in '%s'", message, err.msg);
}

/* An embedding table with other tokens is not used; all other arrays must fit. */
TEST(what_does_not_fit)
{
    tiny_model a;
    file f;
    int n_put;
    open_pythia(&a);
    make(&f, &a);
    f.t[0].array.dims[0]--;
    assert_int_equal(load(&f, &a, &n_put), 0);
    assert_int_equal(n_put, 2 * 12 + 2);
    f.t[0].array.dims[0]++;
    f.n--;
    expect(&f, &a,
           "'w' does not fit the model: 1 of the model's 26 arrays is missing, the first is "
           "'gpt_neox.final_layer_norm.bias'");
    f.n++;
    add_layer(&f, &a, 1);
    for (int i = f.n - 13; i < f.n; i++) *strchr(f.t[i].name, '1') = '2';
    expect(&f, &a, "12 of its 42 arrays are unknown, the first is 'gpt_neox.layers.2.");
    while (f.n > 29) {
        lra_free(f.t[--f.n].name);
        lra_free((void *)(uintptr_t)f.t[f.n].array.bytes);
    }
    add(&f, &a, "gpt_neox.something", "encoder/norm/bias", D, 0);
    expect(&f, &a, "1 of its 30 arrays is unknown, the first is 'gpt_neox.something'");
    free_file(&f);
    model_close(&a);
}

/* Numbers of parameters without embeddings agree with the published ones: 18,915,328 of 70M and
 * 1,189,888 of 14M. */
TEST(sizes_are_those_of_the_suite)
{
    static const struct {
        const char *settings;
        int64_t width, parameters;
    } known[] = {{"layers=6", 512, 18915328},
                 {"layers=6 width=128 hidden=512 heads=4", 128, 1189888}};
    for (int i = 0; i < 2; i++) {
        lra_network_spec spec = {.vocab = 10, .outputs = 3};
        lra_config *c = lra_keys_config(lra_model_pythia.keys);
        lra_keys_apply(lra_model_pythia.keys, c, known[i].settings);
        int64_t others = (10 + 3) * known[i].width + 3;
        assert_int_equal(lra_network_parameters(&lra_model_pythia, c, &spec) - others,
                         known[i].parameters);
        lra_config_free(c);
    }
}
