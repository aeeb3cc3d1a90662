/* lra-probe influence: measures the input that a trained model relies on, by gradients and by
 * interventions, without retraining.
 *
 * It consists of parts (influence/parts.def): distance limits in all layers, layer by layer and
 * head by head; Jacobians; the effective receptive field; features after block replacement;
 * restricted inputs and other lengths; influence by relative position and under position shifts;
 * interactions between parts of the input. Each part first reports its cost, in passes of one
 * example through the network, and is saved to RUN/influence.h5 as soon as it is measured; the same
 * command continues after the last saved part.
 * --budget reduces all sample sizes in proportion, and leaves out the most expensive parts if the
 * minimum samples exceed it; the sizes used are stored in the file.
 * The ids of measurements are documented in each part. */
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
#include "probes/influence/part.h"
#include "probes/influence/cache.h"
#include "probes/probe.h"
#include "probes/run/each_run.h"
#include "probes/run/option_rows.h"
#include "probes/run/origin.h"
#include "probes/run/shuffled.h"
#include "reports/report.h"

enum { MOST_PARTS = 32, LONGEST = 1 << 20 };

static const lra_option own[] = {
    {.name = "parts",
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help = "some of the parts, separated by commas ('--dry-run' names them all)"},
    {.name = "examples",
     .kind = LRA_OPTION_INT,
     .value = "0",
     .min = 0,
     .max = 1e9,
     .arg = "N",
     .help = "test examples of every part, 0: what is usual for it"},
    {.name = "sample-seed",
     .kind = LRA_OPTION_INT,
     .value = "0",
     .min = 0,
     .max = 1e9,
     .arg = "N",
     .help = "seed of the sample of test examples, which holds every label's share (0 = default)"},
    {.name = "budget",
     .kind = LRA_OPTION_INT,
     .value = "0",
     .min = 0,
     .max = 1e15,
     .arg = "PASSES",
     .help = "at most about so many passes of an example through the network; 0: no bound"},
    {.name = "lengths",
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help = "lengths of inputs for part 'length', ascending, separated by commas"},
    {.name = "head-groups",
     .kind = LRA_OPTION_INT,
     .value = "4",
     .min = 1,
     .max = 64,
     .arg = "N",
     .help = "groups of neighbours that part 'heads' divides the heads of a layer into, at most"},
    LRA_NULL_OPTION,
    {.name = "dry-run", .kind = LRA_OPTION_FLAG, .help = "prints what it would cost, and ends"},
    LRA_FORCE_OPTION("measures again what is there"),
    LRA_JSON_OPTION("the table, or the plan of --dry-run, as one JSON document"),
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_finished_run_options, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe influence",
    .summary = "Measures how far away what a trained model uses is, by limits and by gradients.",
    .usage = "RUN...",
    .examples = "  lra-probe influence xor-s4d-0123456789abcdef --out lra-out\n"
                "  lra-probe influence lra-out/runs/xor-* --parts cut --examples 500",
    .notes =
        "  Where a task needs one distance, parts 'jacobian' and 'occlusion' find it if there is an\n"
        "  answer at every step (14 of 14 runs each), and do not if there is one answer (7 and 10 of\n"
        "  22): that is for 'interaction', which calls 6 of 240 bags of tokens, where no distance\n"
        "  matters, otherwise than flat. 'field' is a bound from above (all 36, a hit in\n"
        "  15). 'cut' and 'heads' limit distances PER LAYER, and layers add up; the limit of the model\n"
        "  as a whole is 'context'.",
    .min_args = 1,
    .max_args = -1,
    .tables = tables,
};

/* ---- the task list --------------------------------------------------------------------------- */

/* A part with its settings for a run. */
typedef struct {
    const lra_influence_part *is;
    int64_t wanted, examples;
    double fewest, passes; /* of the fewest examples; of all */
    const char *undefined; /* NULL: it is defined */
    bool there;            /* in the file already */
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

/* Every name of the list is one of a part. */
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

/* Ascending numbers, separated by commas. */
static int read_lengths(lra_influence *p, const char *list, lra_err *e)
{
    for (const char *at = list; at && *at; at += *at == ',') {
        char *end;
        long long n = strtoll(at, &end, 10);
        int64_t last = p->n_lengths ? p->length[p->n_lengths - 1] : 0;
        if (end == at || (*end && *end != ',') || n <= last || n > LONGEST)
            return lra_fail_usage(
                e,
                "--lengths is '%s', expected ascending numbers from 1 to %d, separated by commas",
                list, (int)LONGEST);
        if (p->n_lengths == LRA_GAIN_POINTS)
            return lra_fail_usage(e, "--lengths has more than %d numbers", (int)LRA_GAIN_POINTS);
        p->length[p->n_lengths++] = n;
        at = end;
    }
    return 0;
}

/* Examples without which a part is nothing. */
static int64_t least_of(const task *t)
{
    return t->is->least > 1 ? t->is->least : 1;
}

/* Reduces the samples of all parts in proportion; if the minimum samples exceed the budget, the
 * most expensive parts are left out. */
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
        dearest->undefined = "its fewest examples take more than the other parts leave";
    }
    for (double share = 1; all > budget; share *= 0.98) {
        all = 0;
        for (int i = 0; i < n; i++) {
            task *t = &list[i];
            if (t->undefined) continue;
            int64_t examples = (int64_t)(share * (double)t->wanted);
            t->examples = examples > least_of(t) ? examples : least_of(t);
            all += t->passes = t->is->passes(p, t->examples);
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
        if (t.is->undefined) t.undefined = t.is->undefined(p);
        if (!t.undefined && t.examples < t.is->least)
            t.undefined = "it takes tokens from another example, and there is one alone";
        if (!t.undefined) t.fewest = t.is->passes(p, least_of(&t));
        if (!t.undefined && budget > 0 && t.fewest > budget)
            t.undefined = least_of(&t) > 1 ? "two examples take more passes than the budget"
                                           : "one example takes more passes than the budget";
        if (!t.undefined) t.passes = t.is->passes(p, t.examples);
        list[n++] = t;
    }
    if (budget > 0) spend(p, n, list, budget);
    return n;
}

/* --dry-run --json: a document of all runs; NULL: not requested. */
static json_t *planned;

static void add_planned(const lra_influence *p, int n, const task *list)
{
    json_t *parts = json_array();
    char *run = lra_make_printable(lra_copy_text(p->run->folder)); /* JSON is UTF-8 */
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
    lra_note("%s", p->spec.title);
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

static bool causal(const lra_influence *p)
{
    return lra_model_causal(p->spec.model, p->spec.model_config);
}

/* Takes over the results of an earlier command: of these parts if they were measured with the same
 * settings, of all others unchanged. */
static void take_over(lra_influence *p, const lra_probe_result *old, int n, task *list, bool force)
{
    for (int i = 0; lra_influence_part_at(i); i++) {
        const lra_influence_part *part = lra_influence_part_at(i);
        task *t = NULL;
        for (int k = 0; k < n; k++)
            if (list[k].is == part) t = &list[k];
        const char *at = lra_cache_value(old, part->name);
        int64_t examples = lra_cache_number(old, part->name);
        bool heads = part == &lra_part_heads;
        int64_t groups = lra_cache_number(old, "head-groups");
        bool past = lra_cache_past(old, part), moved = lra_saved_moves_blocks(old, part);
        bool older = lra_cache_uniform(part) && causal(p) &&
                     !past; /* equal weights to both sides */
        bool other = lra_saved_sample(old, part) != (int64_t)p->spec.sample_seed;
        bool again = force || older || !moved || other ||
                     (part == &lra_part_length && p->n_lengths) ||
                     (heads && groups != p->head_groups);
        bool keep = t ? !again && at && examples == t->examples : true;
        for (int u = 0; u < old->n_units && keep; u++)
            if (lra_cache_belongs(old->unit[u]->name, part->name))
                lra_cache_copy(p->out, old->unit[u]);
        const char *equal = past ? "past" : causal(p) ? NULL : "both";
        if (keep && at) lra_cache_set(p->out, part, examples, groups, equal);
        if (keep && at) lra_saved_set_sample(p->out, part, lra_saved_sample(old, part));
        if (t && keep) t->there = true;
    }
    const char *shuffled = lra_cache_value(old, "shuffled");
    int end = shuffled ? (int)strcspn(shuffled, "\n") : 0;
    if (shuffled) lra_probe_result_set(p->out, "shuffled", "%.*s", end, shuffled);
}

static int save(const lra_influence *p, lra_err *e)
{
    lra_cache_sort(p->out);
    char *path = lra_format("%s/influence.h5", p->run->folder);
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
        rc = t->is->measure(p, t->examples, e);
        const char *equal = causal(p) ? "past" : "both";
        if (rc == 0) lra_cache_set(p->out, t->is, t->examples, p->head_groups, equal);
        if (rc == 0) lra_saved_set_sample(p->out, t->is, (int64_t)p->spec.sample_seed);
        if (rc == 0) rc = save(p, e);
        if (rc != 0) lra_fail_in(e, "part '%s'", t->is->name);
    }
    return rc;
}

/* If distance limits per layer are undefined for the model, part context may be defined. */
static const char *pointer_of(const lra_influence *p, const task *list)
{
    bool limits = list[0].is == &lra_part_cut || list[0].is == &lra_part_heads;
    bool model = lra_model_unlimited(p->spec.model, p->spec.model_config) != NULL;
    return limits && model && !lra_part_context.undefined(p)
               ? "; '--parts context' limits the whole model"
               : "";
}

/* For one run, at least one requested part must be defined (a budget may be too small for any);
 * among several runs, others may have it. */
static int check_defined(const lra_influence *p, int n, const task *list, const lra_options *o,
                         lra_err *e)
{
    bool any = lra_option_n_args(o) > 1;
    for (int i = 0; i < n; i++) any = any || !list[i].undefined;
    return any || n == 0
               ? 0
               : lra_fail_usage(e, "part '%s' of run '%s' is undefined: %s%s", list[0].is->name,
                                p->run->folder, list[0].undefined, pointer_of(p, list));
}

static int ask(lra_influence *p, const lra_options *o, lra_err *e)
{
    task list[MOST_PARTS];
    lra_origin origin;
    int n = choose(p, o, list);
    char *path = lra_format("%s/influence.h5", p->run->folder);
    lra_probe_origin(&p->device, &origin);
    p->out = lra_probe_result_new("influence", p->run->result, &origin);
    bool there = lra_file_exists(path);
    lra_probe_result *old = there ? lra_probe_result_read(path, "influence", e) : NULL;
    bool damaged = there && !old && lra_err_cause(e) == LRA_CAUSE_OTHER;
    if (there && !old && !damaged) {
        lra_free(path);
        return LRA_FAILED; /* it may be intact: it is not overwritten */
    }
    if (damaged) lra_warn("%s; all of it is measured again", e->msg);
    if (old) take_over(p, old, n, list, lra_option_flag(o, "force"));
    lra_probe_result_free(old);
    int rc = check_defined(p, n, list, o, e);
    double all = rc == 0 ? print_cost(p, n, list) : 0;
    bool measures = rc == 0 && !lra_option_flag(o, "dry-run") && all > 0;
    if (measures) rc = lra_finished_run_writable(p->run, "influence.h5", e);
    if (measures && rc == 0) {
        p->steps = (lra_steps){.bar = lra_progress_new(p->spec.title, all)};
        rc = measure(p, n, list, e);
        lra_progress_free(p->steps.bar);
        if (rc == 0) lra_note("wrote %s", path);
    }
    lra_free(path);
    return rc;
}

static int probe_run(const char *name, const lra_options *o, bool shuffled, lra_probe_result **to,
                     lra_err *e);

/* Measures the same parts of the run on permuted labels, saves them to that run one by one, and
 * uses them as null values. */
static int ask_shuffled(const lra_influence *p, const char *folder, const lra_options *o,
                        lra_err *e)
{
    lra_probe_result *other = NULL;
    lra_note("the same, trained on permuted labels:");
    int rc = probe_run(folder, o, true, &other, e);
    bool any = rc == 0 && !lra_option_flag(o, "dry-run") && lra_cache_add_shuffled(p->out, other);
    if (any) rc = save(p, e);
    if (any && rc == 0) lra_note("wrote null values to %s/influence.h5", p->run->folder);
    lra_probe_result_free(other);
    return rc;
}

/* shuffled: the run provides null values for another one. LRA_ABSENT: it has none itself. */
static int probe_run(const char *name, const lra_options *o, bool shuffled, lra_probe_result **to,
                     lra_err *e)
{
    lra_finished_run run;
    lra_influence p = {.run = &run, .head_groups = (int)lra_option_int(o, "head-groups")};
    char *other = NULL;
    int lock = -1, rc = lra_finished_run_open(&run, name, NULL, o, e);
    if (rc == 0 && !shuffled) rc = lra_shuffled_find(&run, o, &other, e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    /* The lock covers everything from the reading of influence.h5 to its last update: two commands
     * on one run are serialised, and no measurements are lost. */
    if (rc == 0 && !lra_option_flag(o, "dry-run")) rc = lra_finished_run_lock(&run, &lock, e);
    if (rc == 0) {
        lra_finished_run_spec(&run, &p.spec);
        p.spec.sample_seed = (uint64_t)lra_option_int(o, "sample-seed");
        p.device = run.job.device;
        rc = read_lengths(&p, lra_option_text(o, "lengths"), e);
        if (rc == 0) rc = ask(&p, o, e);
        if (rc == 0 && other) rc = ask_shuffled(&p, other, o, e);
        *to = p.out;
        lra_job_spec_free(&p.spec);
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
    for (int i = 0; i < asked && rc == 0; i++) {
        if (lra_run_is_unfinished(o, lra_option_arg(o, i))) continue;
        rc = probe_run(lra_option_arg(o, i), o, false, &list[n], e);
        rc = lra_run_outcome(o, rc, &failed, e);
        n += list[n] != NULL;
    }
    if (rc == 0 && n == 0 && failed == 0)
        rc = lra_fail_usage(e, "all of %d runs were trained on permuted labels", asked);
    lra_report_input in = {.probes = list, .n_probes = n};
    if (rc == 0 && planned) print_planned();
    if (rc == 0 && n && !dry)
        rc = lra_report_print(&lra_table_influence, stdout, &in, json ? "json" : "text", e);
    json_decref(planned);
    lra_probe_results_free(list, n);
    return rc == 0 ? lra_runs_outcome(o, failed, e) : rc;
}

const lra_probe lra_probe_influence = {
    "influence", "how far away is what a model uses, by limits and gradients", &command, influence};
