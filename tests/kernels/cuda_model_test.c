/* labels: slow timeout: 600 */
/* Compares every model, or the one that LRA_TEST_MODEL names, on the GPU with the CPU: loss, output
 * and all gradients of a step in float32 and bf16, and the losses of ten steps of AdamW; a second
 * run must be bitwise equal. Without a GPU the CPU with two threads replaces it; LRA_NEED_GPU=1
 * makes that a failure. */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "kernels/cuda/device.h"
#include "kernels/graph/op.h"
#include "tests/fixtures/tiny_model.h"

enum { B = 4, T = 150, VOCAB = 40, STEPS = 10 };

/* Results of a run: loss, output and gradients, and the losses of the steps. */
typedef struct {
    int n_parts;
    double **v, loss[STEPS];
    int64_t *n;
    char **path;
} outcome;

static bool has_gpu(void)
{
    lra_err why = {{0}};
    if (lra_cuda_count(&why) > 0) return true;
    const char *need = getenv("LRA_NEED_GPU");
    if (need && *need) fail_msg("%s", why.msg);
    return false;
}

static void open_device(lra_device *d, bool second)
{
    lra_err e = {{0}};
    int rc = second && has_gpu() ? lra_cuda_device(d, 0, &e)
                                 : lra_cpu_device(d, second ? 2 : 1, &e);
    OK(rc);
}

static const int32_t length[B] = {T, 97, 1, 64};

/* Returns settings whose width is sufficient for tensor-core products. */
static char *wide(const lra_model *m)
{
    lra_config *c = model_tiny(m, "width=64");
    char *changes = lra_copy_text(lra_config_has(c, "hidden") ? "width=64 hidden=128" : "width=64");
    lra_config_free(c);
    return changes;
}

static void keep(outcome *o, tiny_model *f, const lra_tensor *x, const char *path)
{
    int i = o->n_parts++;
    o->n[i] = lra_elements(x);
    o->v[i] = model_get(f, x);
    o->path[i] = lra_copy_text(path);
}

static void gradients(const model_case *what, outcome *o)
{
    tiny_model f;
    model_open(&f, what);
    size_t most = (size_t)f.n + 2;
    o->n = lra_alloc_array(most, sizeof *o->n);
    o->v = lra_alloc_array(most, sizeof *o->v);
    o->path = lra_alloc_array(most, sizeof *o->path);
    model_set(&f, length, 0);
    model_run(&f);
    keep(o, &f, f.k.loss, "loss");
    keep(o, &f, f.k.output, "output");
    for (int i = 0; i < f.n; i++) keep(o, &f, f.grad[i], lra_tensor_path(f.param[i]));
    model_close(&f);
}

static void steps(const model_case *what, outcome *o)
{
    tiny_model f;
    model_open(&f, what);
    for (int i = 0; i < STEPS; i++) {
        model_set(&f, length, 0);
        o->loss[i] = model_step(&f, i);
    }
    model_close(&f);
}

static outcome run(const lra_model *m, lra_type type, bool second)
{
    outcome o = {0};
    lra_device device;
    open_device(&device, second);
    char *changes = wide(m);
    model_case what = {.model = m,
                       .variant = changes,
                       .type = type,
                       .vocab = VOCAB,
                       .B = B,
                       .T = T,
                       .T_max = T + 10,
                       .what = MODEL_GRADIENTS,
                       .device = &device};
    gradients(&what, &o);
    what.what = MODEL_UPDATE;
    what.rate = 0.002;
    steps(&what, &o);
    lra_free(changes);
    return o;
}

static void outcome_free(outcome *o)
{
    for (int i = 0; i < o->n_parts; i++) lra_free(o->v[i]), lra_free(o->path[i]);
    lra_free(o->v);
    lra_free(o->n);
    lra_free(o->path);
}

/* Checks the largest difference of each part relative to its largest value. */
static void expect_close(const lra_model *m, const outcome *a, const outcome *b, double tolerance)
{
    for (int i = 0; i < a->n_parts; i++) {
        double most = 0, off = 0;
        for (int64_t j = 0; j < a->n[i]; j++) {
            most = fmax(most, fabs(b->v[i][j]));
            double now = fabs(a->v[i][j] - b->v[i][j]);
            off = now <= off ? off : now; /* unlike fmax(), keeps NaN */
        }
        if (!(off <= tolerance * most + 1e-7))
            fail_msg("'%s': '%s' differs by %g of %g", m->name, a->path[i], off, most);
    }
    for (int i = 0; i < STEPS; i++) {
        double x = a->loss[i], y = b->loss[i];
        if (!(fabs(x - y) <= 10 * tolerance * y))
            fail_msg("'%s': loss %d is %g, expected %g", m->name, i, x, y);
    }
}

static void expect_same(const lra_model *m, const outcome *a, const outcome *b)
{
    for (int i = 0; i < a->n_parts; i++)
        if (memcmp(a->v[i], b->v[i], (size_t)a->n[i] * sizeof(double)) != 0)
            fail_msg("'%s': '%s' has other bits the second time", m->name, a->path[i]);
    if (memcmp(a->loss, b->loss, sizeof a->loss) != 0)
        fail_msg("'%s': losses have other bits the second time", m->name);
}

static void compare(lra_type type, double tolerance)
{
    const char *only = getenv("LRA_TEST_MODEL");
    if (!has_gpu()) printf("no GPU: the CPU with two threads takes its place\n");
    for (int i = 0; lra_model_at(i); i++) {
        const lra_model *m = lra_model_at(i);
        if (only && strcmp(m->name, only) != 0) continue;
        outcome cpu = run(m, type, false), gpu = run(m, type, true), again = run(m, type, true);
        expect_close(m, &gpu, &cpu, tolerance);
        expect_same(m, &again, &gpu);
        outcome_free(&cpu);
        outcome_free(&gpu);
        outcome_free(&again);
    }
}

/* The tolerance is ten times that of a single operation, because gradients pass through ten
 * layers. */
TEST(models_in_float32)
{
    compare(LRA_F32, 3e-4);
}

TEST(models_in_bf16)
{
    compare(LRA_BF16, 0.04);
}
