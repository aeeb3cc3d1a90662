/* lra-probe status: prints the state of the runs below --out, whichever process started them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "kernels/base/os/file.h"
#include "kernels/base/os/lock.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/os/terminal.h"
#include "models/training/run_status.h"
#include "probes/probe.h"
#include "probes/run/option_rows.h"
#include "probes/run/run_names.h"
#include "reports/results/result_metric.h"

static const lra_option own[] = {
    {.name = "all", .kind = LRA_OPTION_FLAG, .help = "list finished runs, too, one per line"},
    LRA_OUT_OPTION("folder of the runs"),
    LRA_JSON_OPTION("print all runs as one JSON document"),
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe status",
    .summary =
        "Prints the state of the runs of a folder; runs are named by the settings in which they differ.",
    .usage = "",
    .examples = "  lra-probe status --out lra-out\n  lra-probe status --all --json",
    .max_args = 0,
    .tables = tables,
};

typedef enum { DONE, TRAINING, STOPPED, EMPTY, DAMAGED, UNREADABLE, N_STATES } run_state;
static const char *const state_names[N_STATES] = {"done",  "training", "stopped",
                                                  "empty", "damaged",  "unreadable"};

typedef struct {
    char *name;
    run_state state;
    char *why;            /* reason why a result is damaged or unreadable; NULL in other states */
    bool held;            /* true if a process trains the run */
    lra_lock_owner owner; /* host and id of the process that trains the run */
    bool known;           /* true if `status` was read from the status file of the run */
    lra_run_status status;
    lra_run_identity identity;
    char value[64]; /* metric of a result, for example "accuracy 55.10 %" */
} run;

/* Reads a result and returns its state. A result with wrong contents is DAMAGED. A result that this
 * program cannot read now (newer format, no permission, too little memory) is UNREADABLE and may be
 * intact. */
static run_state read_result(const char *path, run *to)
{
    char value[32];
    lra_err e = {{0}};
    lra_result *r = lra_result_read(path, &e);
    if (!r) {
        to->why = lra_copy_text(e.msg);
        return lra_err_cause(&e) == LRA_CAUSE_OTHER ? DAMAGED : UNREADABLE;
    }
    const lra_metric *m = lra_result_metric(r);
    snprintf(to->value, sizeof to->value, "%s %s", m->name,
             lra_metric_value_text(m, lra_results_value(&r, 1).value, value));
    to->identity = lra_run_identity_of(r);
    lra_result_free(r);
    return DONE;
}

static run read_run(const char *runs, const char *name)
{
    run r = {.name = lra_copy_text(name)};
    char *folder = lra_format("%s/%s", runs, name), *lock = lra_format("%s/lock", folder);
    char *result = lra_format("%s/result.h5", folder),
         *checkpoint = lra_format("%s/checkpoint.h5", folder);
    r.held = lra_lock_held(lock, &r.owner);
    r.state = lra_file_exists(result)       ? read_result(result, &r)
              : r.held                      ? TRAINING
              : lra_file_exists(checkpoint) ? STOPPED
                                            : EMPTY;
    if (r.state != DONE && !r.why) r.known = lra_run_status_read(folder, &r.status);
    if (r.state != DONE) r.identity = lra_run_identity_of_checkpoint(folder);
    lra_free(folder);
    lra_free(lock);
    lra_free(result);
    lra_free(checkpoint);
    return r;
}

/* The first 6 digits of the hash in a folder's name, "03d666", which are usually unique and can be
 * passed to other commands. Empty if the name contains no hash. */
static const char *short_hash(const char *name, char hash[8])
{
    const char *dash = strrchr(name, '-');
    size_t n = dash ? strspn(dash + 1, "0123456789abcdef") : 0;
    snprintf(hash, 8, "%.6s", n == 16 && !dash[1 + n] ? dash + 1 : "");
    return hash;
}

static void print_run(const run *r, const char *says)
{
    char left[32] = "", at[64] = "", hash[8], *name = lra_make_printable(lra_copy_text(r->name));
    if (r->known)
        snprintf(at, sizeof at, "epoch %" PRId64 " of %" PRId64 ", %3.0f %%", r->status.epoch,
                 r->status.epochs,
                 r->status.steps ? 100 * (double)r->status.step / (double)r->status.steps : 0);
    if (r->known && r->state == TRAINING && r->status.left >= 0)
        lra_time_text(left, r->status.left);
    bool named = !r->why && (says || r->known);
    const char *title = r->why ? name : says ? says : r->known ? r->status.title : name;
    char *line = lra_format("%-9s %s%s%-44s %-24s %-20s %s%s", state_names[r->state],
                            named ? short_hash(r->name, hash) : "", named ? " " : "", title, at,
                            r->known ? r->status.value : r->value, left, *left ? " left" : "");
    size_t n = strlen(line);
    while (n && line[n - 1] == ' ') line[--n] = 0;
    printf("%s\n", line);
    lra_free(line);
    if (r->why) printf("          %s\n", r->why);
    lra_free(name);
}

static void print_counts(const int count[N_STATES], int n, double longest)
{
    char text[32];
    printf("%d run%s: %d done, %d training, %d stopped, %d empty", n, n == 1 ? "" : "s",
           count[DONE], count[TRAINING], count[STOPPED], count[EMPTY]);
    if (count[DAMAGED])
        printf(
            ", %d damaged (move result.h5 away; the command that trained the run makes it again)",
            count[DAMAGED]);
    if (count[UNREADABLE])
        printf(", %d unreadable for the reason above (the results may be intact)",
               count[UNREADABLE]);
    if (longest >= 0) printf("; the runs in training need %s more", lra_time_text(text, longest));
    printf("\n");
}

static void print_text(const run *all, char *const *says, int n, bool finished_too)
{
    int count[N_STATES] = {0};
    double longest = -1;
    for (int i = 0; i < n; i++) {
        count[all[i].state]++;
        if (all[i].state == TRAINING && all[i].known) longest = fmax(longest, all[i].status.left);
        if (finished_too || all[i].state != DONE) print_run(&all[i], says[i]);
    }
    print_counts(count, n, longest);
}

static json_t *json_settings(const lra_config *c)
{
    json_t *all = json_object();
    for (int i = 0; lra_config_key(c, i); i++) {
        char *value = lra_make_printable(lra_copy_text(lra_config_value(c, i)));
        char *key = lra_make_printable(lra_copy_text(lra_config_key(c, i)));
        json_object_set_new(all, key, json_string(value));
        lra_free(key);
        lra_free(value);
    }
    return all;
}

/* Adds name, task, model, seed, label and settings of a run to its JSON object. */
static void add_identity(json_t *o, const lra_run_identity *identity, const char *says)
{
    static const char *const texts[] = {"task", "model"};
    char *label = lra_make_printable(lra_copy_text(identity->label));
    json_object_set_new(o, "name", json_string(says));
    for (int k = 0; k < 2; k++) {
        char *text = lra_make_printable(
            lra_copy_text(lra_config_text_or(identity->config, texts[k], "")));
        json_object_set_new(o, texts[k], json_string(text));
        lra_free(text);
    }
    json_object_set_new(o, "seed",
                        json_integer((json_int_t)lra_config_real_or(identity->config, "seed", 0)));
    json_object_set_new(o, "label", *label ? json_string(label) : json_null());
    json_object_set_new(o, "settings", json_settings(identity->config));
    lra_free(label);
}

static void add_progress(json_t *o, const lra_run_status *s)
{
    json_object_set_new(o, "title", json_string(s->title));
    json_object_set_new(o, "value", json_string(s->value));
    json_object_set_new(o, "epoch", json_integer(s->epoch));
    json_object_set_new(o, "epochs", json_integer(s->epochs));
    json_object_set_new(o, "step", json_integer(s->step));
    json_object_set_new(o, "steps", json_integer(s->steps));
    json_object_set_new(o, "seconds_left", s->left >= 0 ? json_real(s->left) : json_null());
}

static void print_json(const run *all, char *const *says, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        const run *r = &all[i];
        char *name = lra_make_printable(
            /* JSON must be valid UTF-8, but folder names can contain any bytes */
            lra_copy_text(r->name));
        json_t *o = json_pack("{s:s, s:s}", "run", name, "state", state_names[r->state]);
        lra_free(name);
        if (says[i]) add_identity(o, &r->identity, says[i]);
        if (r->why) json_object_set_new(o, "reason", json_string(r->why));
        if (r->held) json_object_set_new(o, "process", json_integer(r->owner.pid));
        if (r->held && *r->owner.host) json_object_set_new(o, "host", json_string(r->owner.host));
        if (*r->value) json_object_set_new(o, "test", json_string(r->value));
        if (r->known) add_progress(o, &r->status);
        json_array_append_new(list, o);
    }
    json_t *document = json_pack("{s:o}", "runs", list);
    json_dumpf(document, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(document);
}

/* Prints the runs, named by the settings in which they differ; as text, finished runs only with
 * --all. */
static void print_runs(const lra_options *o, const run *all, int n)
{
    lra_run_identity *identity = lra_alloc_array((size_t)n + 1, sizeof *identity);
    for (int i = 0; i < n; i++) identity[i] = all[i].identity;
    char **says = lra_run_names(n, identity);
    if (lra_option_flag(o, "json"))
        print_json(all, says, n);
    else
        print_text(all, says, n, lra_option_flag(o, "all"));
    for (int i = 0; i < n; i++) lra_free(says[i]);
    lra_free(says);
    lra_free(identity);
}

static int status(const lra_options *o, lra_err *e)
{
    const char *out = lra_option_text(o, "out");
    char *runs = lra_format("%s/runs", out), **name = NULL;
    int n = 0, rc = 0;
    if (!lra_is_folder(out)) rc = lra_fail(e, "there is no folder '%s'", out);
    if (rc == 0 && lra_is_folder(runs)) n = lra_folder_list(runs, &name, e);
    if (n < 0) rc = LRA_FAILED, n = 0;
    if (rc == 0 && !lra_is_folder(runs))
        lra_note(
            "'%s' has no folder 'runs'; expected the folder that 'lra-probe train' has as --out",
            out);
    run *all = lra_alloc_array((size_t)n, sizeof *all);
    int found = 0;
    for (int i = 0; i < n; i++) {
        char *folder = lra_format("%s/%s", runs, name[i]);
        if (lra_is_folder(folder)) all[found++] = read_run(runs, name[i]);
        lra_free(folder);
    }
    if (rc == 0) print_runs(o, all, found);
    for (int i = 0; i < found; i++) {
        lra_run_identity_free(&all[i].identity);
        lra_free(all[i].name);
        lra_free(all[i].why);
    }
    lra_free(all);
    lra_names_free(name, n);
    lra_free(runs);
    return rc;
}

const lra_probe lra_probe_status = {"status", "shows the state of runs and the remaining time",
                                    &command, status};
