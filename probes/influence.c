/* lra-probe influence: what a trained model uses, asked by gradients and by interventions, without
 * training it again.
 *
 * It is made of parts (influence/parts.def): limits of distance in all layers, one by one and head
 * by head, Jacobians, the effective receptive field, features behind replaced blocks, restricted
 * inputs and other lengths, where in the input what counts stands and whether it may be moved,
 * which parts of it work together.  Each says first what it costs, in passes of one example through
 * the network, and is saved as soon as it is measured, to RUN/influence.h5; the same command goes
 * on behind what is there.
 * --budget makes all samples smaller, in proportion; what was used is in the file.
 * Ids of what is measured stand at each part. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/nearest.h"
#include "probes/influence/part.h"
#include "probes/probe.h"
#include "probes/run/option_rows.h"
#include "probes/run/origin.h"
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
    {.name = "dry-run", .kind = LRA_OPTION_FLAG, .help = "prints what it would cost, and ends"},
    LRA_FORCE_OPTION("measures again what is there"),
    LRA_JSON_OPTION("print one JSON document instead of tables"),
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_finished_run_options, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe influence",
    .summary = "Measures how far away what a trained model uses is, by limits and by gradients.",
    .usage = "RUN...",
    .examples = "  lra-probe influence xor-s4d-0123456789abcdef --out lra-out\n"
                "  lra-probe influence lra-out/runs/xor-* --parts cut --examples 500",
    .min_args = 1,
    .max_args = -1,
    .tables = tables,
};

/* ---- what is asked --------------------------------------------------------------------------- */

/* A part as it is asked of a run. */
typedef struct {
    const lra_influence_part *is;
    int64_t examples;
    double passes;
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

static int choose(const lra_influence *p, const lra_options *o, task *list)
{
    const char *wanted = lra_option_text(o, "parts");
    int64_t examples = lra_option_int(o, "examples");
    double all = 0, budget = (double)lra_option_int(o, "budget");
    int n = 0;
    for (int i = 0; lra_influence_part_at(i); i++) {
        task t = {.is = lra_influence_part_at(i)};
        if (wanted && !named(wanted, t.is->name)) continue;
        t.examples = lra_influence_rows(p, examples ? examples : t.is->examples);
        if (t.is->undefined) t.undefined = t.is->undefined(p);
        if (!t.undefined && budget > 0 && t.is->passes(p, 1) > budget)
            t.undefined = "one example takes more passes than the budget";
        if (!t.undefined && t.examples < t.is->least)
            t.undefined = "it takes tokens from another example, and there is one alone";
        if (!t.undefined) all += t.passes = t.is->passes(p, t.examples);
        list[n++] = t;
    }
    for (int i = 0; i < n && budget > 0 && all > budget; i++) {
        if (list[i].undefined) continue;
        list[i].examples = (int64_t)((double)list[i].examples * budget / all);
        int64_t least = list[i].is->least > 1 ? list[i].is->least : 1;
        if (list[i].examples < least) list[i].examples = least;
        list[i].passes = list[i].is->passes(p, list[i].examples);
    }
    return n;
}

static double print_cost(const lra_influence *p, int n, const task *list)
{
    double all = 0;
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

static bool belongs(const char *unit, const char *part)
{
    size_t n = strlen(part);
    return strncmp(unit, part, n) == 0 && (unit[n] == 0 || unit[n] == '.');
}

/* What stands behind "NAME=" in its own line; NULL: there is none. */
static const char *value_of(const char *settings, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = settings; at && *at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, n) == 0 && at[n] == '=') return at + n + 1;
    }
    return NULL;
}

/* 0: there is none. */
static int64_t number_of(const char *settings, const char *name)
{
    const char *at = value_of(settings, name);
    return at ? strtoll(at, NULL, 10) : 0;
}

/* A part was measured, of so many test examples. */
static void set_measured(lra_probe_result *r, const lra_influence_part *part, int64_t examples,
                         int64_t head_groups)
{
    lra_probe_result_set(r, part->name, "%" PRId64, examples);
    if (part == &lra_part_heads) lra_probe_result_set(r, "head-groups", "%" PRId64, head_groups);
}

static void copy_unit(lra_probe_result *to, const lra_probe_unit *from)
{
    lra_probe_unit *u = lra_probe_unit_new(to, from->name);
    for (int i = 0; i < from->n_arrays; i++) {
        const lra_probe_array *a = &from->array[i];
        int64_t n = 1;
        for (int d = 0; d < a->rank; d++) n *= a->dims[d];
        double *x = lra_alloc_array((size_t)n + 1, sizeof *x);
        for (int64_t k = 0; k < n; k++) x[k] = (double)a->value[k];
        lra_probe_unit_array(u, a->name, a->rank, a->dims, x);
        lra_free(x);
    }
    lra_probe_unit_findings(u, from->n_findings, from->finding);
}

/* Takes over what an earlier command left: of these parts where it was measured in the same way, of
 * all others as it is. */
static void take_over(lra_influence *p, const lra_probe_result *old, int n, task *list, bool force)
{
    for (int i = 0; lra_influence_part_at(i); i++) {
        const lra_influence_part *part = lra_influence_part_at(i);
        task *t = NULL;
        for (int k = 0; k < n; k++)
            if (list[k].is == part) t = &list[k];
        const char *at = value_of(old->settings, part->name);
        int64_t examples = number_of(old->settings, part->name);
        bool heads = part == &lra_part_heads;
        int64_t groups = number_of(old->settings, "head-groups");
        bool again = force || (part == &lra_part_length && p->n_lengths) ||
                     (heads && groups != p->head_groups);
        bool keep = t ? !again && at && examples == t->examples : true;
        for (int u = 0; u < old->n_units && keep; u++)
            if (belongs(old->unit[u]->name, part->name)) copy_unit(p->out, old->unit[u]);
        if (keep && at) set_measured(p->out, part, examples, groups);
        if (t && keep) t->there = true;
    }
}

/* Units in the order of the parts, whenever they were measured. */
static void sort_units(lra_probe_result *r)
{
    lra_probe_unit **sorted = lra_alloc_array((size_t)r->n_units + 1, sizeof *sorted);
    int n = 0;
    for (int i = 0; lra_influence_part_at(i); i++)
        for (int u = 0; u < r->n_units; u++)
            if (belongs(r->unit[u]->name, lra_influence_part_at(i)->name)) sorted[n++] = r->unit[u];
    if (n != r->n_units) LRA_BUG("a unit of no part");
    lra_free(r->unit);
    r->unit = sorted;
}

static int save(const lra_influence *p, lra_err *e)
{
    sort_units(p->out);
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
        if (rc == 0) set_measured(p->out, t->is, t->examples, p->head_groups);
        if (rc == 0) rc = save(p, e);
        if (rc != 0) lra_fail_in(e, "part '%s'", t->is->name);
    }
    return rc;
}

/* What a user names of one run must be there to be measured, in part; of several, others may have
 * it. */
static int check_defined(const lra_influence *p, int n, const task *list, const lra_options *o,
                         lra_err *e)
{
    bool any = !lra_option_text(o, "parts") || lra_option_n_args(o) > 1;
    for (int i = 0; i < n; i++) any = any || !list[i].undefined;
    return any || n == 0 ? 0
                         : lra_fail_usage(e, "part '%s' of run '%s' is undefined: %s",
                                          list[0].is->name, p->run->folder, list[0].undefined);
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
    if (there && !old) lra_warn("%s; all of it is measured again", e->msg);
    if (old) take_over(p, old, n, list, lra_option_flag(o, "force"));
    lra_probe_result_free(old);
    int rc = check_defined(p, n, list, o, e);
    double all = rc == 0 ? print_cost(p, n, list) : 0;
    if (rc == 0 && !lra_option_flag(o, "dry-run") && all > 0) {
        p->steps = (lra_steps){.bar = lra_progress_new(p->spec.title, all)};
        rc = measure(p, n, list, e);
        lra_progress_free(p->steps.bar);
        if (rc == 0) lra_note("wrote %s", path);
    }
    lra_free(path);
    return rc;
}

static int probe_run(const char *name, const lra_options *o, lra_probe_result **to, lra_err *e)
{
    lra_finished_run run;
    lra_influence p = {.run = &run, .head_groups = (int)lra_option_int(o, "head-groups")};
    int rc = lra_finished_run_open(&run, name, NULL, o, e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    if (rc == 0) {
        lra_finished_run_spec(&run, &p.spec);
        p.device = run.job.device;
        rc = read_lengths(&p, lra_option_text(o, "lengths"), e);
        if (rc == 0) rc = ask(&p, o, e);
        *to = p.out;
        lra_job_spec_free(&p.spec);
    }
    lra_finished_run_close(&run);
    return rc;
}

static int influence(const lra_options *o, lra_err *e)
{
    int n = lra_option_n_args(o), done = 0;
    const char *parts = lra_option_text(o, "parts");
    int rc = check_names(parts, e);
    lra_probe_result **list = lra_alloc_array((size_t)n, sizeof *list);
    for (; done < n && rc == 0; done++) rc = probe_run(lra_option_arg(o, done), o, &list[done], e);
    lra_report_input in = {.probes = list, .n_probes = done};
    if (rc == 0 && !lra_option_flag(o, "dry-run"))
        rc = lra_report_print(&lra_table_influence, stdout, &in,
                              lra_option_flag(o, "json") ? "json" : "text", e);
    lra_probe_results_free(list, done);
    return rc;
}

const lra_probe lra_probe_influence = {
    "influence", "how far away is what a model uses, by limits and gradients", &command, influence};
