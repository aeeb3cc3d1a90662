/* Rows of length 0, 1 and 2, for every operation and every model of the registries: results and
 * gradients are finite, nothing is read or written outside of arrays (sanitizers), and padding has
 * no influence. Such rows occur in incomplete batches, and in inputs from which a probe removes
 * tokens. */
#include <math.h>
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/features.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/op_sample.h"

/* ---- ops ------------------------------------------------------------------------------------- */

/* Sets the lengths of a sample to first, first + 1, first + 2, .. modulo 3. Returns how many leaves
 * are lengths. */
static int shorten(op_sample *t, int first)
{
    int found = 0;
    for (int k = 0; k < t->n_leaves; k++) {
        const lra_tensor *x = t->leaf[k];
        const char *fill = x->op == &lra_op_input ? lra_sample_fill(x) : NULL;
        if (!fill || strncmp(fill, "length", 6) != 0) continue;
        int64_t most = strtol(fill + 7, NULL, 10), n = lra_elements(x);
        for (int64_t i = 0; i < n; i++) {
            double length = (double)((first + i) % 3);
            t->value[k][i] = fmin(length, (double)most);
        }
        found++;
    }
    return found;
}

static void expect_finite(const op_sample *t, machine *m, const lra_tensor *x, int i)
{
    lra_err e = {{0}};
    int64_t n = lra_elements(x);
    double *wide = lra_alloc_array((size_t)n, sizeof *wide);
    OK(lra_get(m->plan, x, wide, &e));
    const float *narrow = (const float *)(const void *)wide;
    for (int64_t k = 0; k < n && x->type != LRA_I32; k++) {
        double v = x->type == LRA_F64 ? wide[k] : (double)narrow[k];
        if (!isfinite(v))
            fail_msg("'%s' sample %d with short rows: element %lld of '%s' is %g", t->y->op->name,
                     i, (long long)k, lra_tensor_path(x), v);
    }
    lra_free(wide);
}

static int met; /* number of samples that have lengths */

static void short_sample(const lra_op *op, int i)
{
    for (int k = 0; k < 6; k++) {
        op_sample t;
        machine m;
        lra_err e = {{0}};
        op_sample_new(&t, op, i, k % 2 ? LRA_F64 : LRA_F32);
        int found = shorten(&t, k / 2);
        met += found > 0;
        if (found) {
            machine_new(&m, &t, true, (setting){.n_threads = 1, .poison = true});
            for (int leaf = 0; leaf < t.n_leaves; leaf++) set_leaf(&m, &t, leaf);
            if (lra_run(m.plan, &e) != 0) fail_msg("'%s': %s", op->name, e.msg);
            expect_finite(&t, &m, t.y, i);
            for (int x = 0; x < t.n_x; x++) expect_finite(&t, &m, t.dx[x], i);
            machine_free(&m);
        }
        op_sample_free(&t);
        if (!found) return;
    }
}

TEST(ops_meet_short_rows)
{
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        each_sample(short_sample);
    }
    unsetenv("LRA_CPU");
    assert_true(met > 0);
}

/* ---- models ---------------------------------------------------------------------------------- */

enum { B = 4, T = 16 };

/* Returns output and gradients; the caller frees each. */
static double **results(tiny_model *f, const int32_t *length, int32_t pad)
{
    double **v = lra_alloc_array((size_t)f->n + 1, sizeof *v);
    model_set(f, length, pad);
    model_run(f);
    for (int i = 0; i <= f->n; i++) v[i] = model_get(f, i ? f->grad[i - 1] : f->k.output);
    return v;
}

static void forget(const tiny_model *f, double **v)
{
    for (int i = 0; i <= f->n; i++) lra_free(v[i]);
    lra_free(v);
}

static const char *name_of(const tiny_model *f, int i)
{
    return i ? lra_tensor_path(f->param[i - 1]) : "the output";
}

static void open_short(tiny_model *f, const lra_model *m, const char *variant, int k, bool train)
{
    model_open(f, &(model_case){.model = m,
                                .variant = variant,
                                .type = k == 2 ? LRA_F64 : LRA_F32,
                                .vocab = k == 1 ? 0 : TRIAL_VOCAB,
                                .B = B,
                                .T = T,
                                .T_max = T,
                                .what = train ? MODEL_GRADIENTS : MODEL_FORWARD});
}

static void check_short(const lra_model *m, const char *variant, int k)
{
    static const int32_t length[B] = {0, 1, 2, 5};
    tiny_model f;
    open_short(&f, m, variant, k, true);
    double **a = results(&f, length, 0), **b = results(&f, length, 8);
    for (int i = 0; i <= f.n; i++) {
        int64_t n = lra_elements(i ? f.grad[i - 1] : f.k.output);
        for (int64_t j = 0; j < n; j++) {
            if (!isfinite(a[i][j]))
                fail_msg("%s %s with a row of length 0: '%s' is %g", m->name, variant,
                         name_of(&f, i), a[i][j]);
            if (a[i][j] != b[i][j])
                fail_msg("%s %s with a row of length 0: padding changes '%s' from %g to %g",
                         m->name, variant, name_of(&f, i), a[i][j], b[i][j]);
        }
    }
    forget(&f, a);
    forget(&f, b);
    model_close(&f);
}

/* Checks that a row does not depend on others, in evaluation: in training, batch statistics depend
 * on all rows. */
static void check_others(const lra_model *m, const char *variant, int k)
{
    static const int32_t length[B] = {0, 1, 2, 5}, longer[B] = {T, 1, 2, 5};
    tiny_model f;
    open_short(&f, m, variant, k, false);
    double *logit[2];
    for (int i = 0; i < 2; i++) {
        model_set(&f, i ? longer : length, 0);
        model_run(&f);
        logit[i] = model_get(&f, f.k.output);
    }
    for (int64_t j = TRIAL_CLASSES; j < B * TRIAL_CLASSES; j++)
        if (!(fabs(logit[0][j] - logit[1][j]) <= 1e-4 * fmax(1, fabs(logit[1][j]))))
            fail_msg("%s %s: a row of length 0 changes another row's logit from %g to %g", m->name,
                     variant, logit[1][j], logit[0][j]);
    lra_free(logit[0]);
    lra_free(logit[1]);
    model_close(&f);
}

static void short_model(const lra_model *m, const char *variant)
{
    for (int k = 0; k < 3; k++) {
        check_short(m, variant, k);
        check_others(m, variant, k);
    }
}

TEST(models_meet_short_rows)
{
    each_model(short_model);
}
