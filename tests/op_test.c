/* Walks the registry: every op that is not a leaf, every sample of it.
 *   gradient   float64, central differences against lra_grad(), a random projection of y, every element
 *              (of inputs above MAX_ELEMENTS a part)
 *   precision  float32 against float64, result, gradients and what is written, at every level
 *   bits       in place or not, poisoned or not, one thread or two: the same
 *   bf16       against float64, within a bound
 * Adding an op needs no edit here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/base/file.h"
#include "kernels/base/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/features.h"
#include "kernels/graph/graph_impl.h"

enum { MAX_LEAVES = 64, MAX_ELEMENTS = 2000 /* whose gradients are checked, of one input */ };

/* ---- a sample in a graph of its own, with data ------------------------------------------------------ */

typedef struct {
    lra_graph *g;
    lra_tensor *y, *seed;
    lra_tensor *leaf[MAX_LEAVES]; /* inputs and parameters, the seed last */
    double *value[MAX_LEAVES];
    lra_tensor *x[MAX_LEAVES], *dx[MAX_LEAVES]; /* real leaves and their gradients */
    int n_leaves, n_x;
} trial;

/* Every graph type sees the same numbers: values are exact in bf16. */
static double exact(double v)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits &= 0xFFFF0000u;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static double draw(const char *fill, lra_rng *r)
{
    double a, b, u = lra_rng_u01(r);
    const char *colon = strchr(fill, ':');
    long n = colon ? strtol(colon + 1, NULL, 10) : 0;
    if (strncmp(fill, "positive", 8) == 0) return exact(0.1 + 0.9 * u);
    if (strncmp(fill, "index", 5) == 0) return floor(u * (double)n);
    if (strncmp(fill, "length", 6) == 0) return 1 + floor(u * (double)n);
    if (strncmp(fill, "label", 5) == 0) return lra_rng_u01(r) < 0.25 ? -1 : floor(u * (double)n);
    uint32_t word = lra_rng_u32(r);
    lra_normal2(word, lra_rng_u32(r), &a, &b);
    if (strcmp(fill, "away") == 0 && fabs(a) < 0.06) a = a < 0 ? -0.06 : 0.06;
    return exact(a);
}

static void add_leaf(trial *t, lra_tensor *x)
{
    if (t->n_leaves == MAX_LEAVES) fail_msg("a sample with too many leaves");
    const char *fill = x->op == &lra_op_input ? lra_sample_fill(x) : "normal";
    int64_t n = lra_elements(x);
    double *v = lra_alloc_array((size_t)n, sizeof *v);
    lra_rng r = lra_rng_new(7, lra_hash32(lra_tensor_path(x)), 0);
    for (int64_t i = 0; fill && i < n; i++) v[i] = draw(fill, &r);
    if (!fill) { /* the step: 16 words of int32 */
        lra_step step = {.seed = 11, .step = 3, .rate = 0.01f};
        int32_t word[16];
        memcpy(word, &step, sizeof word);
        for (int i = 0; i < 16; i++) v[i] = word[i];
    }
    t->value[t->n_leaves] = v;
    t->leaf[t->n_leaves++] = x;
    if (x->type != LRA_I32 && x != t->seed) t->x[t->n_x++] = x;
}

/* False after the last sample. */
static bool trial_new(trial *t, const lra_op *op, int i, lra_type type)
{
    *t = (trial){.g = lra_graph_new(type, LRA_TRAIN)};
    t->y = op->sample(t->g, i);
    lra_err e = {{0}};
    if (lra_graph_check(t->g, &e) != 0) fail_msg("sample %d of '%s': %s", i, op->name, e.msg);
    if (!t->y) return false;
    int n = t->g->n_nodes;
    for (int id = 0; id < n; id++) {
        lra_tensor *x = t->g->node[id];
        if (x->op == &lra_op_input || x->op == &lra_op_param) add_leaf(t, x);
    }
    if (op->flags & LRA_NOGRAD) {
        t->n_x = 0;
        return true;
    }
    t->seed = lra_sample_input(t->g, "seed of the gradient", "normal", t->y->shape);
    add_leaf(t, t->seed);
    lra_grad(t->y, lra_cast(t->seed, t->y->type), t->n_x, t->x, t->dx);
    if (lra_graph_check(t->g, &e) != 0) fail_msg("gradient of '%s': %s", op->name, e.msg);
    return true;
}

static void trial_free(trial *t)
{
    for (int i = 0; i < t->n_leaves; i++) lra_free(t->value[i]);
    lra_graph_free(t->g);
}

/* ---- running it ----------------------------------------------------------------------------------- */

typedef struct {
    lra_device device;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
} machine;

typedef struct {
    int n_threads;
    bool no_inplace, poison;
} setting;

static void machine_new(machine *m, const trial *t, bool with_gradients, setting s)
{
    lra_err e = {{0}};
    lra_tensor *out[MAX_LEAVES + 1] = {t->y};
    int n = 1;
    for (int i = 0; i < t->n_x && with_gradients; i++) out[n++] = t->dx[i];
    if (lra_cpu_device(&m->device, 0, &e) != 0) fail_msg("%s", e.msg);
    m->params = lra_params_new(&m->device, 1);
    m->space = lra_space_new(&m->device);
    lra_space_no_inplace(m->space, s.no_inplace);
    m->plan = lra_plan_new(t->g, m->params, m->space, n, out, &e);
    if (!m->plan) fail_msg("'%s': %s", t->y->op->name, e.msg);
    lra_plan_threads(m->plan, s.n_threads);
    lra_plan_poison(m->plan, s.poison);
}

static void machine_free(machine *m)
{
    lra_plan_free(m->plan);
    lra_space_free(m->space);
    lra_params_free(m->params);
}

static void store(void *to, lra_type type, int64_t i, double v)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (type == LRA_I32) ((int32_t *)to)[i] = (int32_t)v;
    if (type == LRA_F32) ((float *)to)[i] = f;
    if (type == LRA_F64) ((double *)to)[i] = v;
    if (type == LRA_BF16) ((uint16_t *)to)[i] = (uint16_t)(bits >> 16);
}

static void set_leaf(machine *m, const trial *t, int k)
{
    lra_tensor *x = t->leaf[k];
    int64_t n = lra_elements(x);
    void *host = lra_alloc_array((size_t)n, sizeof(double));
    lra_err e = {{0}};
    for (int64_t i = 0; i < n; i++) store(host, x->type, i, t->value[k][i]);
    int rc = x->op == &lra_op_input ? lra_set(m->plan, x, host, &e)
                                    : lra_params_set(m->params, lra_tensor_path(x), host, &e);
    lra_free(host);
    if (rc != 0) fail_msg("%s", e.msg);
}

static int64_t append(double *to, lra_type type, const void *host, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = type == LRA_F64 ? ((const double *)host)[i] : (double)((const float *)host)[i];
    return n;
}

/* One array of a result, and everything that a run left: y, gradients, parameters and states. */
typedef struct {
    double *v;
    int64_t n, first[2 * MAX_LEAVES];
    int n_parts;
} result;

static void add_part(result *r, lra_type type, const void *host, int64_t n)
{
    r->v = lra_resize(r->v, (size_t)(r->n + n) * sizeof *r->v);
    r->first[r->n_parts++] = r->n;
    r->n += append(r->v + r->n, type, host, n);
    r->first[r->n_parts] = r->n;
}

static void add_tensor(result *r, machine *m, const lra_tensor *x)
{
    lra_err e = {{0}};
    int64_t n = lra_elements(x);
    void *host = lra_alloc_array((size_t)n, sizeof(double));
    if (lra_get(m->plan, x, host, &e) != 0) fail_msg("%s", e.msg);
    add_part(r, x->type, host, n);
    lra_free(host);
}

static result run(const lra_op *op, int i, lra_type type, setting s)
{
    trial t;
    machine m;
    result r = {0};
    lra_err e = {{0}};
    trial_new(&t, op, i, type);
    machine_new(&m, &t, true, s);
    for (int k = 0; k < t.n_leaves; k++) set_leaf(&m, &t, k);
    if (lra_run(m.plan, &e) != 0) fail_msg("'%s': %s", op->name, e.msg);
    add_tensor(&r, &m, t.y);
    for (int k = 0; k < t.n_x; k++) add_tensor(&r, &m, t.dx[k]);
    for (int k = 0; k < lra_params_count(m.params); k++) {
        int64_t n = lra_shape_elements(lra_params_shape(m.params, k));
        void *host = lra_alloc_array((size_t)n, sizeof(double));
        if (lra_params_get(m.params, lra_params_path(m.params, k), host, &e) != 0)
            fail_msg("%s", e.msg);
        add_part(&r, lra_real(t.g), host, n);
        lra_free(host);
    }
    machine_free(&m);
    trial_free(&t);
    return r;
}

/* Largest difference of a part over the part's largest value. */
static void expect_close(const lra_op *op, int i, const char *what, const result *a,
                         const result *b, double tolerance)
{
    assert_int_equal(a->n, b->n);
    for (int p = 0; p < a->n_parts; p++) {
        double largest = 1e-3, worst = 0;
        for (int64_t k = a->first[p]; k < a->first[p + 1]; k++) {
            double difference = fabs(a->v[k] - b->v[k]);
            largest = fmax(largest, fabs(b->v[k]));
            worst = isnan(difference) ? INFINITY : fmax(worst, difference);
        }
        if (worst > tolerance * largest)
            fail_msg("'%s' sample %d %s, level %s: part %d differs by %g of %g", op->name, i, what,
                     lra_cpu_level_name(lra_cpu_level()), p, worst, largest);
    }
}

static void expect_same(const lra_op *op, int i, const char *what, const result *a, const result *b)
{
    assert_int_equal(a->n, b->n);
    if (memcmp(a->v, b->v, (size_t)a->n * sizeof *a->v) != 0)
        fail_msg("'%s' sample %d, level %s: %s changes bits", op->name, i,
                 lra_cpu_level_name(lra_cpu_level()), what);
}

/* ---- walks ---------------------------------------------------------------------------------------- */

static int count_samples(const lra_op *op)
{
    trial t;
    int n = 0;
    while (trial_new(&t, op, n, LRA_F64)) {
        n++;
        trial_free(&t);
    }
    trial_free(&t);
    return n;
}

static void each_sample(void (*f)(const lra_op *op, int i))
{
    const lra_op *op;
    for (int k = 0; (op = lra_op_at(k)) != NULL; k++) {
        if (op->flags & LRA_LEAF) continue;
        int n = op->sample ? count_samples(op) : 0;
        for (int i = 0; i < n; i++) f(op, i);
    }
}

static void at_all_levels(void (*f)(const lra_op *op, int i))
{
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        each_sample(f);
    }
    unsetenv("LRA_CPU");
}

static void every_op_is_complete(void **state)
{
    (void)state;
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

static double project(machine *m, const trial *t)
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

static void check_leaf(machine *m, const trial *t, int k, const double *analytic, int i)
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
    trial t;
    machine m;
    if (op->flags & LRA_NOGRAD) return;
    trial_new(&t, op, i, LRA_F64);
    result r = run(op, i, LRA_F64, (setting){.n_threads = 1});
    machine_new(&m, &t, false, (setting){.n_threads = 1});
    for (int k = 0; k < t.n_leaves; k++) set_leaf(&m, &t, k);
    int part = 1;
    for (int k = 0; k < t.n_leaves; k++) {
        if (t.leaf[k]->type == LRA_I32 || t.leaf[k] == t.seed) continue;
        check_leaf(&m, &t, k, r.v + r.first[part++], i);
    }
    machine_free(&m);
    trial_free(&t);
    lra_free(r.v);
}

static void precision(const lra_op *op, int i)
{
    setting plain = {.n_threads = 1};
    result a = run(op, i, LRA_F32, plain), b = run(op, i, LRA_F64, plain);
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
        result a = run(op, i, (lra_type)type, (setting){.n_threads = 1});
        for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
            result b = run(op, i, (lra_type)type, other[k].s);
            expect_same(op, i, other[k].what, &a, &b);
            lra_free(b.v);
        }
        lra_free(a.v);
    }
}

/* Inputs are exact; results, and what gradients are made of, are rounded to 8 bits a few times. */
static void half(const lra_op *op, int i)
{
    setting plain = {.n_threads = 1};
    result a = run(op, i, LRA_BF16, plain), b = run(op, i, LRA_F64, plain);
    expect_close(op, i, "bf16", &a, &b, 0.02);
    lra_free(a.v);
    lra_free(b.v);
}

static void gradients(void **state)
{
    (void)state;
    each_sample(gradient);
}
static void float32_is_close_to_float64(void **state)
{
    (void)state;
    at_all_levels(precision);
}
static void plan_changes_no_bits(void **state)
{
    (void)state;
    at_all_levels(bits);
}
static void bf16_is_close_to_float64(void **state)
{
    (void)state;
    at_all_levels(half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_is_complete),        cmocka_unit_test(gradients),
        cmocka_unit_test(float32_is_close_to_float64), cmocka_unit_test(plan_changes_no_bits),
        cmocka_unit_test(bf16_is_close_to_float64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
