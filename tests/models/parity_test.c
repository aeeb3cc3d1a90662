/* Compares models with the results of PyTorch for the same weights: tests/golden/parity/MODEL.txt,
 * written and described by tests/parity/golden.py. Every model has such a file. At every
 * instruction level, gradients in float32 differ from those in float64 by at most the tolerance of
 * tests/parity/parity.py. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/features.h"
#include "tests/parity/parity_case.h"

enum { T = 37 };
static const double tolerance = 1e-9, single_tolerance = 1e-4;
static const char next_step[] = "rewrite it with 'tests/parity/run.sh --golden'";

/* Models without a reference; no model may be added to this list. */
static const char *const without[] = {NULL};

/* Variants for which float32 is not accurate enough: even if every operation is exact, rounding the
 * intermediate results gives an error of 17 times the limit on average
 * (reports/measured/README.md). */
static const char *const ill[][2] = {{"mega", "norm=post norm-kind=scale width=7 queries=5"},
                                     {"mega", "causal=1 chunk=8 norm-kind=scale"}};

typedef struct {
    const char *name;     /* name of the model */
    const char *at, *end; /* the part of its file that has not been read */
    char line[512];
    parity_case c, single; /* the model in float64; gradients in float32 */
    bool open, ill;
    double most; /* the largest gradient of the model */
    int n_seen;
} walk;

/* ---- projections ----------------------------------------------------------------------------- */

/* Returns sum r_i x_i, where the random numbers r_i in [-1, 1) depend only on the name (FNV-1a). */
static double project(const char *name, int64_t n, const double *x)
{
    uint32_t key = 0x811C9DC5u;
    double sum = 0;
    for (const char *c = name; *c; c++) key = (key ^ (unsigned char)*c) * 0x01000193u;
    for (int64_t i = 0; i < n; i++) {
        lra_philox w = lra_philox_at(key, 0x70617269u, (uint32_t)(i / 4), 0, 0, 0);
        sum += (lra_u01(w.v[i % 4]) * 2 - 1) * x[i];
    }
    return sum;
}

/* Projects a tensor that the plan computes. */
static double project_tensor(walk *w, const char *name, const lra_tensor *x)
{
    lra_err e = {{0}};
    int64_t n = lra_shape_elements(lra_tensor_shape(x));
    double *v = lra_alloc_array((size_t)n, sizeof *v);
    OK(lra_get(w->c.plan, x, v, &e));
    double sum = project(name, n, v);
    lra_free(v);
    return sum;
}

/* Projects all initial weights. */
static double project_start(walk *w)
{
    lra_err e = {{0}};
    double sum = 0;
    for (int i = 0; i < w->c.gradients.n; i++) {
        const char *path = lra_tensor_path(w->c.gradients.param[i]);
        int64_t n = lra_shape_elements(lra_tensor_shape(w->c.gradients.param[i]));
        double *v = lra_alloc_array((size_t)n, sizeof *v);
        OK(lra_params_get(w->c.params, path, v, &e));
        sum += project(path, n, v);
        lra_free(v);
    }
    return sum;
}

/* ---- one case -------------------------------------------------------------------------------- */

static void close_case(walk *w)
{
    if (!w->open) return;
    if (w->n_seen != w->c.gradients.n)
        fail_msg("%s '%s': %d gradients in the file, %d in the model; %s", w->name, w->c.is.changes,
                 w->n_seen, w->c.gradients.n, next_step);
    lra_free((void *)(uintptr_t)w->c.is.changes);
    parity_close(&w->c);
    parity_close(&w->single);
    w->open = false;
}

static void open_case(walk *w, const char *changes)
{
    lra_err e = {{0}};
    parity_what what = {.model = lra_model_find(w->name, &e),
                        .changes = lra_copy_text(changes),
                        .T = T,
                        .type = LRA_F64};
    close_case(w);
    if (parity_open(&w->c, &what, &e) != 0 || lra_run(w->c.plan, &e) != 0) fail_msg("%s", e.msg);
    what.type = LRA_F32;
    if (parity_open(&w->single, &what, &e) != 0 || lra_run(w->single.plan, &e) != 0)
        fail_msg("%s", e.msg);
    w->open = true, w->n_seen = 0, w->ill = false;
    for (size_t i = 0; i < sizeof ill / sizeof *ill; i++)
        w->ill |= strcmp(w->name, ill[i][0]) == 0 && strcmp(changes, ill[i][1]) == 0;
}

static const lra_tensor *find(walk *w, const char *name)
{
    if (strcmp(name, "loss") == 0) return w->c.network.loss;
    if (strcmp(name, "logits") == 0) return w->c.network.output;
    for (int i = 0; i < w->c.gradients.n; i++)
        if (strcmp(name, lra_tensor_path(w->c.gradients.param[i])) == 0) {
            w->n_seen++;
            return w->c.gradients.grad[i];
        }
    fail_msg("%s '%s': the model has no '%s'; %s", w->name, w->c.is.changes, name, next_step);
    return NULL;
}

static void check(walk *w, const char *name, double found, double expected, double off)
{
    if (!(fabs(found - expected) <= off))
        fail_msg("%s '%s': '%s' is %.12g, PyTorch has %.12g: %.1e apart, expected %.1e at most%s%s",
                 w->name, w->c.is.changes, name, found, expected, fabs(found - expected), off,
                 strcmp(name, "start") == 0 ? "; the model starts elsewhere: " : "",
                 strcmp(name, "start") == 0 ? next_step : "");
}

/* Returns the largest difference between elements of x in float32 and in float64. */
static double apart(walk *w, const lra_tensor *x)
{
    lra_err e = {{0}};
    const lra_tensor *same = w->single.network.output;
    for (int i = 0; i < w->c.gradients.n; i++)
        if (x == w->c.gradients.grad[i]) same = w->single.gradients.grad[i];
    int64_t n = lra_shape_elements(lra_tensor_shape(x));
    double *v = lra_alloc_array((size_t)n, sizeof *v), off = 0;
    float *single = lra_alloc_array((size_t)n, sizeof *single);
    if (lra_get(w->c.plan, x, v, &e) != 0 || lra_get(w->single.plan, same, single, &e) != 0)
        fail_msg("%s", e.msg);
    for (int64_t i = 0; i < n; i++) off = fmax(off, fabs((double)single[i] - v[i]));
    lra_free(single);
    lra_free(v);
    return off;
}

static void check_single(walk *w, const char *name, const lra_tensor *x, double size)
{
    double off = apart(w, x);
    if (!(off <= single_tolerance * size) && !w->ill)
        fail_msg("%s '%s': '%s' in float32 is off by %.1e of its largest, expected %.0e at most",
                 w->name, w->c.is.changes, name, off / size, single_tolerance);
}

/* Checks a line NAME PRODUCT LARGEST [zero]. The error of a product of n elements increases with
 * sqrt(n). zero: the exact value is 0, and rounding errors of sums that cancel are relative to the
 * model's largest gradient. */
static void check_line(walk *w, char *line)
{
    char *value = strchr(line, ' '), *size;
    if (!value) fail_msg("%s: no line of ours: '%s'", w->name, line);
    *value++ = '\0';
    double expected = strtod(value, &size), largest = strtod(size, &size);
    bool zero = strcmp(size, " zero") == 0;
    if (strcmp(line, "most") == 0) {
        w->most = expected;
    } else if (strcmp(line, "start") == 0) {
        check(w, line, project_start(w), expected, 1e-12 * largest);
    } else if (strcmp(line, "loss") == 0) {
        double loss;
        lra_err e = {{0}};
        OK(lra_get(w->c.plan, find(w, line), &loss, &e));
        check(w, line, loss, expected, tolerance * expected);
    } else {
        const lra_tensor *x = find(w, line);
        double n = (double)lra_shape_elements(lra_tensor_shape(x));
        double size_of = fmax(largest, strcmp(line, "logits") == 0 ? 0 : 1e-6 * w->most);
        check_single(w, line, x, zero || largest < 1e-13 * w->most ? w->most : size_of);
        if (zero) size_of = 1e-3 * w->most;
        check(w, line, project_tensor(w, line, x), expected, tolerance * sqrt(n) * size_of);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool next_line(walk *w)
{
    if (w->at == w->end) return false;
    size_t n = strcspn(w->at, "\n");
    if (n >= sizeof w->line) fail_msg("%s: a line of %zu bytes", w->name, n);
    memcpy(w->line, w->at, n);
    w->line[n] = '\0';
    w->at += n + (w->at[n] == '\n');
    return true;
}

static void check_model(const lra_model *m, const char *text, size_t n)
{
    walk w = {.name = m->name, .at = text, .end = text + n};
    int n_cases = 0;
    while (next_line(&w)) {
        if (strcmp(w.line, "case") == 0 || strncmp(w.line, "case ", 5) == 0)
            open_case(&w, w.line + (w.line[4] ? 5 : 4)), n_cases++;
        else if (w.open)
            check_line(&w, w.line);
        else
            fail_msg("%s: a line in front of the first case", m->name);
    }
    close_case(&w);
    if (n_cases == 0) fail_msg("%s: a file without a case", m->name);
}

static bool is_excused(const char *name)
{
    for (int i = 0; without[i]; i++)
        if (strcmp(without[i], name) == 0) return true;
    return false;
}

static void check_models(void)
{
    const char *source = getenv("LRA_SOURCE");
    for (int i = 0; lra_model_at(i); i++) {
        lra_err e = {{0}};
        size_t n;
        const lra_model *m = lra_model_at(i);
        char *path = lra_format("%s/tests/golden/parity/%s.txt", source ? source : ".", m->name);
        bool found = lra_file_exists(path);
        if (found && is_excused(m->name))
            fail_msg("'%s' has a file; take it off the list `without`", m->name);
        if (!found && !is_excused(m->name))
            fail_msg("model '%s' has no '%s': write tests/parity/%s.py, then "
                     "'tests/parity/run.sh --golden build/release %s'",
                     m->name, path, m->name, m->name);
        char *text = found ? lra_file_read(path, 1 << 20, &n, &e) : NULL;
        if (found && !text) fail_msg("%s", e.msg);
        if (text) check_model(m, text, n);
        lra_free_large(text);
        lra_free(path);
    }
}

TEST(test_models)
{
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        print_message("%s\n", lra_cpu_usable(level));
        check_models();
    }
    unsetenv("LRA_CPU");
}

/* The entries of the list are names of models. */
TEST(test_list)
{
    lra_err e = {{0}};
    for (int i = 0; without[i]; i++)
        if (!lra_model_find(without[i], &e)) fail_msg("%s", e.msg);
}
