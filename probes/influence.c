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
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/os/lock.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "kernels/base/core/printable.h"
#include "probes/influence/cache.h"
#include "probes/influence/registry.h"
#include "probes/probe.h"
#include "probes/run/dry_run.h"
#include "probes/run/each_run.h"
#include "probes/run/option_rows.h"
#include "probes/run/origin.h"
#include "probes/run/shuffled.h"
#include "probes/shared/engine_responder.h"
#include "reports/report.h"

enum { MOST_PARTS = 32 };

static const lra_option sampling[] = {
    {.name = "parts",
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help = "parts to measure, separated by commas (default: all; '--dry-run' lists them)"},
    {.name = "examples",
     .kind = LRA_OPTION_INT,
     .value = "0",
     .min = 0,
     .max = 1e9,
     .arg = "N",
     .help = "number of test examples per part (0 = the part's default)"},
    {.name = "sample-seed",
     .kind = LRA_OPTION_INT,
     .value = "0",
     .min = 0,
     .max = 1e9,
     .arg = "N",
     .help = "seed of the stratified sample of test examples (0 = the default sample)"},
    {.name = "budget",
     .kind = LRA_OPTION_INT,
     .value = "0",
     .min = 0,
     .max = 1e15,
     .arg = "PASSES",
     .help = "maximum total cost, in passes of one example through the network (0 = no limit)"},
    {.name = NULL}};
static const lra_option output[] = {
    LRA_NULL_OPTION,
    {.name = "dry-run",
     .kind = LRA_OPTION_FLAG,
     .help = "print the cost of each part, measure nothing"},
    LRA_FORCE_OPTION("measure again instead of using saved results"),
    LRA_JSON_OPTION("print the table, or the plan of --dry-run, as one JSON document"),
    {.name = NULL}};
static const lra_option *const tables[] = {sampling,
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
        "  model has an output at every position (14 of 14 runs each), but rarely if it has one\n"
        "  output for the input (7 and 10 of 22). Use 'interaction' there; on 240 bags of tokens,\n"
        "  in which no distance matters, it reports a distance for 6. 'field' is an upper bound\n"
        "  (in all 36 runs; exact in 15). 'cut' and 'heads' limit distances PER LAYER, and the\n"
        "  limits of layers add up; 'context' limits the complete model.",
    .min_args = 1,
    .max_args = -1,
    .tables = tables,
};

/* ---- the task list --------------------------------------------------------------------------- */

/* A selected part, with its sample size and cost for a run. */
typedef struct {
    const lra_influence_part *is;
    int64_t wanted, examples;
    /* cost in passes: with the minimum number of examples; with `examples` examples */
    double fewest, passes;
    const char *undefined; /* reason why the part is undefined for the run; NULL: it is defined */
    bool there;            /* true if the file already contains the part with these settings */
} task;

static bool named(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == 0 || at[n] == ',')) return true;
    }
    return false;
}

/* Fails if a name of the list is not the name of a part. */
static int check_names(const char *list, lra_err *e)
{
    const char *known[MOST_PARTS];
    int n = 0;
    for (; lra_influence_part_at(n); n++) known[n] = lra_influence_part_at(n)->name;
    for (const char *at = list; at && *at; at = strchr(at, ',')) {
        char word[64];
        at += *at == ',';
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        bool found = false;
        for (int i = 0; i < n && !found; i++) found = strcmp(known[i], word) == 0;
        if (!found)
            return lra_fail_unknown(e, "part", word, n, known, "lra-probe influence RUN --dry-run");
    }
    return 0;
}

/* Checks the options of every part. */
static int check_options(const lra_influence *p, lra_err *e)
{
    int rc = 0;
    for (int i = 0; lra_influence_part_at(i) && rc == 0; i++)
        if (lra_influence_part_at(i)->check) rc = lra_influence_part_at(i)->check(p, e);
    return rc;
}

/* Reduces the samples of all parts in proportion until their cost is within the budget; if the
 * minimum samples exceed the budget, the most expensive parts are left out. */
static void spend(const lra_influence *p, int n, task *list, double budget)
{
    double all = 0, least = 0;
    for (int i = 0; i < n; i++)
        if (!list[i].undefined) all += list[i].passes, least += list[i].fewest;
    while (least > budget) {
        task *dearest = NULL;
        for (int i = 0; i < n; i++)
            if (!list[i].undefined && (!dearest || list[i].fewest > dearest->fewest))
                dearest = &list[i];
        all -= dearest->passes, least -= dearest->fewest;
        dearest->passes = 0;
        dearest->undefined =
            "its smallest sample costs more than the other parts leave of the budget";
    }
    for (double share = 1; all > budget; share *= 0.98) {
        all = 0;
        for (int i = 0; i < n; i++) {
            task *t = &list[i];
            if (t->undefined) continue;
            int64_t examples = (int64_t)(share * (double)t->wanted);
            t->examples = examples > t->is->least ? examples : t->is->least;
            all += t->passes = lra_part_passes(t->is, p, t->examples);
        }
    }
}

static int choose(const lra_influence *p, const lra_options *o, task *list)
{
    const char *wanted = lra_option_text(o, "parts");
    int64_t examples = lra_option_int(o, "examples");
    double budget = (double)lra_option_int(o, "budget");
    int n = 0;
    for (int i = 0; lra_influence_part_at(i); i++) {
        task t = {.is = lra_influence_part_at(i)};
        if (wanted && !named(wanted, t.is->name)) continue;
        t.wanted = t.examples = lra_influence_rows(p, examples ? examples : t.is->examples);
        t.undefined = lra_part_undefined(t.is, p);
        if (!t.undefined && t.examples < t.is->least)
            t.undefined = "it needs tokens of another example, and the sample has only one";
        if (!t.undefined) t.fewest = lra_part_passes(t.is, p, t.is->least);
        if (!t.undefined && budget > 0 && t.fewest > budget)
            t.undefined = t.is->least > 1 ? "two examples cost more passes than the budget"
                                          : "one example costs more passes than the budget";
        if (!t.undefined) t.passes = lra_part_passes(t.is, p, t.examples);
        list[n++] = t;
    }
    if (budget > 0) spend(p, n, list, budget);
    return n;
}

/* JSON document of all runs for --dry-run --json; NULL: not requested. */
static json_t *planned;

static void add_planned(const lra_influence *p, int n, const task *list)
{
    json_t *parts = json_array();
    char *run = lra_make_printable(lra_copy_text(p->folder)); /* JSON must be valid UTF-8 */
    for (int i = 0; i < n; i++) {
        const task *t = &list[i];
        json_t *part = json_pack("{s:s, s:b}", "name", t->is->name, "measured", t->there);
        if (t->undefined)
            json_object_set_new(part, "undefined", json_string(t->undefined));
        else
            json_object_update_new(part, json_pack("{s:f, s:I}", "passes", t->there ? 0 : t->passes,
                                                   "examples", (json_int_t)t->examples));
        json_array_append_new(parts, part);
    }
    json_array_append_new(planned, json_pack("{s:s, s:o}", "run", run, "parts", parts));
    lra_free(run);
}

static double print_cost(const lra_influence *p, int n, const task *list)
{
    double all = 0;
    if (planned) add_planned(p, n, list);
    lra_note("%s", p->subject.title);
    for (int i = 0; i < n; i++) {
        const task *t = &list[i];
        if (t->undefined)
            lra_note("  %-12s undefined: %s", t->is->name, t->undefined);
        else
            lra_note("  %-12s %10.0f passes, %" PRId64 " examples%s  %s", t->is->name, t->passes,
                     t->examples, t->there ? " (measured)" : "", t->is->summary);
        all += t->there ? 0 : t->passes;
    }
    return all;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Copies the results of an earlier command: requested parts if they were measured with the same
 * settings (unless --force is set), and all other parts. */
static void take_over(lra_influence *p, const lra_probe_result *old, int n, task *list, bool force)
{
    for (int i = 0; lra_influence_part_at(i); i++) {
        const lra_influence_part *part = lra_influence_part_at(i);
        task *t = NULL;
        for (int k = 0; k < n; k++)
            if (list[k].is == part) t = &list[k];
        if (t) t->there = !force && lra_cache_holds(old, part, p, t->examples);
        if (!t || t->there) lra_cache_copy(p->out, old, part);
    }
    lra_cache_copy_shuffled(p->out, old);
}

static int save(const lra_influence *p, lra_err *e)
{
    lra_cache_sort(p->out);
    char *path = lra_format("%s/influence.h5", p->to);
    int rc = lra_probe_result_write(path, p->out, e);
    lra_free(path);
    return rc;
}

/* ---- one run --------------------------------------------------------------------------------- */

static int measure(lra_influence *p, int n, const task *list, lra_err *e)
{
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        const task *t = &list[i];
        if (t->there || t->undefined) continue;
        rc = lra_part_measure(t->is, p, t->examples, e);
        if (rc == 0) lra_cache_record(p->out, t->is, p, t->examples);
        if (rc == 0) rc = save(p, e);
        if (rc != 0) lra_fail_in(e, "part '%s'", t->is->name);
    }
    return rc;
}

/* If the command was given one run, fails unless at least one requested part is defined for it (all
 * of them can be too expensive for the budget). With several runs, a part can be defined for the
 * others. */
static int check_defined(const lra_influence *p, int n, const task *list, const lra_options *o,
                         lra_err *e)
{
    bool any = n == 0 || lra_option_n_args(o) > 1;
    for (int i = 0; i < n; i++) any = any || !list[i].undefined;
    if (any) return 0;
    const char *hint = list[0].is->hint ? list[0].is->hint(p) : NULL;
    return lra_fail_usage(e, "part '%s' of run '%s' is undefined: %s%s%s", list[0].is->name,
                          p->folder, list[0].undefined, hint ? "; " : "", hint ? hint : "");
}

static int ask(lra_influence *p, const lra_options *o, lra_err *e)
{
    task list[MOST_PARTS];
    lra_origin origin;
    int n = choose(p, o, list);
    char *path = lra_format("%s/influence.h5", p->to);
    lra_probe_origin(&p->engine->device, &origin);
    p->out = lra_probe_result_new("influence", p->result, &origin);
    char *from = lra_file_exists(path) ? lra_copy_text(path)
                                       : lra_format("%s/influence.h5", p->folder);
    bool there = lra_file_exists(from);
    lra_probe_result *old = there ? lra_probe_result_read(from, "influence", e) : NULL;
    lra_free(from);
    bool damaged = there && !old && lra_err_cause(e) == LRA_CAUSE_OTHER;
    if (there && !old && !damaged) {
        lra_free(path);
        return LRA_FAILED; /* the file may be intact, so it is not overwritten */
    }
    if (damaged) lra_warn("%s; all parts are measured again", e->msg);
    if (old) take_over(p, old, n, list, lra_option_flag(o, "force"));
    lra_probe_result_free(old);
    int rc = check_defined(p, n, list, o, e);
    double all = rc == 0 ? print_cost(p, n, list) : 0;
    bool measures = rc == 0 && !lra_option_flag(o, "dry-run") && all > 0;
    if (measures) rc = lra_finished_run_writable(p->run, "influence.h5", e);
    if (measures && rc == 0) {
        p->steps = (lra_steps){.bar = lra_progress_new(p->subject.title, all)};
        rc = measure(p, n, list, e);
        lra_progress_free(p->steps.bar);
        if (rc == 0) lra_note("wrote %s", path);
    }
    lra_free(path);
    return rc;
}

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
    if (any) rc = save(p, e);
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
    lra_influence p = {.options = o, .engine = &engine};
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
        rc = check_options(&p, e);
        if (rc == 0) rc = ask(&p, o, e);
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
    int asked = lra_option_n_args(o), n = 0, failed = 0;
    int rc = check_names(lra_option_text(o, "parts"), e);
    bool dry = lra_option_flag(o, "dry-run"), json = lra_option_flag(o, "json");
    lra_probe_result **list = lra_alloc_array((size_t)asked, sizeof *list);
    planned = dry && json ? json_array() : NULL;
    if (dry) lra_dry_run_limit();
    for (int i = 0; i < asked && rc == 0; i++) {
        if (lra_run_is_unfinished(o, lra_option_arg(o, i))) continue;
        rc = probe_run(lra_option_arg(o, i), o, false, &list[n], e);
        rc = lra_run_outcome(o, rc, &failed, e);
        lra_run_count(lra_option_arg(o, i), list, &n);
    }
    if (rc == 0 && n == 0 && failed == 0)
        rc = lra_fail_usage(e, "all %d runs were trained on permuted labels", asked);
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
