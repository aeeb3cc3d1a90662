/* Information in data.
 *
 * Tokens are symbols as they are; of more than 256 the 255 most frequent ones in training and the
 * rest.  Numbers and levels stand in 16 bins of equal share in training (fewer where many are
 * equal), of several numbers a step the first.  Pairs are counted in training rows, at most so many
 * steps of them that it takes seconds, and never leave a row (the first document of a pair; a
 * window of a stream). */
#include "probes/data/information.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pair_information.h"
#include "kernels/base/file.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/cpu/device.h"
#include "probes/run/origin.h"
#include "reports/report.h"

enum {
    SYMBOLS = 256,
    BINS = 16,
    PAIR_STEPS = 640000,
    COUNT_STEPS = 16000000,
    TEST_STEPS = 4000000,
    WINDOW = 4096
};
static const int widths[] = {1, 2, 3, 4, 5, 8};
enum { WIDTHS = sizeof widths / sizeof *widths };

/* ---- symbols --------------------------------------------------------------------------------- */

/* What a step is: a symbol by its id, or by the bin of its number. */
typedef struct {
    bool numbers;
    int64_t vocab;
    uint8_t *symbol; /* (vocab) */
    int n_edges;
    double edge[BINS]; /* least numbers of the bins but the first */
} coding;

static bool of_numbers(const lra_dataset *d)
{
    return d->task->channels > 0 || !d->split[LRA_TRAIN_SPLIT].token;
}

static double number_at(const lra_sequences *r, int64_t step)
{
    return r->token ? (double)r->token[step * r->width] : (double)r->value[step * r->width];
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void find_bins(const lra_sequences *train, coding *c)
{
    int64_t steps = train->start[train->n], every = 1 + steps / 200000, n = 0;
    double *x = lra_alloc_array((size_t)(steps / every) + 2, sizeof *x);
    for (int64_t i = 0; i < steps; i += every) x[n++] = number_at(train, i);
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (int b = 1; b < BINS; b++) {
        double edge = x[b * n / BINS];
        if (edge > (c->n_edges ? c->edge[c->n_edges - 1] : x[0])) c->edge[c->n_edges++] = edge;
    }
    lra_free(x);
}

static void find_words(const lra_dataset *d, coding *c)
{
    const lra_sequences *train = &d->split[LRA_TRAIN_SPLIT];
    c->vocab = d->vocab;
    c->symbol = lra_alloc((size_t)c->vocab + 1);
    if (c->vocab <= SYMBOLS) {
        for (int64_t v = 0; v < c->vocab; v++) c->symbol[v] = (uint8_t)v;
        return;
    }
    int64_t *count = lra_alloc_array((size_t)c->vocab, sizeof *count);
    for (int64_t i = 0; i < train->start[train->n]; i++)
        count[lra_token_at(train->token, train->width, i)]++;
    memset(c->symbol, SYMBOLS - 1, (size_t)c->vocab);
    for (int k = 0; k < SYMBOLS - 1; k++) {
        int64_t most = 0;
        for (int64_t v = 1; v < c->vocab; v++)
            if (count[v] > count[most]) most = v;
        c->symbol[most] = (uint8_t)k, count[most] = -1;
    }
    lra_free(count);
}

static uint8_t symbol_at(const coding *c, const lra_sequences *r, int64_t step)
{
    if (!c->numbers) return c->symbol[lra_token_at(r->token, r->width, step)];
    double x = number_at(r, step);
    int b = 0;
    while (b < c->n_edges && x >= c->edge[b]) b++;
    return (uint8_t)b;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct {
    lra_symbols rows;
    int64_t *start;
    uint8_t *symbol;
    int32_t *label;
} coded;

static void coded_free(coded *c)
{
    lra_free(c->start);
    lra_free(c->symbol);
    lra_free(c->label);
}

/* A row of a stream is cut into windows. */
static int64_t window_of(const lra_dataset *d)
{
    return d->task->goal == LRA_GOAL_NEXT ? WINDOW : INT64_MAX;
}

/* Rows evenly spread over the split, of about so many steps in all.  first: of pairs the first
 * document alone. */
static void code(const lra_dataset *d, const coding *by, int split, int64_t steps, bool first,
                 coded *to)
{
    const lra_sequences *r = &d->split[split];
    int64_t window = window_of(d), rows = 0, total = r->start[r->n];
    for (int64_t i = 0; i < r->n; i++) rows += (r->start[i + 1] - r->start[i] - 1) / window + 1;
    int64_t every = total > steps ? (total + steps - 1) / steps : 1, n = 0, at = 0, row = 0;
    to->start = lra_alloc_array((size_t)(rows / every) + 2, sizeof *to->start);
    to->label = lra_alloc_array((size_t)(rows / every) + 2, sizeof *to->label);
    to->symbol = lra_alloc((size_t)total + 1);
    for (int64_t i = 0; i < r->n; i++) {
        int64_t end = r->start[i + 1];
        if (first && r->middle) end = r->start[i] + r->middle[i];
        for (int64_t from = r->start[i]; from < end;
             from += end - from < window ? end - from : window, row++) {
            if (row % every) continue;
            for (int64_t step = from; step < end && step - from < window; step++)
                to->symbol[at++] = symbol_at(by, r, step);
            to->label[n] = r->label ? r->label[i] : 0;
            to->start[++n] = at;
        }
    }
    to->rows = (lra_symbols){n, to->start, to->symbol};
}

static int64_t longest_of(const lra_symbols *s)
{
    int64_t most = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (s->start[i + 1] - s->start[i] > most) most = s->start[i + 1] - s->start[i];
    return most;
}

/* ---- what is found --------------------------------------------------------------------------- */

static lra_finding with_ends(const char *id, const char *unit, lra_estimate x, int64_t examples)
{
    lra_finding f = lra_finding_of(id, unit, x.value);
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

static void add_information(const lra_information *x, int64_t examples, int64_t longest,
                            int64_t period, lra_probe_unit *u)
{
    lra_estimate none = {NAN, NAN, NAN};
    for (int i = 0; i < x->n; i++) {
        const lra_info_point *p = &x->point[i];
        char id[LRA_FINDING_ID];
        bool named = (p->d & (p->d - 1)) == 0 || (period && p->d % period == 0);
        if (!named && p != x->again) continue; /* the curves have the others */
        snprintf(id, sizeof id, "info.excess.%d", (int)p->d);
        lra_finding f = with_ends(id, "bits", p->excess, examples);
        f.null[LRA_NULL_PERM] = 0;
        snprintf(id, sizeof id, "info.pair.%d", (int)p->d);
        lra_finding pair = with_ends(id, "bits", (lra_estimate){p->pair, NAN, NAN}, examples);
        pair.null[LRA_NULL_PERM] = p->null;
        lra_probe_unit_findings(u, 1, &f);
        lra_probe_unit_findings(u, 1, &pair);
    }
    none.value = (double)x->d0;
    lra_finding d0 = with_ends("info.d0", "tokens", none, examples);
    if (x->n && x->d0 == x->point[x->n - 1].d && x->d0 < longest) d0.flags |= LRA_CENSORED;
    lra_finding alpha = with_ends("info.alpha", "1", x->alpha, examples);
    lra_finding tau = with_ends("info.tau", "tokens", x->tau, examples);
    none.value = x->decay.n >= 3 ? (double)x->decay.kind : NAN;
    lra_finding kind = with_ends("info.kind", "kind", none, examples);
    none.value = x->again ? (double)x->again->d : NAN;
    const lra_finding all[] = {d0, alpha, tau, kind,
                               with_ends("info.again", "tokens", none, examples)};
    lra_probe_unit_findings(u, 5, all);
}

/* Share of the label most frequent in training, in test. */
static double chance_of(const coded *train, const coded *test, int n_classes)
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

static void add_ngrams(const lra_dataset *d, const coding *by, lra_probe_unit *u)
{
    coded train, test;
    if (d->task->n_classes < 2) return;
    code(d, by, LRA_TRAIN_SPLIT, COUNT_STEPS, false, &train);
    code(d, by, LRA_TEST_SPLIT, TEST_STEPS, false, &test);
    uint8_t *correct = lra_alloc((size_t)test.rows.n + 1);
    double chance = chance_of(&train, &test, d->task->n_classes);
    for (int w = 0; w < WIDTHS; w++) {
        double right = 0;
        char id[LRA_FINDING_ID];
        lra_ngram_bayes(widths[w], d->task->n_classes, &train.rows, train.label, &test.rows,
                        test.label, correct);
        for (int64_t i = 0; i < test.rows.n; i++) right += correct[i];
        snprintf(id, sizeof id, "ngram.accuracy.%d", widths[w]);
        lra_finding f = with_ends(id, "1", lra_wilson(right, (double)test.rows.n, 0.95),
                                  test.rows.n);
        f.null[LRA_NULL_UNIFORM] = chance;
        if (train.rows.n < d->split[LRA_TRAIN_SPLIT].n) f.flags |= LRA_APPROX;
        lra_probe_unit_findings(u, 1, &f);
    }
    lra_free(correct);
    coded_free(&train);
    coded_free(&test);
}

/* ---- file ------------------------------------------------------------------------------------ */

/* The parameters of the data, as lines; caller frees. */
static char *lines_of(const lra_dataset *d)
{
    lra_text t = {0};
    lra_text_add(&t, "task=%s\n", d->task->name);
    for (int i = 0; lra_config_key(d->config, i); i++)
        lra_text_add(&t, "task.%s=%s\n", lra_config_key(d->config, i),
                     lra_config_value(d->config, i));
    return t.s;
}

/* Who it is of: no model, no run. */
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
    coding by = {.numbers = of_numbers(d)};
    coded train;
    lra_probe_result *r = new_result(d, preset, e);
    if (!r) return NULL;
    if (by.numbers)
        find_bins(&d->split[LRA_TRAIN_SPLIT], &by);
    else
        find_words(d, &by);
    code(d, &by, LRA_TRAIN_SPLIT, PAIR_STEPS, true, &train);
    lra_information *x = lra_information_new(&train.rows, longest_of(&train.rows) - 1,
                                             lra_dataset_grid(d), 0);
    lra_probe_unit *u = lra_probe_unit_new(r, "data");
    lra_probe_result_set(r, "examples", "%lld", (long long)train.rows.n);
    lra_probe_result_set(r, "steps", "%lld", (long long)train.start[train.rows.n]);
    lra_probe_result_set(r, "symbols", "%s", by.numbers ? "bins" : "tokens");
    add_curves(x, u);
    add_information(x, train.rows.n, longest_of(&train.rows) - 1, lra_dataset_grid(d), u);
    add_ngrams(d, &by, u);
    lra_information_free(x);
    coded_free(&train);
    lra_free(by.symbol);
    return r;
}

/* Writes it and reads it again, as lra-report will. */
static lra_probe_result *through_file(const char *out, const lra_probe_result *r, lra_err *e)
{
    char *folder = lra_format("%s/information/%s-%s", out, r->task, r->fingerprint);
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
    lra_probe_result *list[] = {r ? through_file(out, r, e) : NULL};
    lra_report_input in = {.probes = list, .n_probes = 1};
    int rc = list[0]
                 ? lra_report_print(&lra_table_information, stdout, &in, json ? "json" : "text", e)
                 : LRA_FAILED;
    lra_probe_result_free(list[0]);
    lra_probe_result_free(r);
    return rc;
}
