/* Tests every sample of every registered operation, except leaves:
 * gradient   in float64, lra_grad() compared with central differences of a random projection of y,
 * for every element (for some elements of inputs above MAX_ELEMENTS)
 * precision  float32 compared with float64, for result, gradients and written tensors, at every
 * instruction level
 * bits       in place or not, poisoned or not, one thread or two: bitwise equal
 * bf16       compared with float64, within a bound
 * New operations are tested without a change of this file. */
#include <math.h>
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/features.h"
#include "tests/fixtures/sanitized.h"
#include "tests/fixtures/op_sample.h"

/* number of elements of one input whose gradients are checked */
enum { MAX_ELEMENTS = sanitized ? 12 : 2000 };

static void at_all_levels(void (*f)(const lra_op *op, int i))
{
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        each_sample(f);
    }
    unsetenv("LRA_CPU");
}

TEST(every_op_is_complete)
{
    const lra_op *op;
    for (int k = 0; (op = lra_op_at(k)) != NULL; k++) {
        if (!op->shape) fail_msg("'%s' has no shape function", op->name);
        if (!op->grad && !(op->flags & LRA_NOGRAD))
            fail_msg("'%s' has no gradient and no LRA_NOGRAD", op->name);
        if (op->flags & LRA_LEAF) continue;
        if (!op->sample || count_samples(op) == 0) fail_msg("'%s' has no sample", op->name);
        if (op->flags & LRA_ALIAS) continue;
        for (int type = LRA_F32; type <= LRA_BF16; type++)
            if (!op->cpu[type][LRA_LEVEL_PORTABLE])
                fail_msg("'%s' has no portable body for type %d", op->name, type);
    }
}

static double project(machine *m, const op_sample *t)
{
    lra_err e = {{0}};
    int64_t n = lra_elements(t->y);
    double *y = lra_alloc_array((size_t)n, sizeof *y), s = 0;
    const double *seed = t->value[t->n_leaves - 1];
    if (lra_run(m->plan, &e) != 0 || lra_get(m->plan, t->y, y, &e) != 0) fail_msg("%s", e.msg);
    for (int64_t i = 0; i < n; i++) s += y[i] * seed[i];
    lra_free(y);
    return s;
}

static void check_leaf(machine *m, const op_sample *t, int k, const double *analytic, int i)
{
    double *v = t->value[k];
    int64_t n = lra_elements(t->leaf[k]);
    int64_t stride = (n + MAX_ELEMENTS - 1) / MAX_ELEMENTS;
    for (int64_t j = 0; j < n; j += stride) {
        double x = v[j], h = 1e-5 * fmax(1, fabs(x)), s[2];
        for (int side = 0; side < 2; side++) {
            v[j] = side ? x + h : x - h;
            set_leaf(m, t, k);
            s[side] = project(m, t);
        }
        v[j] = x;
        double numeric = (s[1] - s[0]) / (2 * h);
        if (!(fabs(numeric - analytic[j]) <= 1e-6 * fmax(fabs(analytic[j]), 1e-2)))
            fail_msg("gradient of '%s' sample %d by '%s' element %lld: %.12g, expected %.12g",
                     t->y->op->name, i, lra_tensor_path(t->leaf[k]), (long long)j, analytic[j],
                     numeric);
    }
    set_leaf(m, t, k);
}

static void gradient(const lra_op *op, int i)
{
    op_sample t;
    machine m;
    if (op->flags & LRA_NOGRAD) return;
    op_sample_new(&t, op, i, LRA_F64);
    result r = run_sample(op, i, LRA_F64, (setting){.n_threads = 1});
    machine_new(&m, &t, false, (setting){.n_threads = 1});
    for (int k = 0; k < t.n_leaves; k++) set_leaf(&m, &t, k);
    int part = 1;
    for (int k = 0; k < t.n_leaves; k++) {
        if (t.leaf[k]->type == LRA_I32 || t.leaf[k] == t.seed) continue;
        check_leaf(&m, &t, k, r.v + r.first[part++], i);
    }
    machine_free(&m);
    op_sample_free(&t);
    lra_free(r.v);
}

static void precision(const lra_op *op, int i)
{
    setting plain = {.n_threads = 1};
    result a = run_sample(op, i, LRA_F32, plain), b = run_sample(op, i, LRA_F64, plain);
    expect_close(op, i, "float32", &a, &b, 1e-5);
    lra_free(a.v);
    lra_free(b.v);
}

static void bits(const lra_op *op, int i)
{
    static const struct {
        setting s;
        const char *what;
    } other[] = {{{1, true, false}, "not working in place"},
                 {{1, false, true}, "poison"},
                 {{1, true, true}, "poison, not in place"},
                 {{2, false, false}, "a second thread"}};
    for (int type = LRA_F32; type <= LRA_BF16; type++) {
        result a = run_sample(op, i, (lra_type)type, (setting){.n_threads = 1});
        for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
            result b = run_sample(op, i, (lra_type)type, other[k].s);
            expect_same(op, i, other[k].what, &a, &b);
            lra_free(b.v);
        }
        lra_free(a.v);
    }
}

/* Tests bf16: inputs are exact; results and the operands of gradients are rounded to 8 bits a few
 * times. */
static void half(const lra_op *op, int i)
{
    setting plain = {.n_threads = 1};
    result a = run_sample(op, i, LRA_BF16, plain), b = run_sample(op, i, LRA_F64, plain);
    expect_close(op, i, "bf16", &a, &b, 0.02);
    lra_free(a.v);
    lra_free(b.v);
}

TEST(gradients)
{
    each_sample(gradient);
}
TEST(float32_is_close_to_float64)
{
    at_all_levels(precision);
}
TEST(plan_changes_no_bits)
{
    at_all_levels(bits);
}
TEST(bf16_is_close_to_float64)
{
    at_all_levels(half);
}
