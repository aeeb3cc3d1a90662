/* lra-probe influence: measures which inputs a trained model relies on, by gradients and by
 * interventions, without retraining.
 *
 * It consists of parts (influence/parts.def): distance limits in all layers, layer by layer and
 * head by head; Jacobians; the effective receptive field; features after replacement of blocks;
 * restricted inputs and inputs of other lengths; influence by relative position and under position
 * shifts; interactions between blocks of the input. Each part first reports its cost, in passes of
 * one example through the network. It is saved to RUN/influence.h5 as soon as it is measured, and
 * the same command continues after the last saved part.
 * --budget reduces all sample sizes in proportion, and leaves out the most expensive parts if even
 * the minimum samples exceed it; the file stores the sample sizes that were used.
 * The measurements are documented in the files of the parts. */
#include <jansson.h>
#include <stdio.h>

#include "kernels/base/os/lock.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "probes/influence/cache.h"
#include "probes/influence/measure_parts.h"
#include "probes/probe.h"
#include "probes/run/dry_run.h"
#include "probes/run/each_run.h"
#include "probes/run/option_rows.h"
#include "probes/run/shuffled.h"
#include "probes/shared/engine_responder.h"
#include "reports/report.h"

static const lra_option output[] = {
    LRA_NULL_OPTION,
    {.name = "dry-run",
     .kind = LRA_OPTION_FLAG,
     .help = "print the cost of each part, measure nothing"},
    LRA_FORCE_OPTION("measure again instead of using saved results"),
    LRA_JSON_OPTION("print the table, or the plan of --dry-run, as one JSON document"),
    {.name = NULL}};
static const lra_option *const tables[] = {lra_influence_sampling_options,
#define LRA_PART_OPTIONS(name) lra_part_##name##_options,
#include "probes/influence/parts.def"
                                           output, lra_finished_run_options, lra_common_options,
                                           NULL};
static const lra_command command = {
    .program = "lra-probe influence",
    .summary = "Measures how distant the tokens are that a trained model relies on.",
    .usage = "RUN...",
    .examples = "  lra-probe influence xor-s4d-0123456789abcdef --out lra-out\n"
                "  lra-probe influence lra-out/runs/xor-* --parts cut --examples 500",
    .notes =
        "  On tasks that need one known distance, parts 'jacobian' and 'occlusion' find it if the\n"
        "  model has an output at every position (in 18 of 18 runs each), but rarely if it has one\n"
        "  output per input (in 6 and 5 of 22 runs). Use 'interaction' for such models; its\n"
        "  false positives: a distance is reported for 6 of 240 models that treat each token alone.\n"
        "  Part 'field' gives an upper bound of the distance: in 40 runs it is never below the\n"
        "  distance, and in 19 of them at most sqrt(2) times as large.\n"
        "  'cut' and 'heads' limit distances PER LAYER: several layers together reach farther.\n"
        "  'context' limits the complete model.",
    .min_args = 1,
    .max_args = -1,
    .tables = tables,
};

/* ---- one run --------------------------------------------------------------------------------- */

/* JSON document of all runs for --dry-run --json; NULL: not requested. */
static json_t *planned;

static int probe_run(const char *name, const lra_options *o, bool shuffled, lra_probe_result **to,
                     lra_err *e);

/* Measures the same parts of a second run, which was trained with permuted labels, and adds them to
 * p->out as null values. Each of the two runs has its own file. */
static int ask_shuffled(const lra_influence *p, const char *folder, const lra_options *o,
                        lra_err *e)
{
    lra_probe_result *other = NULL;
    lra_note("null values, from the run on permuted labels:");
    int rc = probe_run(folder, o, true, &other, e);
    bool any = rc == 0 && !lra_option_flag(o, "dry-run") && lra_cache_add_shuffled(p->out, other);
    if (any) rc = lra_influence_save(p, e);
    if (any && rc == 0) lra_note("wrote null values to %s/influence.h5", p->to);
    lra_probe_result_free(other);
    return rc;
}

/* Measures one run. shuffled: the run was trained with permuted labels, so that it gets no null
 * values of permuted labels itself. Returns LRA_ABSENT if the run has none of the parts. */
static int probe_run(const char *name, const lra_options *o, bool shuffled, lra_probe_result **to,
                     lra_err *e)
{
    lra_finished_run run;
    lra_engine_run engine;
    lra_influence p = {.options = o, .engine = &engine, .planned = planned};
    char *other = NULL;
    int lock = -1, rc = lra_finished_run_open(&run, name, NULL, o, e);
    if (rc == 0 && !shuffled) rc = lra_shuffled_find(&run, o, &other, e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    /* The lock covers everything from the reading of influence.h5 to its last update: two commands
     * on one run are serialised, and no measurements are lost. */
    if (rc == 0 && !lra_option_flag(o, "dry-run")) rc = lra_finished_run_lock(&run, &lock, e);
    if (rc == 0) {
        lra_finished_run_spec(&run, &engine.spec);
        engine.spec.sample_seed = (uint64_t)lra_option_int(o, "sample-seed");
        engine.device = run.job.device;
        p.run = &run, p.result = run.result, p.folder = run.folder, p.to = run.to;
        p.subject = lra_engine_subject(&engine.spec,
                                       lra_engine_responder_new(&engine.spec, &engine.device));
        rc = lra_influence_check_options(&p, e);
        if (rc == 0) rc = lra_influence_measure(&p, lra_option_n_args(o) > 1, e);
        if (rc == 0 && other) rc = ask_shuffled(&p, other, o, e);
        *to = p.out;
        lra_responder_close(p.subject.model);
        lra_job_spec_free(&engine.spec);
    }
    lra_unlock(lock);
    lra_free(other);
    lra_finished_run_close(&run);
    return rc;
}

static void print_planned(void)
{
    json_t *document = json_pack("{s:i, s:O}", "schema", 1, "runs", planned);
    json_dumpf(document, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(document);
}

static int influence(const lra_options *o, lra_err *e)
{
    int requested = lra_option_n_args(o), n = 0, failed = 0;
    int rc = lra_influence_check_names(lra_option_text(o, "parts"), e);
    bool dry = lra_option_flag(o, "dry-run"), json = lra_option_flag(o, "json");
    lra_probe_result **list = lra_alloc_array((size_t)requested, sizeof *list);
    planned = dry && json ? json_array() : NULL;
    if (dry) lra_dry_run_limit();
    for (int i = 0; i < requested && rc == 0; i++) {
        if (lra_run_is_unfinished(o, lra_option_arg(o, i))) continue;
        rc = probe_run(lra_option_arg(o, i), o, false, &list[n], e);
        rc = lra_run_outcome(o, rc, &failed, e);
        lra_run_count(lra_option_arg(o, i), list, &n);
    }
    if (rc == 0 && n == 0 && failed == 0)
        rc = lra_fail_usage(e, "all %d runs were trained on permuted labels", requested);
    lra_report_input in = {.probes = list, .n_probes = n};
    if (rc == 0 && planned) print_planned();
    if (rc == 0 && n && !dry)
        rc = lra_report_print(&lra_table_influence, stdout, &in, json ? "json" : "text", e);
    json_decref(planned);
    lra_probe_results_free(list, n);
    return rc == 0 ? lra_runs_outcome(o, failed, e) : rc;
}

const lra_probe lra_probe_influence = {
    "influence", "measures how distant the tokens are that a model relies on", &command, influence};
