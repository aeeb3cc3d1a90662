/* Every model of the registry, with its tiny settings and variants: gradients in float64, three
 * buckets, padding, declared reach and causality, learning of one batch, saving and continuing,
 * sizes and losses; error messages. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/sanitized.h"

enum { B = 3, T = 12, T_MAX = 16 };
static const int32_t lengths[B] = {12, 7, 1};

/* Pooling in all checks of the registry, except in the check of CLS pooling. */
static lra_pool_kind pooling = LRA_POOL_MEAN;

static model_case usual(const lra_model *m, const char *variant)
{
    return (model_case){.model = m,
                        .variant = variant,
                        .type = LRA_F64,
                        .vocab = TRIAL_VOCAB,
                        .B = B,
                        .T = T,
                        .T_max = T_MAX,
                        .pool = pooling,
                        .what = MODEL_GRADIENTS};
}

/* ---- gradients ------------------------------------------------------------------------------- */

typedef struct {
    tiny_model f;
    double floor; /* derivatives below this value count as 0 */
    int n_checked, n_kinks;
} gradient_check;

static double loss_at(tiny_model *f, const char *path, double *value, int64_t j, double x)
{
    lra_err e = {{0}};
    double kept = value[j];
    value[j] = x;
    OK(lra_params_set(f->params, path, value, &e));
    value[j] = kept;
    model_run(f);
    return model_loss(f);
}

/* Compares with differences to both sides of element j. If ReLU has a kink within the step, the
 * step is reduced until it is between x and the kink. At a kink at x itself the two slopes differ,
 * and the gradient must be one of them. */
static void check_element(gradient_check *c, int i, double *value, int64_t j, double grad,
                          double tolerance)
{
    tiny_model *f = &c->f;
    const char *path = lra_tensor_path(f->param[i]);
    double x = value[j], numeric = 0;
    c->n_checked++;
    for (double h = 1e-5; h > 1e-8; h /= 10) {
        double left = loss_at(f, path, value, j, x - h), right = loss_at(f, path, value, j, x + h);
        double rounding = 1e-15 * fmax(1, fabs(left)) / h;
        numeric = (right - left) / (2 * h);
        if (fabs(numeric - grad) <= tolerance + rounding) return;
        double here = loss_at(f, path, value, j, x);
        double slope[] = {(here - left) / h, (right - here) / h};
        bool one = fabs(slope[0] - grad) <= tolerance + 10 * h + 2 * rounding ||
                   fabs(slope[1] - grad) <= tolerance + 10 * h + 2 * rounding;
        bool kink = one && fabs(slope[0] - slope[1]) > 100 * (tolerance + 10 * h);
        if (!kink) continue;
        if (h < 1e-7) {
            c->n_kinks++;
            return;
        }
    }
    fail_msg("%s %s: the derivative by '%s' element %lld is %.10g, differences say %.10g",
             f->is.model->name, f->is.variant, path, (long long)j, grad, numeric);
}

static double largest(const double *v, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
    return most;
}

static void check_parameter(gradient_check *c, int i)
{
    lra_err e = {{0}};
    tiny_model *f = &c->f;
    const char *path = lra_tensor_path(f->param[i]);
    int64_t n = lra_elements(f->param[i]);
    double *value = lra_alloc_array((size_t)n, sizeof *value);
    model_run(f);
    double *grad = model_get(f, f->grad[i]);
    assert_int_equal(lra_params_get(f->params, path, value, &e), 0);
    double tolerance = 1e-6 * fmax(largest(grad, n), c->floor);
    /* with sanitizers, the first, a middle and the last element */
    for (int64_t j = 0; j < n; j += sanitized && n > 2 ? (n - 1) / 2 : 1)
        check_element(c, i, value, j, grad[j], tolerance);
    assert_int_equal(lra_params_set(f->params, path, value, &e), 0);
    lra_free(value);
    lra_free(grad);
}

/* Compares every element of every parameter, relative to the parameter's largest derivative. */
static void check_gradients(const lra_model *m, const char *variant)
{
    if (sanitized && *variant) return;
    for (int values = 0; values < (*variant ? 1 : 2); values++) {
        model_case what = usual(m, variant);
        gradient_check c = {.floor = 0};
        if (values) what.vocab = 0;
        model_open(&c.f, &what);
        model_set(&c.f, lengths, 0);
        model_run(&c.f);
        for (int i = 0; i < c.f.n; i++) {
            double *grad = model_get(&c.f, c.f.grad[i]);
            c.floor = fmax(c.floor, 1e-2 * largest(grad, lra_elements(c.f.param[i])));
            lra_free(grad);
        }
        for (int i = 0; i < c.f.n; i++) check_parameter(&c, i);
        if (c.n_kinks * 100 > c.n_checked)
            fail_msg("%s %s: %d of %d derivatives are at kinks", m->name, variant, c.n_kinks,
                     c.n_checked);
        model_close(&c.f);
    }
}

TEST(walk_gradients_in_float64)
{
    each_model(check_gradients);
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* A row that fits into three buckets has the same outputs in each, with the same parameters. */
static void check_buckets(const lra_model *m, const char *variant)
{
    static const int64_t bucket[] = {8, T, T_MAX};
    static const int32_t length[B] = {8, 5, 1};
    tiny_model f[3];
    double *logits[3];
    for (int i = 0; i < 3; i++) {
        model_case what = usual(m, variant);
        what.T = bucket[i];
        what.what = MODEL_FORWARD;
        what.params = i ? f[0].params : NULL;
        model_open(&f[i], &what);
        int32_t token[B * T_MAX];
        for (int j = 0; j < B * bucket[i]; j++)
            token[j] = (int32_t)(j % bucket[i] * 5 + j / bucket[i]) % TRIAL_VOCAB;
        model_set_tokens(&f[i], length, token);
        model_run(&f[i]);
        logits[i] = model_get(&f[i], f[i].k.output);
        for (int j = 0; j < B * TRIAL_CLASSES; j++)
            if (!(fabs(logits[i][j] - logits[0][j]) <=
                  1e-12 * largest(logits[0], B * TRIAL_CLASSES)))
                fail_msg("%s %s: logit %d is %.15g in a bucket of %lld and %.15g in one of %lld",
                         m->name, variant, j, logits[i][j], (long long)bucket[i], logits[0][j],
                         (long long)bucket[0]);
    }
    for (int i = 2; i >= 0; i--) {
        lra_free(logits[i]);
        model_close(&f[i]);
    }
}

TEST(walk_three_buckets_agree)
{
    each_model(check_buckets);
}

/* Outputs and gradients do not depend on the tokens after the ends of rows. */
static void check_padding(const lra_model *m, const char *variant)
{
    for (int k = 0; k < 4; k++) {
        tiny_model f;
        model_case what = usual(m, variant);
        what.type = k % 2 ? LRA_BF16 : LRA_F32;
        if (k & 2) what.vocab = 0;
        model_open(&f, &what);
        double **first = lra_alloc_array((size_t)f.n + 1, sizeof *first);
        for (int pad = 0; pad < 2; pad++) {
            model_set(&f, lengths, pad ? 8 : 0);
            model_run(&f);
            for (int i = 0; i <= f.n; i++) {
                const lra_tensor *x = i < f.n ? f.grad[i] : f.k.output;
                double *v = model_get(&f, x);
                for (int64_t j = 0; pad && j < lra_elements(x); j++)
                    if (v[j] != first[i][j])
                        fail_msg("%s %s: padding changes '%s' from %g to %g", m->name, variant,
                                 i < f.n ? lra_tensor_path(f.param[i]) : "the output", first[i][j],
                                 v[j]);
                if (pad)
                    lra_free(first[i]), lra_free(v);
                else
                    first[i] = v;
            }
        }
        lra_free(first);
        model_close(&f);
    }
}

TEST(walk_padding_has_no_influence)
{
    each_model(check_padding);
}

/* ---- reach ----------------------------------------------------------------------------------- */

/* Returns true if the difference is larger than the rounding errors of Fourier transforms, which
 * affect all positions of a row. */
static bool differ(const double *a, const double *b, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most > 1e-12;
}

/* Runs a row, and for each of its tokens a copy in which this token is changed; stores how many
 * positions before and after a changed token have changed features. */
static void find_reach(tiny_model *f, int64_t *before, int64_t *after)
{
    int64_t n = f->is.T, D = lra_width(f->k.features);
    int32_t *token = lra_alloc_array((size_t)((n + 1) * n), sizeof *token);
    int32_t *length = lra_alloc_array((size_t)n + 1, sizeof *length);
    for (int64_t b = 0; b <= n; b++) {
        length[b] = (int32_t)n;
        for (int64_t t = 0; t < n; t++) {
            token[b * n + t] = (int32_t)(t * 5 % TRIAL_VOCAB);
            if (t + 1 == b) token[b * n + t] = (token[b * n + t] + 1) % TRIAL_VOCAB;
        }
    }
    model_set_tokens(f, length, token);
    model_run(f);
    double *h = model_get(f, f->k.features);
    *before = *after = -1;
    for (int64_t b = 1; b <= n; b++)
        for (int64_t t = 0; t < n; t++) {
            if (!differ(h + t * D, h + (b * n + t) * D, D)) continue;
            int64_t distance = t - (b - 1);
            if (distance >= 0 && distance > *after) *after = distance;
            if (distance <= 0 && -distance > *before) *before = -distance;
        }
    lra_free(token);
    lra_free(length);
    lra_free(h);
}

static void check_reach(const lra_model *m, const char *variant)
{
    tiny_model f;
    model_case what = usual(m, variant);
    int64_t before, after;
    what.B = T_MAX + 1, what.T = T_MAX;
    what.what = MODEL_FORWARD;
    model_open(&f, &what);
    find_reach(&f, &before, &after);
    int64_t reach = m->reach(f.config);
    bool causal = m->causal && m->causal(f.config);
    if (reach < 0 || reach > T_MAX - 1) reach = T_MAX - 1;
    if (after != reach || before != (causal ? 0 : reach))
        fail_msg("%s %s: a token changes %lld features before and %lld behind it, expected %lld "
                 "and %lld",
                 m->name, variant, (long long)before, (long long)after,
                 (long long)(causal ? 0 : reach), (long long)reach);
    model_close(&f);
}

TEST(walk_reach_is_as_declared)
{
    each_model(check_reach);
}

/* Returns how many different reaches the valid values of a key give. */
static int count_reaches(const lra_model *m, const lra_key *k)
{
    enum { MOST = 12 };
    int64_t seen[MOST];
    int n = 0;
    for (int64_t v = 1; v <= MOST; v++) {
        if ((double)v < k->min || (double)v > k->max) continue;
        lra_config *c = model_tiny(m, "");
        char *one = lra_format("%s=%d", k->name, (int)v);
        lra_keys_apply(m->keys, c, one);
        int64_t reach = m->reach(c);
        int i = 0;
        while (i < n && seen[i] != reach) i++;
        if (i == n) seen[n++] = reach;
        lra_free(one);
        lra_config_free(c);
    }
    return n;
}

/* Ladders increase the key that the model's record names; the reach of models without such a key is
 * not limited by a key. */
TEST(the_axis_bounds_the_reach)
{
    for (int i = 0; lra_model_at(i); i++) {
        const lra_model *m = lra_model_at(i);
        const lra_key *axis = m->axis ? lra_key_find(m->keys, m->axis) : NULL;
        if (m->axis && (!axis || axis->kind != LRA_KEY_INT || count_reaches(m, axis) < 4))
            fail_msg("%s: '%s' does not bound the reach", m->name, m->axis);
        for (const lra_key *k = m->keys; k->name && !m->axis; k++)
            if (k->kind == LRA_KEY_INT && count_reaches(m, k) > 1)
                fail_msg("%s has no axis, but '%s' bounds its reach", m->name, k->name);
    }
}

/* In every layer, a window of longformer includes one token more after a position than before it (i
 * - w/2 < j <= i + w/2). The checks over the registry only have windows wider than their rows. */
TEST(windows_are_not_centred)
{
    for (int layers = 1; layers < 4; layers++) {
        tiny_model f;
        char *changes = lra_format("layers=%d window=8", layers);
        model_case what = usual(&lra_model_longformer, changes);
        int64_t before, after;
        what.B = T_MAX + 1, what.T = T_MAX;
        what.what = MODEL_FORWARD;
        model_open(&f, &what);
        find_reach(&f, &before, &after);
        assert_int_equal(before, lra_model_longformer.reach(f.config));
        assert_int_equal(after, before - layers);
        model_close(&f);
        lra_free(changes);
    }
}

/* ---- training -------------------------------------------------------------------------------- */

/* 200 steps on one batch reduce the loss to less than 10 %. */
static void check_learning(const lra_model *m, const char *variant)
{
    if (sanitized && *variant) return;
    tiny_model f;
    model_case what = usual(m, variant);
    double first = 0, last = 0;
    what.type = LRA_F32;
    what.what = MODEL_UPDATE;
    model_open(&f, &what);
    model_set(&f, lengths, 0);
    for (int i = 0; i < 200; i++) {
        model_set(&f, lengths, 0);
        last = model_step(&f, i);
        if (i == 0) first = last;
    }
    if (!(last < 0.1 * first))
        fail_msg("%s %s: the loss of one batch falls from %g to %g", m->name, variant, first, last);
    model_close(&f);
}

TEST(walk_one_batch_is_learned)
{
    each_model(check_learning);
}

static void train_steps(tiny_model *f, int from, int to)
{
    for (int i = from; i < to; i++) {
        model_set(f, lengths, 0);
        model_step(f, i);
    }
}

/* Two steps after loading a saved model are equal to two steps without saving and loading. */
static void check_resume(const lra_model *m, const char *variant)
{
    lra_err e = {{0}};
    tiny_model a, b;
    model_case what = usual(m, variant);
    what.type = LRA_BF16; /* in bf16 there are copies of parameters, which are not saved */
    what.what = MODEL_UPDATE;
    model_open(&a, &what);
    train_steps(&a, 0, 3);
    char path[64]; /* a name of this process, because shards of this test run in parallel */
    snprintf(path, sizeof path, "model_test.%d.h5", (int)getpid());
    lra_h5 *file = lra_h5_create(path, "checkpoint", &e);
    assert_non_null(file);
    assert_int_equal(lra_params_write(a.params, file, &e), 0);
    assert_int_equal(lra_h5_commit(file, &e), 0);
    train_steps(&a, 3, 5);
    model_open(&b, &what);
    assert_true(lra_params_hash(b.params) != lra_params_hash(a.params));
    file = lra_h5_open(path, "checkpoint", &e);
    assert_non_null(file);
    assert_int_equal(lra_params_read(b.params, file, &e), 0);
    lra_h5_close(file);
    train_steps(&b, 3, 5);
    if (lra_params_hash(b.params) != lra_params_hash(a.params))
        fail_msg("%s %s: two steps from a file are others", m->name, variant);
    remove(path);
    model_close(&a);
    model_close(&b);
}

TEST(walk_training_goes_on_from_a_file)
{
    each_model(check_resume);
}

/* ---- pooling --------------------------------------------------------------------------------- */

/* Checks every model with CLS pooling; the CLS vector is initially 0 and is not part of the
 * features. */
static void check_cls(const lra_model *m, const char *variant)
{
    lra_config *c = model_tiny(m, variant);
    bool causal = m->causal && m->causal(c);
    lra_config_free(c);
    if (!(m->pools & LRA_POOL_BIT(LRA_POOL_CLS)) || causal) return;
    pooling = LRA_POOL_CLS;
    check_gradients(m, variant);
    check_buckets(m, variant);
    check_padding(m, variant);
    check_learning(m, variant);
    tiny_model f;
    model_case what = usual(m, variant);
    model_open(&f, &what);
    double start[8] = {1};
    lra_err e = {{0}};
    assert_true(lra_elements(lra_find(f.k.graph, "cls/vector")) == 8);
    assert_int_equal(lra_params_get(f.params, "cls/vector", start, &e), 0);
    for (int i = 0; i < 8; i++) assert_true(start[i] == 0);
    assert_true(lra_shape_equal(lra_tensor_shape(f.k.features), LRA_SHAPE(B, T, 8)));
    model_close(&f);
    pooling = LRA_POOL_MEAN;
}

TEST(walk_pooling_by_cls)
{
    each_model(check_cls);
}

/* In a row of one token, CLS has position 0 and the token has position 1, for learned and computed
 * position encodings: a model without CLS whose first token has the embedding of the CLS vector
 * gives the same outputs. */
TEST(cls_is_the_first_position)
{
    lra_err e = {{0}};
    tiny_model a, b;
    model_case what = usual(&lra_model_transformer, "positions=learned");
    const int32_t with[B] = {5, 4, 3}, without[B] = {6, 5, 4};
    int32_t short_token[B * T] = {0}, long_token[B * T] = {0};
    double table[TRIAL_VOCAB * 8];
    what.what = MODEL_FORWARD;
    model_open(&a, &what);
    what.pool = LRA_POOL_CLS, what.params = NULL;
    what.T_max = T_MAX - 1;
    model_open(&b, &what);
    /* The embedding of token 8 in one model is the CLS vector of the other. */
    for (int i = 0; i < lra_params_count(a.params); i++) {
        const char *path = lra_params_path(a.params, i);
        double *v = lra_alloc_array((size_t)lra_shape_elements(lra_params_shape(a.params, i)),
                                    sizeof *v);
        assert_int_equal(lra_params_get(a.params, path, v, &e), 0);
        OK(lra_params_set(b.params, path, v, &e));
        lra_free(v);
    }
    assert_int_equal(lra_params_get(a.params, "embed/table", table, &e), 0);
    assert_int_equal(lra_params_set(b.params, "cls/vector", table + (TRIAL_VOCAB - 1) * 8, &e), 0);
    for (int row = 0; row < B; row++) {
        long_token[row * T] = TRIAL_VOCAB - 1;
        for (int t = 0; t < with[row]; t++)
            short_token[row * T + t] = long_token[row * T + t + 1] = (row + 3 * t) % 8;
    }
    model_set_tokens(&a, without, long_token);
    model_set_tokens(&b, with, short_token);
    model_run(&a);
    model_run(&b);
    double *ha = model_get(&a, a.k.features), *hb = model_get(&b, b.k.features);
    double *logits = model_get(&b, b.k.output), w[8 * TRIAL_CLASSES], bias[TRIAL_CLASSES];
    assert_int_equal(lra_params_get(b.params, "head/w", w, &e), 0);
    assert_int_equal(lra_params_get(b.params, "head/b", bias, &e), 0);
    for (int row = 0; row < B; row++) {
        const double *first = ha + row * T * 8, *own = hb + row * T * 8;
        for (int i = 0; i < 8 * with[row]; i++)
            if (!(fabs(first[8 + i] - own[i]) <= 1e-12))
                fail_msg("row %d, %d: %.15g and %.15g", row, i, first[8 + i], own[i]);
        for (int k = 0; k < TRIAL_CLASSES; k++) {
            double sum = bias[k];
            for (int i = 0; i < 8; i++) sum += first[i] * w[i * TRIAL_CLASSES + k];
            assert_true(fabs(logits[row * TRIAL_CLASSES + k] - sum) <= 1e-12);
        }
    }
    lra_free(ha);
    lra_free(hb);
    lra_free(logits);
    model_close(&b);
    model_close(&a);
}

/* A model without CLS pooling rejects it, and the message lists the supported pools. */
TEST(pools_are_declared)
{
    lra_err e = {{0}};
    lra_network_spec spec = {.vocab = 18, .outputs = 10, .pool = LRA_POOL_CLS};
    lra_config *c = model_tiny(&lra_model_resconv, ""),
               *one_way = model_tiny(&lra_model_transformer, "causal=1");
    for (int i = 0; lra_model_at(i); i++) {
        unsigned pools = lra_model_at(i)->pools;
        assert_true(pools == 0 || (pools & LRA_POOLS_ROWS) == LRA_POOLS_ROWS);
    }
    assert_int_equal(lra_network_check(&lra_model_resconv, c, &spec, &e), LRA_USAGE);
    assert_string_equal(e.msg, "model 'resconv' cannot pool by cls; expected mean, last or max");
    assert_int_equal(lra_network_check(&lra_model_transformer, one_way, &spec, &e), LRA_USAGE);
    assert_non_null(strstr(e.msg, "where a causal model has no context"));
    spec.head = LRA_HEAD_NEXT; /* this head does not pool */
    assert_int_equal(lra_network_check(&lra_model_transformer, one_way, &spec, &e), 0);
    lra_config_free(c);
    lra_config_free(one_way);
}

/* ---- golden ---------------------------------------------------------------------------------- */

/* Appends a line "NAME CHANGES parameters losses". */
static void add_line(lra_text *to, const lra_model *m, const char *changes, int n_losses)
{
    tiny_model f;
    model_case what = usual(m, changes);
    int64_t size = 0;
    what.what = MODEL_UPDATE;
    model_open(&f, &what);
    for (int i = 0; i < f.n; i++) size += lra_elements(f.param[i]);
    lra_text_add(to, "%s%s%s %lld", m->name, *changes ? " " : "", changes, (long long)size);
    for (int i = 0; i < n_losses; i++) {
        model_set(&f, lengths, 0);
        lra_text_add(to, " %.8f", model_step(&f, i));
    }
    lra_text_add(to, "\n");
    model_close(&f);
}

/* Compares with tests/golden/NAME, which LRA_UPDATE_GOLDEN=1 writes: words must be equal, numbers
 * within 1e-6. Frees the text. */
static void check_lines(const char *name, lra_text *now)
{
    lra_err e = {{0}};
    const char *source = getenv("LRA_SOURCE"), *update = getenv("LRA_UPDATE_GOLDEN");
    char *path = lra_format("%s/tests/golden/%s", source ? source : ".", name);
    if (update && *update) assert_int_equal(lra_file_write(path, now->s, now->n, &e), 0);
    size_t n;
    char *golden = lra_file_read(path, 1 << 20, &n, &e), *a = now->s, *b = golden;
    NOT_NULL(golden);
    for (;;) {
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
    lra_text_free(now);
}

/* Number of parameters and ten losses of every model, in float64, so that machines agree; a new
 * model adds a line. */
TEST(sizes_and_losses)
{
    lra_text now = {0};
    for (int m = 0; lra_model_at(m); m++) add_line(&now, lra_model_at(m), "", 10);
    check_lines("models.txt", &now);
}

/* Appends a line for each value of a key except its default, if the model can be built with it. */
static void add_values(lra_text *to, const lra_model *m, const lra_key *k)
{
    const char *value = k->kind == LRA_KEY_FLAG ? "0|1" : k->choices;
    bool listed = k->kind == LRA_KEY_FLAG || k->kind == LRA_KEY_CHOICE;
    while (listed && *value) {
        size_t n = strcspn(value, "|");
        char *change = lra_format("%s=%.*s", k->name, (int)n, value);
        lra_config *c = model_tiny(m, change);
        const lra_network_spec any = {.head = LRA_HEAD_CLASS};
        lra_err e;
        bool usual_value = strcmp(change + strlen(k->name) + 1, k->value) == 0;
        if (!usual_value && lra_network_check(m, c, &any, &e) == 0) add_line(to, m, change, 2);
        lra_config_free(c);
        lra_free(change);
        value += n + (value[n] == '|');
    }
}

/* The same for every variant, and for every choice and flag: all settings have an effect, and their
 * effect does not change. */
TEST(sizes_and_losses_of_settings)
{
    lra_text now = {0};
    for (int i = 0; lra_model_at(i); i++) {
        const lra_model *m = lra_model_at(i);
        for (int k = 0; m->variants && m->variants[k]; k++) add_line(&now, m, m->variants[k], 2);
        for (const lra_key *k = m->keys; k->name; k++) add_values(&now, m, k);
    }
    check_lines("settings.txt", &now);
}

/* ---- single models --------------------------------------------------------------------------- */

TEST(reach_and_size_of_resconv)
{
    lra_network_spec spec = {.vocab = 18, .outputs = 10};
    lra_config *c = lra_keys_config(lra_model_resconv.keys);
    lra_config_set(c, "kernel", "61");
    assert_int_equal(lra_model_resconv.reach(c), 180);
    /* embedding, 6 layers (norm, convolution, linear), norm, head */
    int64_t layer = 2 * 128 + 61 * 128 * 256 + 256 + 256 * 128 + 128;
    assert_int_equal(lra_network_parameters(&lra_model_resconv, c, &spec),
                     18 * 128 + 6 * layer + 2 * 128 + 128 * 10 + 10);
    lra_config_free(c);
}

/* The table of positions has a row for each position of the longest input; a fixed table is not a
 * parameter. */
TEST(size_of_positions)
{
    static const struct {
        const char *positions;
        int64_t more;
    } cases[] = {{"positions=none", 0},
                 {"positions=sinusoidal", 0},
                 {"positions=rotary", 0},
                 {"positions=learned", 100 * 8}};
    int64_t least = 0;
    for (int i = 0; i < 4; i++) {
        lra_network_spec spec = {.vocab = 18, .outputs = 10, .T_max = 100};
        lra_config *c = model_tiny(&lra_model_transformer, cases[i].positions);
        int64_t n = lra_network_parameters(&lra_model_transformer, c, &spec);
        if (i == 0) least = n;
        assert_int_equal(n, least + cases[i].more);
        lra_config_free(c);
    }
}

/* The initial values of s4d by HiPPO-LegS compared with values of LAPACK, for two, four and 64
 * states. For 64, the number in S4, the imaginary parts of b are clipped at 2 in 11 of 32 modes. */
TEST(legs_has_known_values)
{
    static const struct {
        const char *settings;
        int modes;
        double w[2], re[2], im[2];
        int cut;
    } cases[] = {{"init=legs state=2", 1, {0.866025403784}, {0.707106781187}, {1.224744871392}, 0},
                 {"init=legs state=4",
                  2,
                  {4.603293007067, 0.556501115084},
                  {0.287019860090, 0.646234941731},
                  {2, 0.719260931358},
                  1},
                 {"init=legs state=64 ssm-copies=3",
                  32,
                  {1303.273842981197, 433.030756538691},
                  {0.015634411036, 0.015709768189},
                  {2, 2},
                  11}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lra_err e = {{0}};
        tiny_model f;
        model_case what = usual(&lra_model_s4d, cases[i].settings);
        double decay[96], w[96], re[96], im[96];
        int cut = 0, modes = cases[i].modes;
        what.what = MODEL_FORWARD;
        model_open(&f, &what);
        assert_int_equal(lra_params_get(f.params, "encoder/layer1/ssm/log_decay", decay, &e), 0);
        assert_int_equal(lra_params_get(f.params, "encoder/layer1/ssm/turn", w, &e), 0);
        assert_int_equal(lra_params_get(f.params, "encoder/layer1/ssm/b_re", re, &e), 0);
        assert_int_equal(lra_params_get(f.params, "encoder/layer1/ssm/b_im", im, &e), 0);
        for (int k = 0; k < modes; k++) {
            assert_true(decay[k] == log(0.5));
            cut += im[k] == 2;
            if (k > 1) continue;
            assert_true(fabs(w[k] - cases[i].w[k]) <= 1e-12 * cases[i].w[k] + 1e-12);
            assert_true(fabs(re[k] - cases[i].re[k]) <= 2e-12);
            assert_true(fabs(im[k] - cases[i].im[k]) <= 2e-12);
        }
        assert_int_equal(cut, cases[i].cut);
        /* all copies of the modes are equal */
        if (modes == 32) assert_memory_equal(im, im + 64, 32 * sizeof *im);
        model_close(&f);
    }
}

static void expect_complaint(const lra_model *m, const char *changes, const lra_network_spec *spec,
                             int64_t steps, const char *message)
{
    lra_err e = {{0}};
    lra_config *c = model_tiny(m, changes);
    lra_network k = lra_network_build(LRA_F32, LRA_EVAL, m, c, spec, 2, steps);
    assert_int_equal(lra_graph_check(k.graph, &e), -1);
    assert_string_equal(e.msg, message);
    lra_graph_free(k.graph);
    lra_config_free(c);
}

TEST(bad_configurations_are_named)
{
    lra_err e = {{0}};
    lra_network_spec spec = {.vocab = 18, .outputs = 10}, longest = spec;
    longest.T_max = 6;
    expect_complaint(&lra_model_resconv, "kernel=4", &spec, 8,
                     "'encoder': kernel is 4, expected an odd number from 1");
    expect_complaint(
        &lra_model_transformer, "heads=3", &spec, 8,
        "'encoder/layer0': width 8 cannot be divided into 3 heads of an even number of channels");
    expect_complaint(&lra_model_transformer, "", &longest, 8,
                     "a bucket of 8 positions is longer than the longest input, 6");
    assert_null(lra_model_find("resconf", &e));
    assert_string_equal(e.msg, "unknown model 'resconf'; did you mean 'resconv'? ('lra-probe list "
                               "models' shows all)");
}

/* LRA_TEST_SHARD=I/N runs only the checks over the registry, for a part of the models
 * (each_model()); LRA_TEST_SHARD=rest runs only the other tests; without it all tests run. */
int main(void)
{
    const char *shard = getenv("LRA_TEST_SHARD");
    if (shard && strcmp(shard, "rest") == 0)
        cmocka_set_skip_filter("walk_*");
    else if (shard)
        cmocka_set_test_filter("walk_*");
    return tests_run();
}
