/* Samples of ops as tests run them. */
#include "tests/trial.h"

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

/* ---- a sample in a graph of its own, with data ----------------------------------------------- */

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

bool trial_new(trial *t, const lra_op *op, int i, lra_type type)
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

void trial_free(trial *t)
{
    for (int i = 0; i < t->n_leaves; i++) lra_free(t->value[i]);
    lra_graph_free(t->g);
}

/* ---- running it ------------------------------------------------------------------------------ */

static int open_cpu(lra_device *d, lra_err *e)
{
    return lra_cpu_device(d, 0, e);
}
static int (*open_device)(lra_device *d, lra_err *e) = open_cpu;

void trial_use(int (*open)(lra_device *d, lra_err *e))
{
    open_device = open;
}

void machine_new(machine *m, const trial *t, bool with_gradients, setting s)
{
    lra_err e = {{0}};
    lra_tensor *out[MAX_LEAVES + 1] = {t->y};
    int n = 1;
    for (int i = 0; i < t->n_x && with_gradients; i++) out[n++] = t->dx[i];
    if (open_device(&m->device, &e) != 0) fail_msg("%s", e.msg);
    m->params = lra_params_new(&m->device, 1);
    m->space = lra_space_new(&m->device);
    lra_space_no_inplace(m->space, s.no_inplace);
    m->plan = lra_plan_new(t->g, m->params, m->space, n, out, &e);
    if (!m->plan) fail_msg("'%s': %s", t->y->op->name, e.msg);
    lra_plan_threads(m->plan, s.n_threads);
    lra_plan_poison(m->plan, s.poison);
}

void machine_free(machine *m)
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

void set_leaf(machine *m, const trial *t, int k)
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
        to[i] = type == LRA_F64   ? ((const double *)host)[i]
                : type == LRA_I32 ? ((const int32_t *)host)[i]
                                  : (double)((const float *)host)[i];
    return n;
}

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

result run_sample(const lra_op *op, int i, lra_type type, setting s)
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

void expect_close(const lra_op *op, int i, const char *what, const result *a, const result *b,
                  double tolerance)
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

void expect_same(const lra_op *op, int i, const char *what, const result *a, const result *b)
{
    assert_int_equal(a->n, b->n);
    if (memcmp(a->v, b->v, (size_t)a->n * sizeof *a->v) != 0)
        fail_msg("'%s' sample %d, level %s: %s changes bits", op->name, i,
                 lra_cpu_level_name(lra_cpu_level()), what);
}

/* ---- walks ----------------------------------------------------------------------------------- */

int count_samples(const lra_op *op)
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

static bool is_wanted(const lra_op *op)
{
    const char *only = getenv("LRA_TEST_OP");
    if (only && only[0] == '=') return strcmp(op->name, only + 1) == 0;
    return !only || strncmp(op->name, only, strlen(only)) == 0;
}

void each_sample(void (*f)(const lra_op *op, int i))
{
    const lra_op *op;
    for (int k = 0; (op = lra_op_at(k)) != NULL; k++) {
        if (op->flags & LRA_LEAF || !is_wanted(op)) continue;
        int n = op->sample ? count_samples(op) : 0;
        for (int i = 0; i < n; i++) f(op, i);
    }
}

void each_large_sample(void (*f)(const lra_op *op, int i))
{
    static const lra_op *const large[] = {&trial_large,     &trial_attention, &trial_profile,
                                          &trial_long_conv, &trial_block,     &trial_modes};
    for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
        int n = is_wanted(large[k]) ? count_samples(large[k]) : 0;
        for (int i = 0; i < n; i++) f(large[k], i);
    }
}

/* ---- larger samples -------------------------------------------------------------------------- */

static lra_tensor *large_sample(lra_graph *g, int i)
{
    static const struct {
        int64_t B, T, K, D, H, groups, dilation;
        bool bias, length;
        lra_act act;
    } s[] = {
        {2, 150, 5, 24, 40, 1, 1, true, true, LRA_ACT_RELU},
        {1, 20, 31, 64, 136, 1, 1, true, false, LRA_ACT_NONE},
        {2, 130, 1, 72, 16, 1, 1, false, true, LRA_ACT_NONE},
        {2, 70, 3, 64, 128, 2, 1, true, true, LRA_ACT_RELU},
        {1, 200, 61, 16, 16, 1, 1, true, false, LRA_ACT_NONE},
        {2, 90, 9, 32, 64, 8, 1, true, true, LRA_ACT_RELU},
        {3, 70, 21, 10, 15, 5, 1, true, true, LRA_ACT_NONE},
        {1, 300, 9, 64, 192, 1, 1, true, true, LRA_ACT_RELU},
        {3, 100, 5, 128, 72, 1, 1, true, true, LRA_ACT_NONE},
        {2, 70, 1, 128, 128, 2, 1, false, false, LRA_ACT_RELU},
        {2, 150, 5, 64, 72, 1, 8, true, true,
         LRA_ACT_RELU}, /* dilated: a slab, and more than fits in one */
        {1, 300, 5, 128, 64, 1, 32, false, true, LRA_ACT_NONE},
        {1, 400, 3, 24, 40, 1, 200, true, true, LRA_ACT_NONE},
        {2, 140, 3, 64, 128, 2, 2, true, true, LRA_ACT_RELU},
        {2, 90, 9, 32, 64, 8, 3, true, true, LRA_ACT_RELU},
        {2, 70, 5, 10, 15, 5, 4, true, false, LRA_ACT_NONE},
        {10, 9, 9, 64, 128, 1, 1, false, true, LRA_ACT_NONE}, /* ten steps of a weight gradient */
        {1, 20, 3, 256, 64, 1, 1, true, false, LRA_ACT_NONE}, /* four blocks of channels */
    };
    char fill[32];
    if (i >= (int)(sizeof s / sizeof *s)) return NULL;
    lra_shape x = LRA_SHAPE(s[i].B, s[i].T, s[i].D);
    lra_shape w = LRA_SHAPE(s[i].K, s[i].D / s[i].groups, s[i].H);
    snprintf(fill, sizeof fill, "length:%d", (int)s[i].T);
    lra_tensor *bias = NULL, *length = NULL;
    if (s[i].bias) bias = lra_sample_input(g, "bias", "normal", LRA_SHAPE(s[i].H));
    if (s[i].length) length = lra_sample_input(g, "length", fill, LRA_SHAPE(s[i].B));
    return lra_conv(lra_sample_input(g, "x", "normal", x), lra_sample_input(g, "w", "normal", w),
                    bias, s[i].act, length, s[i].groups, s[i].dilation);
}

const lra_op trial_large = {.name = "conv, large", .sample = large_sample};
