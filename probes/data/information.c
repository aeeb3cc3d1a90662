/* Measures the mutual information in data. Symbols and rows are defined in symbols.h. Pairs of
 * tokens are counted in training rows, in at most LRA_COUNT_STEPS tokens (which takes seconds), and
 * only within a row (the first document of a pair; a window of a stream). */
#include "probes/data/information.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pair_dependence.h"
#include "analysis/pair_information.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "probes/run/origin.h"
#include "probes/run/symbols.h"
#include "reports/report.h"

enum { PAIR_STEPS = 640000, TEST_STEPS = 4000000 };

static int64_t longest_of(const lra_symbols *s)
{
    int64_t most = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (s->start[i + 1] - s->start[i] > most) most = s->start[i + 1] - s->start[i];
    return most;
}

/* ---- measurements ---------------------------------------------------------------------------- */

static lra_measurement with_ends(const char *id, lra_estimate x, int64_t examples)
{
    lra_measurement f = lra_measurement_of(id, x.value);
    f.lo = x.lo, f.hi = x.hi, f.examples = examples, f.seeds = 0, f.flags = 0;
    return f;
}

static void add_curves(const lra_information *x, lra_probe_unit *u)
{
    static const char *const name[] = {"distance", "pairs",  "symbols",   "pair",
                                       "null",     "excess", "excess.lo", "excess.hi"};
    enum { CURVES = sizeof name / sizeof *name };
    double *curve = lra_alloc_array((size_t)(CURVES * x->n) + 1, sizeof *curve);
    for (int i = 0; i < x->n; i++) {
        const lra_info_point *p = &x->point[i];
        const double value[CURVES] = {(double)p->d, (double)p->pairs, p->symbols,   p->pair,
                                      p->null,      p->excess.value,  p->excess.lo, p->excess.hi};
        for (int k = 0; k < CURVES; k++) curve[k * x->n + i] = value[k];
    }
    for (int k = 0; k < CURVES; k++)
        lra_probe_unit_array(u, name[k], 1, (int64_t[]){x->n}, curve + k * x->n);
    lra_free(curve);
}

/* True for distances that are reported as measurements: powers of two, and multiples of the
 * period. */
static bool is_named(int64_t d, int64_t period)
{
    return (d & (d - 1)) == 0 || (period && d % period == 0);
}

static void add_information(const lra_information *x, int64_t examples, int64_t longest,
                            int64_t period, lra_probe_unit *u)
{
    lra_estimate none = {NAN, NAN, NAN};
    for (int i = 0; i < x->n; i++) {
        const lra_info_point *p = &x->point[i];
        char id[LRA_MEASUREMENT_ID];
        /* other distances are only in the curves */
        if (!is_named(p->d, period) && p != x->again) continue;
        snprintf(id, sizeof id, "info.excess.%d", (int)p->d);
        lra_measurement f = with_ends(id, p->excess, examples);
        f.null[LRA_NULL_PERM] = 0;
        snprintf(id, sizeof id, "info.pair.%d", (int)p->d);
        lra_measurement pair = with_ends(id, (lra_estimate){p->pair, NAN, NAN}, examples);
        pair.null[LRA_NULL_PERM] = p->null;
        lra_probe_unit_measurements(u, 1, &f);
        lra_probe_unit_measurements(u, 1, &pair);
    }
    none.value = (double)x->d0;
    lra_measurement d0 = with_ends("info.d0", none, examples);
    if (x->n && x->d0 == x->point[x->n - 1].d && x->d0 < longest) d0.flags |= LRA_CENSORED;
    lra_measurement alpha = with_ends("info.alpha", x->alpha, examples);
    lra_measurement tau = with_ends("info.tau", x->tau, examples);
    none.value = x->decay.n >= 3 ? (double)x->decay.kind : NAN;
    lra_measurement kind = with_ends("info.kind", none, examples);
    none.value = x->again ? (double)x->again->d : NAN;
    const lra_measurement all[] = {d0, alpha, tau, kind, with_ends("info.again", none, examples)};
    lra_probe_unit_measurements(u, 5, all);
}

/* Adds measurements info.dependence.D and curves for the distances of is_named(). */
static void add_dependence(const lra_information *x, const lra_symbols *rows, int64_t period,
                           lra_probe_unit *u)
{
    static const char *const name[] = {
        "dependence.distance", "dependence",       "dependence.lo",      "dependence.hi",
        "dependence.p",        "dependence.pairs", "dependence.symbols", "dependence.strata"};
    enum { CURVES = sizeof name / sizeof *name };
    double *curve = lra_alloc_array((size_t)(CURVES * x->n) + 1, sizeof *curve);
    int64_t n = 0;
    for (int i = 0; i < x->n; i++) {
        const lra_info_point *p = &x->point[i];
        char id[LRA_MEASUREMENT_ID];
        if (!is_named(p->d, period) && p != x->again) continue;
        lra_dependence y = lra_pair_dependence(rows, p->d, 0);
        if (isnan(y.bits.value)) continue;
        const double value[CURVES] = {(double)p->d, y.bits.value,    y.bits.lo, y.bits.hi,
                                      y.p,          (double)y.pairs, y.symbols, y.strata};
        for (int k = 0; k < CURVES; k++) curve[k * x->n + n] = value[k];
        n++;
        snprintf(id, sizeof id, "info.dependence.%d", (int)p->d);
        lra_measurement f = with_ends(id, y.bits, rows->n);
        f.null[LRA_NULL_PERM] = 0;
        lra_probe_unit_measurements(u, 1, &f);
    }
    for (int k = 0; k < CURVES && n; k++) lra_probe_unit_array(u, name[k], 1, &n, curve + k * x->n);
    lra_free(curve);
}

/* Chance accuracy: share of test rows with the most frequent label of the training rows. */
static double chance_of(const lra_coded *train, const lra_coded *test, int n_classes)
{
    int64_t *count = lra_alloc_array((size_t)n_classes, sizeof *count), right = 0;
    int best = 0;
    for (int64_t i = 0; i < train->rows.n; i++) count[train->label[i]]++;
    for (int c = 1; c < n_classes; c++)
        if (count[c] > count[best]) best = c;
    for (int64_t i = 0; i < test->rows.n; i++) right += test->label[i] == best;
    lra_free(count);
    return (double)right / (double)test->rows.n;
}

static void add_ngrams(const lra_dataset *d, const lra_coding *by, lra_probe_unit *u)
{
    lra_coded train, test;
    if (d->task->n_classes < 2 || d->task->n_classes > LRA_NGRAM_CLASSES) return;
    lra_code(d, by, LRA_TRAIN_SPLIT, LRA_COUNT_STEPS, false, &train);
    lra_code(d, by, LRA_TEST_SPLIT, TEST_STEPS, false, &test);
    double chance = chance_of(&train, &test, d->task->n_classes);
    for (int w = 0; w < LRA_NGRAM_WIDTHS; w++) {
        double right = 0;
        char id[LRA_MEASUREMENT_ID];
        lra_ngram *g = lra_ngram_new(lra_ngram_widths[w], d->task->n_classes, &train.rows,
                                     train.label);
        for (int64_t i = 0; i < test.rows.n; i++) {
            int64_t from = test.start[i], length = test.start[i + 1] - from;
            right += lra_ngram_predict(g, length, test.symbol + from) == test.label[i];
        }
        lra_ngram_free(g);
        snprintf(id, sizeof id, "ngram.accuracy.%d", lra_ngram_widths[w]);
        lra_measurement f = with_ends(id, lra_wilson(right, (double)test.rows.n, 0.95),
                                      test.rows.n);
        f.null[LRA_NULL_UNIFORM] = chance;
        if (train.rows.n < d->split[LRA_TRAIN_SPLIT].n) f.flags |= LRA_APPROX;
        lra_probe_unit_measurements(u, 1, &f);
    }
    lra_coded_free(&train);
    lra_coded_free(&test);
}

/* ---- file ------------------------------------------------------------------------------------ */

/* The parameters of the data, as "key=value" lines. The caller frees the text. */
static char *lines_of(const lra_dataset *d)
{
    lra_text t = {0};
    lra_text_add(&t, "task=%s\n", d->task->name);
    for (int i = 0; lra_config_key(d->config, i); i++)
        lra_text_add(&t, "task.%s=%s\n", lra_config_key(d->config, i),
                     lra_config_value(d->config, i));
    return t.s;
}

/* Creates a result that belongs to data, not to a model or a run. */
static lra_probe_result *new_result(const lra_dataset *d, const char *preset, lra_err *e)
{
    lra_device device;
    lra_origin origin;
    if (lra_cpu_device(&device, 0, e) != 0) return NULL;
    lra_probe_origin(&device, &origin);
    char *lines = lines_of(d), fingerprint[17];
    snprintf(fingerprint, sizeof fingerprint, "%s", d->fingerprint);
    lra_result of = {.task = (char *)(uintptr_t)d->task->name,
                     .model = (char *)(uintptr_t) "none",
                     .preset = (char *)(uintptr_t)preset,
                     .precision = (char *)(uintptr_t) "f64",
                     .fingerprint = fingerprint,
                     .run = fingerprint,
                     .config = lines,
                     .reach = -1,
                     .max_length = d->max_length,
                     .grid = lra_dataset_grid(d)};
    lra_probe_result *r = lra_probe_result_new("information", &of, &origin);
    lra_free(lines);
    return r;
}

static lra_probe_result *measure(const lra_dataset *d, const char *preset, lra_err *e)
{
    lra_coding by;
    lra_coded train;
    lra_probe_result *r = new_result(d, preset, e);
    if (!r) return NULL;
    lra_coding_of(d, &by);
    lra_code(d, &by, LRA_TRAIN_SPLIT, PAIR_STEPS, true, &train);
    lra_information *x = lra_information_new(&train.rows, longest_of(&train.rows) - 1,
                                             lra_dataset_grid(d), 0);
    lra_probe_unit *u = lra_probe_unit_new(r, "data");
    lra_probe_result_set(r, "examples", "%lld", (long long)train.rows.n);
    lra_probe_result_set(r, "steps", "%lld", (long long)train.start[train.rows.n]);
    lra_probe_result_set(r, "symbols", "%s", by.numbers ? "bins" : "tokens");
    add_curves(x, u);
    add_information(x, train.rows.n, longest_of(&train.rows) - 1, lra_dataset_grid(d), u);
    add_dependence(x, &train.rows, lra_dataset_grid(d), u);
    add_ngrams(d, &by, u);
    lra_information_free(x);
    lra_coded_free(&train);
    lra_coding_free(&by);
    return r;
}

/* Writes the result to its file and reads it again, so that the printed values are those that
 * lra-report will read. */
static lra_probe_result *through_file(const lra_dataset *d, const char *out,
                                      const lra_probe_result *r, lra_err *e)
{
    char *folder = lra_format("%s/information/%s-%s", out, lra_task_id(d->task), r->fingerprint);
    char *path = lra_format("%s/information.h5", folder);
    lra_probe_result *again = NULL;
    if (lra_folder_make(folder, e) == 0 && lra_probe_result_write(path, r, e) == 0)
        again = lra_probe_result_read(path, "information", e);
    if (again) lra_note("wrote %s", path);
    if (again) lra_note("figure: lra-report figures --figure info %s/information", out);
    lra_free(folder);
    lra_free(path);
    return again;
}

int lra_data_information(const lra_dataset *d, const char *preset, const char *out, bool json,
                         lra_err *e)
{
    lra_probe_result *r = measure(d, preset, e);
    lra_probe_result *list[] = {r ? through_file(d, out, r, e) : NULL};
    lra_report_input in = {.probes = list, .n_probes = 1};
    int rc = list[0]
                 ? lra_report_print(&lra_table_information, stdout, &in, json ? "json" : "text", e)
                 : LRA_FAILED;
    lra_probe_result_free(list[0]);
    lra_probe_result_free(r);
    return rc;
}
