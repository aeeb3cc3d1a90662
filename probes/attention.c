/* lra-probe attention: how far the heads of a trained model look, by layer and head, beside equal weights under the same
 * mask and the weights before training.
 *   LAYER.HEAD   what profiles have (range, local mass, entropy, side, decay), sink.max, sink.at, shift.w1, shift.js,
 *                shift.peak: the distance whose mass grew most over that of the initial weights
 *   LAYER        head.js: how much its heads differ
 *   model        heads.local: share of heads with range.q95 <= 32; heads.sink, heads.uniform, head.js
 * A head is a sink where its largest mean weight of a key is above 5 times what equal weights give that key, averaged
 * over examples, and uniform where its normalised entropy is above 0.95.
 * Two-token XOR at 8, 16, 32 steps: means and radii stay those of equal weights, and do not find the distance; shift.peak
 * is exactly the distance in a head of the first layer of every run, beside heads whose peak is elsewhere.
 * One pass over the sample for each set of weights; no map is stored, memory is linear in length. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/radius.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "probes/attention/heads.h"
#include "probes/probe.h"
#include "probes/run/finished_run.h"
#include "probes/run/option_rows.h"
#include "probes/run/origin.h"
#include "reports/probe_result.h"
#include "reports/report.h"

enum { LOCAL = 32 };
static const double sink_factor = 5, uniform_entropy = 0.95;

static const lra_option own[] = {
    {.name = "examples",
     .kind = LRA_OPTION_INT,
     .value = "256",
     .min = 0,
     .max = 1e9,
     .arg = "N",
     .help = "test examples, the same of all runs on these data; 0: all"},
    LRA_JSON_OPTION("print one JSON document instead of tables"),
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_finished_run_options, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe attention",
    .summary = "Measures how far the attention heads of trained models look.",
    .usage = "RUN...",
    .examples = "  lra-probe attention listops-transformer-0123456789abcdef --out lra-out\n"
                "  lra-probe attention lra-out/runs/*-transformer-* --examples 64",
    .min_args = 1,
    .max_args = -1,
    .tables = tables,
};

/* ---- findings ---------------------------------------------------------------------------------------- */

/* Mean over examples with its interval. */
static lra_finding mean_of(const char *id, const char *unit, int64_t n, const double *x)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
    lra_finding f = lra_finding_of(id, unit, mean);
    double half = n > 1 ? 1.959963985 * sqrt(squares / ((double)n - 1) / (double)n) : NAN;
    f.lo = mean - half, f.hi = mean + half, f.examples = n;
    return f;
}

/* The position that is the largest key most often, the first of equals. */
static int64_t usual_sink(const lra_attention_head *h)
{
    int64_t best = 0, most = 0;
    for (int64_t i = 0; i < h->examples; i++) {
        int64_t n = 0;
        for (int64_t k = 0; k < h->examples; k++) n += h->sink_at[k] == h->sink_at[i];
        if (n > most || (n == most && h->sink_at[i] < best)) most = n, best = h->sink_at[i];
    }
    return best;
}

static int add_sinks(const lra_attention_head *h, lra_finding *out)
{
    double equal = 0;
    for (int64_t i = 0; i < h->examples; i++) equal += h->sink_equal[i] / (double)h->examples;
    out[0] = mean_of("sink.max", "1", h->examples, h->sink);
    out[0].null[LRA_NULL_UNIFORM] = equal;
    out[1] = lra_finding_of("sink.at", "position", (double)usual_sink(h));
    out[1].examples = h->examples;
    return 2;
}

enum { MOST = LRA_PROFILE_FINDINGS + 8 };
static int findings_of(const lra_attention_head *h, uint64_t key, lra_finding out[MOST])
{
    int n = lra_profile_findings(h->profile, &(lra_profile_options){.key = key}, out);
    return n + add_sinks(h, out + n);
}

static void add_curves(lra_probe_unit *u, const lra_profile *p, const lra_profile *initial)
{
    int64_t n = lra_profile_distances(p);
    double *x = lra_alloc_array((size_t)(6 * n) + 1, sizeof *x);
    lra_profile_curves(p, x, x + n, x + 2 * n, x + 3 * n, x + 4 * n);
    lra_profile_curves(initial, x + 5 * n, NULL, NULL, NULL, NULL);
    static const char *const name[] = {"mass", "equal", "rel", "rel.lo", "rel.hi", "mass.init"};
    for (int k = 0; k < 6; k++) lra_probe_unit_array(u, name[k], 1, &n, x + k * n);
    lra_free(x);
}

/* What a head is, for the summary of the model. */
typedef struct {
    int local, sink, uniform;
} classes;

static void classify(int n, const lra_finding *found, classes *c)
{
    const lra_finding *q95 = lra_finding_find(n, found, "range.q95");
    const lra_finding *sink = lra_finding_find(n, found, "sink.max");
    const lra_finding *entropy = lra_finding_find(n, found, "entropy.rel");
    c->local += q95 && q95->value <= LOCAL;
    c->sink += sink && sink->value > sink_factor * sink->null[LRA_NULL_UNIFORM];
    c->uniform += entropy && entropy->value > uniform_entropy;
}

/* The distance at which learning added most. */
static lra_finding peak_of(const lra_attention_head *best, const lra_attention_head *initial)
{
    int64_t n = lra_profile_distances(best->profile);
    double *x = lra_alloc_array((size_t)(2 * n) + 1, sizeof *x);
    lra_profile_curves(best->profile, x, NULL, NULL, NULL, NULL);
    lra_profile_curves(initial->profile, x + n, NULL, NULL, NULL, NULL);
    lra_finding f = lra_finding_of("shift.peak", "tokens", lra_peak(n, x, x + n));
    f.examples = best->examples;
    lra_free(x);
    return f;
}

/* classes: trained, initial. */
static void add_head(lra_probe_result *r, const lra_attention_head *best,
                     const lra_attention_head *initial, uint64_t key, bool sampled, classes c[2])
{
    lra_finding found[MOST + 4], init[MOST];
    int n = findings_of(best, key, found), n_init = findings_of(initial, key, init);
    classify(n, found, &c[0]);
    classify(n_init, init, &c[1]);
    lra_findings_null(n, found, n_init, init, LRA_NULL_INIT);
    const lra_profile_options o = {.key = key};
    n += lra_profile_shift(initial->profile, best->profile, &o, found + n);
    found[n++] = peak_of(best, initial);
    for (int i = 0; i < n && sampled; i++) found[i].flags |= LRA_APPROX;
    lra_probe_unit *u = lra_probe_unit_new(r, best->name);
    add_curves(u, best->profile, initial->profile);
    lra_probe_unit_findings(u, n, found);
}

/* Mean Jensen-Shannon divergence of pairs of heads, of a layer or (-1) of all. */
static double difference(const lra_heads *h, int layer)
{
    double sum = 0;
    int pairs = 0;
    int64_t n = lra_profile_distances(h->head[0].profile);
    double *mass = lra_alloc_array((size_t)(n * h->n_heads) + 1, sizeof *mass);
    for (int i = 0; i < h->n_heads; i++)
        lra_profile_curves(h->head[i].profile, mass + i * n, NULL, NULL, NULL, NULL);
    for (int i = 0; i < h->n_heads; i++)
        for (int k = 0; k < i; k++) {
            if (layer >= 0 && (h->head[i].layer != layer || h->head[k].layer != layer)) continue;
            sum += lra_shift_js(n, mass + i * n, mass + k * n);
            pairs++;
        }
    lra_free(mass);
    return pairs ? sum / pairs : NAN;
}

static lra_finding difference_of(const lra_heads *best, const lra_heads *initial, int layer)
{
    lra_finding f = lra_finding_of("head.js", "bits", difference(best, layer));
    f.null[LRA_NULL_INIT] = difference(initial, layer);
    f.examples = best->head[0].examples;
    return f;
}

static void add_layers(lra_probe_result *r, const lra_heads *best, const lra_heads *initial)
{
    for (int k = 0; k < best->n_layers; k++) {
        int first = 0;
        while (best->head[first].layer != k) first++;
        lra_finding f = difference_of(best, initial, k);
        char *name = lra_format("%.*s", (int)strcspn(best->head[first].name, "."),
                                best->head[first].name);
        if (!isnan(f.value)) lra_probe_unit_findings(lra_probe_unit_new(r, name), 1, &f);
        lra_free(name);
    }
}

static void add_model(lra_probe_result *r, const lra_heads *best, const lra_heads *initial,
                      const classes c[2])
{
    const struct {
        const char *id;
        int n, before;
    } share[] = {{"heads.local", c[0].local, c[1].local},
                 {"heads.sink", c[0].sink, c[1].sink},
                 {"heads.uniform", c[0].uniform, c[1].uniform}};
    lra_probe_unit *u = lra_probe_unit_new(r, "model");
    for (int i = 0; i < 3; i++) {
        lra_finding f = lra_finding_of(share[i].id, "1", share[i].n / (double)best->n_heads);
        f.null[LRA_NULL_INIT] = share[i].before / (double)best->n_heads;
        f.examples = best->head[0].examples;
        lra_probe_unit_findings(u, 1, &f);
    }
    lra_finding f = difference_of(best, initial, -1);
    if (!isnan(f.value)) lra_probe_unit_findings(u, 1, &f);
}

/* ---- one run ----------------------------------------------------------------------------------------- */

static void add_all(lra_probe_result *r, const lra_heads *best, const lra_heads *initial,
                    uint64_t key, bool sampled)
{
    classes c[2] = {{0}, {0}};
    for (int i = 0; i < best->n_heads; i++)
        add_head(r, &best->head[i], &initial->head[i], key, sampled, c);
    add_layers(r, best, initial);
    add_model(r, best, initial, c);
}

static int measure(const lra_finished_run *run, const lra_train_spec *spec, lra_device *device,
                   int64_t examples, lra_probe_result *r, lra_err *e)
{
    lra_heads best, initial = {0};
    int rc = lra_heads_measure(spec, device, LRA_BEST_WEIGHTS, examples, &best, e);
    if (rc == 0) rc = lra_heads_measure(spec, device, LRA_INITIAL_WEIGHTS, examples, &initial, e);
    if (rc == 0) {
        if (best.left_out)
            lra_note("%s: keys of %s are another sequence, which has no distances", spec->title,
                     best.left_out);
        lra_probe_result_set(r, "examples", "%lld", (long long)best.head[0].examples);
        add_all(r, &best, &initial, spec->seed, examples > 0 && examples < run->result->n);
    }
    lra_heads_free(&best);
    lra_heads_free(&initial);
    return rc;
}

static int probe_run(const char *name, const lra_options *o, lra_probe_result **to, lra_err *e)
{
    lra_finished_run run;
    lra_train_spec spec;
    lra_origin origin;
    int rc = lra_finished_run_open(&run, name, NULL, o, e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    if (rc == 0) {
        lra_device device = run.job.device;
        lra_finished_run_spec(&run, &spec);
        lra_probe_origin(&device, &origin);
        *to = lra_probe_result_new("attention", run.result, &origin);
        rc = measure(&run, &spec, &device, lra_option_int(o, "examples"), *to, e);
        char *path = lra_format("%s/attention.h5", run.folder);
        if (rc == 0) rc = lra_probe_result_write(path, *to, e);
        if (rc == 0) lra_note("wrote %s", path);
        lra_free(path);
        lra_job_spec_free(&spec);
    }
    lra_finished_run_close(&run);
    return rc;
}

static int attention(const lra_options *o, lra_err *e)
{
    int n = lra_option_n_args(o), done = 0, rc = 0;
    lra_probe_result **list = lra_alloc_array((size_t)n, sizeof *list);
    for (; done < n && rc == 0; done++) rc = probe_run(lra_option_arg(o, done), o, &list[done], e);
    lra_report_input in = {.probes = list, .n_probes = done};
    if (rc == 0)
        rc = lra_report_print(&lra_table_attention, stdout, &in,
                              lra_option_flag(o, "json") ? "json" : "text", e);
    lra_probe_results_free(list, done);
    return rc;
}

const lra_probe lra_probe_attention = {"attention", "how far the attention heads of a model look",
                                       &command, attention};
