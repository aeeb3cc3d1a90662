/* lra-probe attention: attention distances of a trained model by layer and head, compared with the
 * uniform baseline under the same mask and with the weights before training.
 *   LAYER.HEAD   profile statistics (range, local mass, entropy, direction, decay), for images also
 *                in pixels (.px); sink.max, sink.at, and for heads with a sink the profile without
 *                that key (.nosink); share.relative .absolute .content: shares of position and
 *                content in the weights; for ListOps tree.parent .children .siblings .bracket:
 *                weight on related tokens, and tree.lift.RELATION, tree.lift.class.RELATION: that
 *                weight over the weight of the best content-blind head (analysis/content_blind.h);
 *                shift.w1, shift.js, shift.peak: the distance whose weight grew most relative to
 *                initialisation; head.kind (analysis/head_kind.h); maps of one short example
 *   LAYER        head.js: divergence between its heads; value.*: profile of all its heads together,
 *                weighted by the values and the output matrix
 *   model        heads.KIND: shares of heads; head.js; rollout.*: profile of attention rollout
 *                over all layers; positions.toeplitz, .adj, .off: Toeplitz shares of the products
 *                of learned position embeddings (position_table.h)
 * Limits of these measurements (reports/measured/known-truth): for two-token XOR at distance 8, 16,
 * 32, means and radii stay at the uniform baseline and do not reveal the distance. On tasks with a
 * known distance, shift.peak of the head with the largest shift is within a factor of sqrt 2 of the
 * distance in 4 of 12 runs.
 * Weights that are not computed by one attention op (products of features, mixtures, memory tokens,
 * LSH buckets: shared/mixing_matrix.h) are evaluated row by row; of examples with more than 32
 * rows, 32 are sampled (all rows for rollout and maps). Memory and time then stay linear in the
 * length, except for las with smoothing=centred-remask, which stores maps itself. value.* is
 * missing if no linear layer follows the heads (gates; reformer with form=arena), and for luna with
 * more than 32 pairs of heads. Distances take one pass over the sample for each set of weights, and
 * memory linear in the length. Sinks take a second pass, and rollout, on 64 examples, a third one.
 * Statistics of maps are computed for inputs of at most 2,048 positions. */
#include <stdio.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "probes/attention/rollout.h"
#include "probes/attention/write_results.h"
#include "probes/probe.h"
#include "probes/run/each_run.h"
#include "probes/run/finished_run.h"
#include "probes/run/option_rows.h"
#include "probes/run/origin.h"
#include "probes/run/shuffled.h"
#include "reports/report.h"

enum { ROLLED_OUT = 64 };

_Static_assert(LRA_MATRIX_ROWS == 32, "the default of --queries is LRA_MATRIX_ROWS");
static const lra_option own[] = {
    {.name = "examples",
     .kind = LRA_OPTION_INT,
     .value = "256",
     .min = 0,
     .max = 1e9,
     .arg = "N",
     .help = "number of test examples, the same for all runs on these data (0 = all)"},
    LRA_QUERIES_OPTION(
        "number of query positions per example, evenly spaced, where no attention op provides the "
        "weights (0 = all)"),
    LRA_NULL_OPTION,
    LRA_JSON_OPTION("print one JSON document instead of tables"),
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_finished_run_options, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe attention",
    .summary = "Measures the distances over which the attention heads of trained models attend.",
    .usage = "RUN...",
    .examples = "  lra-probe attention listops-transformer-0123456789abcdef --out lra-out\n"
                "  lra-probe attention lra-out/runs/*-transformer-* --examples 64",
    .notes =
        "  On tasks that depend on one distance, the head that training changed most attends to that\n"
        "  distance (shift.peak) in 3 of 6 runs with a label at every position, and in 1 of 6 runs\n"
        "  with one label per example: information can also pass through intermediate positions and\n"
        "  layers. Mean distances and radii stay at the uniform baseline and do not reveal the\n"
        "  distance. 'lra-probe influence' measures the complete model.",
    .min_args = 1,
    .max_args = -1,
    .tables = tables,
};

static int measure_weights(const lra_train_spec *spec, lra_device *device, lra_weights_kind weights,
                           const lra_options *o, lra_attention_measured *out, lra_err *e)
{
    int64_t examples = lra_option_int(o, "examples"), queries = lra_option_int(o, "queries");
    int64_t rolled = examples == 0 || examples > ROLLED_OUT ? ROLLED_OUT : examples;
    int rc = lra_heads_measure(spec, device, weights, examples, queries, &out->heads, e);
    bool *sink = lra_alloc_array((size_t)out->heads.n_heads + 1, sizeof *sink);
    for (int i = 0; i < out->heads.n_heads; i++) sink[i] = out->heads.head[i].nosink != NULL;
    if (rc == 0)
        rc = lra_maps_measure(spec, device, weights, examples, out->heads.n_heads, sink, &out->maps,
                              e);
    lra_free(sink);
    if (rc == 0) rc = lra_rollout_measure(spec, device, weights, rolled, &out->rollout, e);
    return rc;
}

static void tell(const lra_train_spec *spec, const lra_attention_measured *m)
{
    if (m->heads.family)
        lra_note("%s: attention weights are %s", spec->title, m->heads.family->what);
    if (m->heads.left_out)
        lra_note("%s: the keys of %s come from another sequence, so distances are undefined",
                 spec->title, m->heads.left_out);
    if (m->maps.n_heads == 0)
        lra_note(
            "%s: inputs are longer than %d tokens; measurements that need complete attention maps "
            "are skipped",
            spec->title, LRA_MAPS_LONGEST);
    else if (!m->maps.shares)
        lra_note(
            "%s: the shares of position and content are skipped; they need 30 examples of equal "
            "length and at most 2 GiB of maps",
            spec->title);
}

static int measure_both(const lra_finished_run *run, const lra_train_spec *spec,
                        const lra_options *o, lra_probe_result *r, lra_err *e)
{
    int64_t examples = lra_option_int(o, "examples");
    lra_device here = run->job.device, *device = &here;
    lra_attention_measured best = {.rollout = NULL}, initial = {.rollout = NULL};
    int rc = measure_weights(spec, device, LRA_BEST_WEIGHTS, o, &best, e);
    if (rc == 0) rc = measure_weights(spec, device, LRA_INITIAL_WEIGHTS, o, &initial, e);
    if (rc == 0) {
        tell(spec, &best);
        lra_probe_result_set(r, "examples", "%lld", (long long)best.heads.head[0].examples);
        if (best.heads.family) lra_probe_result_set(r, "weights", "%s", best.heads.family->name);
        if (best.heads.sampled)
            lra_probe_result_set(r, "queries", "%lld", (long long)lra_option_int(o, "queries"));
        if (best.maps.kept_row >= 0)
            lra_probe_result_set(r, "map", "%lld", (long long)best.maps.kept_row);
        lra_attention_units(r, &best, &initial, spec->seed,
                            best.heads.sampled || (examples > 0 && examples < run->result->n));
    }
    lra_attention_measured_free(&best);
    lra_attention_measured_free(&initial);
    return rc;
}

static int measure(lra_finished_run *run, const lra_options *o, lra_probe_result *r, lra_err *e)
{
    lra_train_spec spec;
    lra_finished_run_spec(run, &spec);
    int rc = measure_both(run, &spec, o, r, e);
    lra_job_spec_free(&spec);
    if (rc != 0) lra_fail_in(e, "run '%s'", run->folder);
    return rc;
}

static int measure_and_write(lra_finished_run *run, const lra_options *o, lra_probe_result *r,
                             lra_err *e)
{
    char *shuffled, *path = lra_format("%s/attention.h5", run->to);
    int rc = lra_shuffled_find(run, o, &shuffled, e);
    if (rc == 0) rc = lra_finished_run_writable(run, "attention.h5", e);
    bool found = rc == 0;
    if (rc == 0) rc = measure(run, o, r, e);
    if (rc == LRA_USAGE && found) rc = LRA_ABSENT; /* the model has no attention */
    if (rc == 0 && shuffled) rc = lra_shuffled_add(shuffled, o, measure, r, e);
    if (rc == 0) rc = lra_probe_result_write(path, r, e);
    if (rc == 0) lra_note("wrote %s", path);
    lra_free(shuffled);
    lra_free(path);
    return rc;
}

/* Measures one run. For a model without attention within its own sequence, *to stays NULL and the
 * run is skipped if the command was given several runs. */
static int probe_run(const char *name, const lra_options *o, lra_probe_result **to, lra_err *e)
{
    lra_finished_run run;
    lra_origin origin;
    int rc = lra_finished_run_open(&run, name, NULL, o, e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    if (rc == 0) {
        lra_probe_origin(&run.job.device, &origin);
        lra_probe_result *r = lra_probe_result_new("attention", run.result, &origin);
        rc = measure_and_write(&run, o, r, e);
        if (rc == 0)
            *to = r;
        else
            lra_probe_result_free(r);
    }
    lra_finished_run_close(&run);
    return rc;
}

static int attention(const lra_options *o, lra_err *e)
{
    int requested = lra_option_n_args(o), n = 0, rc = 0, failed = 0;
    lra_probe_result **list = lra_alloc_array((size_t)requested, sizeof *list);
    for (int i = 0; i < requested && rc == 0; i++) {
        if (lra_run_is_unfinished(o, lra_option_arg(o, i))) continue;
        rc = probe_run(lra_option_arg(o, i), o, &list[n], e);
        rc = lra_run_outcome(o, rc, &failed, e);
        lra_run_count(lra_option_arg(o, i), list, &n);
    }
    if (rc == 0 && n == 0 && failed == 0)
        rc = lra_fail_usage(e, "none of the %d runs has self-attention", requested);
    lra_report_input in = {.probes = list, .n_probes = n};
    if (rc == 0 && n)
        rc = lra_report_print(&lra_table_attention, stdout, &in,
                              lra_option_flag(o, "json") ? "json" : "text", e);
    lra_probe_results_free(list, n);
    return rc == 0 ? lra_runs_outcome(o, failed, e) : rc;
}

const lra_probe lra_probe_attention = {
    "attention", "measures the distances over which attention heads attend", &command, attention};
