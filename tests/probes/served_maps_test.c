/* labels: slow timeout: 600 */
/* An audit of a served run has the attention and kernel measurements of the run's own probes, for
 * every family of the built-in models, within the tolerance of float32. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/formats/safetensors.h"
#include "kernels/base/os/file.h"
#include "kernels/base/os/process.h"
#include "reports/results/probe_result.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/test.h"

GROUP(make_folder, remove_folder);

/* Models with the probes that describe them: a attention, k kernels. */
static const char *const models[][3] = {{"transformer", "a", ""},
                                        {"transformer", "a", "pool=cls"},
                                        {"linear-transformer", "a", ""},
                                        {"performer", "a", ""},
                                        {"linformer", "a", ""},
                                        {"reformer", "a", ""},
                                        {"luna", "a", ""},
                                        {"local", "a", ""},
                                        {"longformer", "a", ""},
                                        {"bigbird", "a", ""},
                                        {"spt-local", "a", ""},
                                        {"spade", "ak", ""},
                                        {"las", "a", ""},
                                        {"l", "a", ""},
                                        {"s", "a", ""},
                                        {"alibi", "a", ""},
                                        {"smooth-alibi", "a", ""},
                                        {"mega", "ak", ""},
                                        {"mega-chunk", "ak", ""},
                                        {"resconv", "k", ""},
                                        {"longconv", "k", ""},
                                        {"sgconv", "k", ""},
                                        {"s4d", "k", ""},
                                        {"s4", "k", ""},
                                        {"dss", "k", ""},
                                        {"lru", "k", ""},
                                        {"s5", "k", ""},
                                        {"h3", "k", ""},
                                        {"gss", "k", ""},
                                        {"gmlp", "k", ""},
                                        {"tnn", "k", ""}};
enum { MODELS = sizeof models / sizeof *models };

/* Measurements that need more than maps and kernels: values of keys, parameters of state spaces and
 * of positions. */
static bool needs_model(const char *id)
{
    static const char *const prefix[] = {"value.", "mode.", "kernel.cut", "positions."};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (strncmp(id, prefix[i], strlen(prefix[i])) == 0) return true;
    return false;
}

static void run(const char *line)
{
    lra_err e = {{0}};
    char *copy = lra_copy_text(line), *argv[64], *err, *rest = NULL;
    int n = 0;
    for (char *w = strtok_r(copy, " ", &rest); w && n < 63; w = strtok_r(NULL, " ", &rest))
        argv[n++] = w;
    argv[n] = NULL;
    int status = lra_process_run(argv, NULL, NULL, &err, &e);
    if (status != 0) fail_msg("%s: exit %d: %s", line, status, status < 0 ? e.msg : err);
    lra_free(err);
    lra_free(copy);
}

/* 1e-3: fits and quantiles amplify differences of rounding. */
static bool equal(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) == isnan(b);
    if (isinf(a) || isinf(b)) return a == b;
    return fabs(a - b) <= 1e-3 * fmax(1e-2, fmax(fabs(a), fabs(b)));
}

static int compare_unit(const char *model, const lra_probe_unit *own, const lra_probe_unit *served)
{
    int n = 0;
    for (int i = 0; i < own->n_measurements; i++) {
        const lra_measurement *x = &own->measurement[i];
        const lra_measurement *y = lra_probe_measurement(served, x->id);
        if (needs_model(x->id)) continue;
        if (!y) fail_msg("%s: %s has no %s", model, own->name, x->id);
        bool ok = equal(x->value, y->value) && equal(x->lo, y->lo) && equal(x->hi, y->hi) &&
                  x->examples == y->examples && x->undefined == y->undefined;
        for (int k = 0; k < LRA_NULLS; k++) ok = ok && equal(x->null[k], y->null[k]);
        if (!ok)
            fail_msg("%s: %s %s: %.6g (%.6g to %.6g, at first %.6g), expected %.6g (%.6g to %.6g, "
                     "at first %.6g)",
                     model, own->name, x->id, y->value, y->lo, y->hi, y->null[LRA_NULL_INIT],
                     x->value, x->lo, x->hi, x->null[LRA_NULL_INIT]);
        n++;
    }
    return n;
}

static void compare(const char *model, const char *own_folder, const char *served_folder,
                    const char *probe)
{
    lra_err e = {{0}};
    char *a = lra_format("%s/%s.h5", own_folder, probe);
    char *b = lra_format("%s/%s.h5", served_folder, probe);
    lra_probe_result *own = lra_probe_result_read(a, probe, &e);
    NOT_NULL(own);
    lra_probe_result *served = lra_probe_result_read(b, probe, &e);
    NOT_NULL(served);
    int n = 0;
    for (int u = 0; u < own->n_units; u++) {
        const lra_probe_unit *unit = lra_probe_unit_find(served, own->unit[u]->name);
        if (!unit) fail_msg("%s: no unit %s", model, own->unit[u]->name);
        n += compare_unit(model, own->unit[u], unit);
    }
    assert_int_equal(served->n_units, own->n_units);
    if (n < 60) fail_msg("%s: only %d measurements", model, n);
    lra_probe_result_free(own);
    lra_probe_result_free(served);
    lra_free(a);
    lra_free(b);
}

/* Folder of the only run whose name contains `part` (or does not, if without). */
static char *run_folder(const char *out, const char *part, bool without)
{
    lra_err e = {{0}};
    char **names = NULL, *runs = lra_format("%s/runs", out), *found = NULL;
    int n = lra_folder_list(runs, &names, &e);
    for (int i = 0; i < n; i++)
        if ((strstr(names[i], part) == NULL) == without)
            found = lra_format("%s/%s", runs, names[i]);
    lra_names_free(names, n);
    lra_free(runs);
    if (!found) fail_msg("no run in %s", out);
    return found;
}

static void check_model(const char *name, const char *probes, const char *set)
{
    const char *build = getenv("LRA_BUILD");
    char *program = lra_format("%s/lra-probe", build ? build : "."),
         *out = lra_format("%s/%s%s", folder, name, set);
    const char *data = "--task listops --set train=64 --set val=8 --set test=36";
    char *line = lra_format("%s train %s --model %s --set epochs=1 --set width=8 --set layers=2 "
                            "--precision f32 --threads 1 %s %s --out %s -q",
                            program, data, name, *set ? "--set" : "", set, out);
    run(line);
    lra_free(line);
    char *own = run_folder(out, "-user.", true);
    for (const char *p = probes; *p; p++) {
        line = lra_format("%s %s %s --threads 1 -q%s", program, *p == 'a' ? "attention" : "kernels",
                          own, *p == 'a' ? " --queries 0" : "");
        run(line);
        lra_free(line);
    }
    line = lra_format("%s audit %s --name served --parts %s%s%s --no-check --out %s -q -- %s serve "
                      "%s --threads 1",
                      program, data, strchr(probes, 'a') ? "attention" : "",
                      strlen(probes) > 1 ? "," : "", strchr(probes, 'k') ? "kernels" : "", out,
                      program, own);
    run(line);
    lra_free(line);
    char *served = run_folder(out, "-user.", false);
    if (strchr(probes, 'a')) compare(name, own, served, "attention");
    if (strchr(probes, 'k')) compare(name, own, served, "kernels");
    lra_free(served);
    lra_free(own);
    lra_free(out);
    lra_free(program);
}

TEST(every_family)
{
    for (int i = 0; i < MODELS; i++) check_model(models[i][0], models[i][1], models[i][2]);
}

/* ---- kernels of a file ----------------------------------------------------------------------- */

enum { CHANNELS = 3, LAGS = 400 };

/* kernel/first: exp(-lag / 25); kernel/second with a direction back: constant. */
static void write_kernels(const char *path)
{
    lra_err e = {{0}};
    static float decay[CHANNELS * LAGS], even[CHANNELS * LAGS];
    for (int i = 0; i < CHANNELS * LAGS; i++) decay[i] = expf(-(float)(i % LAGS) / 25), even[i] = 1;
    const lra_ndarray shape = {.dtype = LRA_DTYPE_F32, .rank = 2, .dims = {CHANNELS, LAGS}};
    char name[3][40] = {"kernel/first", "kernel/second", "kernel/second/back"};
    lra_safetensor t[] = {{name[0], shape}, {name[1], shape}, {name[2], shape}};
    t[0].array.bytes = decay, t[1].array.bytes = t[2].array.bytes = even;
    OK(lra_safetensors_write(path, 3, t, NULL, &e));
}

static double value(const lra_probe_result *r, const char *unit, const char *id)
{
    const lra_probe_unit *u = lra_probe_unit_find(r, unit);
    const lra_measurement *m = u ? lra_probe_measurement(u, id) : NULL;
    if (!m) fail_msg("no %s of %s", id, unit);
    return m->value;
}

/* The options --kernels-file and --renormalise of lra-probe audit. */
TEST(kernels_of_a_file)
{
    lra_err e = {{0}};
    const char *build = getenv("LRA_BUILD");
    char *program = lra_format("%s/lra-probe", build ? build : "."),
         *out = lra_format("%s/file", folder), *file = lra_format("%s/k.safetensors", folder);
    const char *data = "--task listops --set train=64 --set val=8 --set test=36";
    write_kernels(file);
    char *line = lra_format("%s train %s --model transformer --set epochs=1 --set width=8 --set "
                            "layers=1 --threads 1 --out %s -q",
                            program, data, out);
    run(line);
    lra_free(line);
    char *own = run_folder(out, "-user.", true);
    line = lra_format("%s audit %s --name f --parts attention,kernels --kernels-file %s "
                      "--renormalise --examples 8 --no-check --out %s -q -- %s serve %s",
                      program, data, file, out, program, own);
    run(line);
    lra_free(line);
    char *served = run_folder(out, "-user.", false), *path = lra_format("%s/kernels.h5", served);
    lra_probe_result *r = lra_probe_result_read(path, "kernels", &e);
    NOT_NULL(r);
    assert_int_equal(r->n_units, 2); /* no unit "model": attention mixes positions too */
    assert_true(fabs(value(r, "first", "decay.tau") - 25) < 1e-3);
    double q = exp(-2. / 25);
    assert_true(fabs(value(r, "first", "range.mean") - q / (1 - q)) < 1e-3);
    assert_true(fabs(value(r, "second", "side")) < 0.01);
    assert_true(fabs(value(r, "second", "range.mean") - LAGS / 2.) < 1);
    lra_probe_result_free(r);
    lra_free(path);
    path = lra_format("%s/attention.h5", served);
    r = lra_probe_result_read(path, "attention", &e);
    NOT_NULL(r);
    assert_non_null(strstr(r->settings, "weights=renormalised"));
    lra_probe_result_free(r);
    char *all[] = {path, served, own, file, out, program};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) lra_free(all[i]);
}
