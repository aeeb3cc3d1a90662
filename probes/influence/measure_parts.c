/* Selects parts, announces their cost, measures and saves them (measure_parts.h). */
#include "probes/influence/measure_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "kernels/base/core/printable.h"
#include "kernels/cpu/device.h"
#include "probes/influence/cache.h"
#include "probes/influence/registry.h"
#include "probes/run/origin.h"

enum { MOST_PARTS = 32 };

const lra_option lra_influence_sampling_options[] = {
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

int lra_influence_check_names(const char *list, lra_err *e)
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

int lra_influence_check_options(const lra_influence *p, lra_err *e)
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
            "its smallest sample costs more than remains of the budget after the other parts";
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
        int64_t most = !p->engine && t.is->examples_by_requests ? t.is->examples_by_requests
                                                                : t.is->examples;
        t.wanted = t.examples = lra_influence_rows(p, examples ? examples : most);
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
    json_array_append_new(p->planned, json_pack("{s:s, s:o}", "run", run, "parts", parts));
    lra_free(run);
}

static double print_cost(const lra_influence *p, int n, const task *list)
{
    double all = 0;
    if (p->planned) add_planned(p, n, list);
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
    lra_free(p->out->left_out);
    p->out->left_out = lra_copy_text(old->left_out);
    if (!p->checks) lra_model_checks_copy(&p->out->checks, &old->checks);
}

int lra_influence_save(const lra_influence *p, lra_err *e)
{
    if (p->unsaved) return 0;
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
        int before = p->out->n_units;
        rc = lra_part_measure(t->is, p, t->examples, e);
        /* The model does not answer a request of the part; or the answers are placeholders
         * (planning of an audit) and the part cannot use them. */
        if (rc == LRA_ABSENT || (rc != 0 && p->unsaved)) {
            lra_note("part '%s' is left out: %s", t->is->name, e->msg);
            lra_probe_result_cut(p->out, before);
            lra_probe_result_leave_out(p->out, t->is->name, e->msg);
            rc = before ? lra_influence_save(p, e) : 0;
            continue;
        }
        if (rc == 0) lra_cache_record(p->out, t->is, p, t->examples);
        if (rc == 0) rc = lra_influence_save(p, e);
        if (rc != 0) lra_fail_in(e, "part '%s'", t->is->name);
    }
    return rc;
}

/* Fails if none of the requested parts is defined (all of them can be too expensive for the
 * budget), unless `optional` is set. */
static int check_defined(const lra_influence *p, bool optional, int n, const task *list, lra_err *e)
{
    bool any = n == 0 || optional;
    for (int i = 0; i < n; i++) any = any || !list[i].undefined;
    if (any) return 0;
    bool usable = p->engine || !list[0].is->engine; /* parts of the engine use its graphs */
    const char *hint = usable && list[0].is->hint ? list[0].is->hint(p) : NULL;
    return lra_fail_usage(e, "part '%s' of run '%s' is undefined: %s%s%s", list[0].is->name,
                          p->folder, list[0].undefined, hint ? "; " : "", hint ? hint : "");
}

int lra_influence_measure(lra_influence *p, bool optional, lra_err *e)
{
    const lra_options *o = p->options;
    task list[MOST_PARTS];
    lra_origin origin;
    int n = choose(p, o, list);
    char *path = lra_format("%s/influence.h5", p->to);
    lra_device here;
    if (lra_cpu_device(&here, 1, e) != 0) return LRA_FAILED;
    lra_probe_origin(p->engine ? &p->engine->device : &here, &origin);
    p->out = lra_probe_result_new("influence", p->result, &origin);
    char *from = lra_file_exists(path) ? lra_copy_text(path)
                                       : lra_format("%s/influence.h5", p->folder);
    bool there = !p->unsaved && lra_file_exists(from);
    lra_probe_result *old = there ? lra_probe_result_read(from, "influence", e) : NULL;
    lra_free(from);
    bool damaged = there && !old && lra_err_cause(e) == LRA_CAUSE_OTHER;
    if (there && !old && !damaged) {
        lra_free(path);
        return LRA_FAILED; /* the file may be intact, so it is not overwritten */
    }
    if (damaged) lra_warn("%s; all parts are measured again", e->msg);
    if (p->checks) lra_model_checks_copy(&p->out->checks, p->checks);
    if (old) take_over(p, old, n, list, lra_option_flag(o, "force"));
    /* a file with measurements whose checks are missing or had other outcomes is written again */
    bool checked = old && p->checks && !lra_model_checks_agree(&old->checks, p->checks);
    lra_probe_result_free(old);
    for (int i = 0; i < n; i++)
        lra_probe_result_leave_out(p->out, list[i].is->name, list[i].undefined);
    for (const char *const *at = p->other_parts; at && *at; at += 2)
        lra_probe_result_leave_out(p->out, at[0], at[1]);
    int rc = check_defined(p, optional, n, list, e);
    double all = rc == 0 ? print_cost(p, n, list) : 0;
    bool dry = lra_option_flag(o, "dry-run") && !p->unsaved; /* a plan counts all requests */
    bool measures = rc == 0 && !dry && all > 0;
    if (measures && p->run) rc = lra_finished_run_writable(p->run, "influence.h5", e);
    if (measures && rc == 0) {
        p->steps = (lra_steps){.bar = lra_progress_new(p->subject.title, all)};
        rc = measure(p, n, list, e);
        lra_progress_free(p->steps.bar);
        if (rc == 0) lra_note("wrote %s", path);
    } else if (rc == 0 && all == 0 && !dry) {
        if (checked) rc = lra_influence_save(p, e);
        if (lra_file_exists(path))
            lra_note("%s: %s", checked ? "new checks, measurements unchanged" : "unchanged", path);
    }
    lra_free(path);
    return rc;
}
