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
#include "datasets/prepare.h"
#include "kernels/base/core/version.h"
#include "kernels/base/cli/program.h"
#include "probes/run/failure.h"
#include "probes/run/finished_run.h"
#include "probes/run/option_rows.h"
#include "probes/run/plan_file.h"
#include "probes/run/run_names.h"
#include "probes/run/sources.h"
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

enum { MOST_WAITING = 10 }; /* number of waiting runs that are listed without --all */

/* WAITING: a cell of a sweep that has not started. FAILED: it has a failure file (failure.h). */
typedef enum {
    DONE,
    TRAINING,
    STOPPED,
    EMPTY,
    DAMAGED,
    UNREADABLE,
    FAILED,
    WAITING,
    N_STATES
} run_state;
static const char *const state_names[N_STATES] = {"done",    "training",   "stopped", "empty",
                                                  "damaged", "unreadable", "failed",  "waiting"};

typedef struct {
    char *name, *folder; /* folder: NULL for a cell that depends on trials */
    run_state state;
    /* reason why a result is damaged or unreadable, or a run failed; NULL in other states */
    char *why;
    char *cell;           /* name in the plan of its sweep. NULL: there is no such plan */
    double planned;       /* planned duration in seconds; 0: unknown */
    double seconds;       /* duration of a finished run */
    bool other_revision;  /* another revision of the program trained it */
    bool stale;           /* trained with other sources of its model or its ops */
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
    to->seconds = r->training.seconds;
    to->other_revision = !r->origin.revision || strcmp(r->origin.revision, lra_revision()) != 0;
    lra_result_free(r);
    return DONE;
}

static run read_run(const char *runs, const char *name)
{
    run r = {.name = lra_copy_text(name), .folder = lra_format("%s/%s", runs, name)};
    char *folder = lra_copy_text(r.folder), *lock = lra_format("%s/lock", folder);
    char *result = lra_format("%s/result.h5", folder),
         *checkpoint = lra_format("%s/checkpoint.h5", folder);
    r.held = lra_lock_held(lock, &r.owner);
    lra_run_failure failure;
    r.state = lra_file_exists(result)                  ? read_result(result, &r)
              : r.held                                 ? TRAINING
              : lra_run_failure_read(folder, &failure) ? FAILED
              : lra_file_exists(checkpoint)            ? STOPPED
                                                       : EMPTY;
    if (r.state == FAILED) r.why = lra_run_failure_text(&failure);
    bool started = r.state == TRAINING || r.state == STOPPED || r.state == EMPTY;
    if (started) r.known = lra_run_status_read(folder, &r.status);
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

/* Name of a run in text: of a cell of a sweep that is not finished its title or its name in the
 * sweep, else its settings, its title, or its folder. */
static const char *title_of(const run *r, const char *says)
{
    const char *title = r->known ? r->status.title : NULL;
    if (r->state == DAMAGED || r->state == UNREADABLE) return r->name;
    if (r->cell && r->state != DONE) return title ? title : r->cell;
    return says ? says : title ? title : r->name;
}

static void print_run(const run *r, const char *says)
{
    char left[32] = "", at[64] = "", hash[8], owner[128] = "", time[32];
    char *title = lra_make_printable(lra_copy_text(title_of(r, says)));
    if (r->known)
        snprintf(at, sizeof at, "epoch %" PRId64 " of %" PRId64 ", %3.0f %%", r->status.epoch,
                 r->status.epochs,
                 r->status.steps ? 100 * (double)r->status.step / (double)r->status.steps : 0);
    if (r->state == TRAINING) lra_lock_owner_text(&r->owner, owner);
    if (r->known && r->state == TRAINING && r->status.left >= 0)
        snprintf(left, sizeof left, "%s left", lra_time_text(time, r->status.left));
    bool named = strcmp(title, r->name) != 0;
    char *line = lra_format("%-9s %s%s%-44s %-24s %-20s %-14s %s", state_names[r->state],
                            named ? short_hash(r->name, hash) : "", named && *hash ? " " : "",
                            title, at, r->known ? r->status.value : r->value, left,
                            r->stale ? "other sources" : owner);
    size_t n = strlen(line);
    while (n && line[n - 1] == ' ') line[--n] = 0;
    printf("%s\n", line);
    lra_free(line);
    if (r->why) printf("          %s\n", r->why);
    lra_free(title);
}

static void print_counts(const int count[N_STATES], int n, int stale)
{
    printf("%d run%s: %d done, %d training, %d stopped, %d empty", n, n == 1 ? "" : "s",
           count[DONE], count[TRAINING], count[STOPPED], count[EMPTY]);
    if (count[FAILED])
        printf(", %d failed (--retry of the same sweep trains %s again)", count[FAILED],
               count[FAILED] == 1 ? "it" : "them");
    if (count[WAITING]) printf(", %d waiting", count[WAITING]);
    if (count[DAMAGED])
        printf(
            ", %d damaged (move result.h5 away; the command that trained the run makes it again)",
            count[DAMAGED]);
    if (count[UNREADABLE])
        printf(", %d unreadable for the reason above (the results may be intact)",
               count[UNREADABLE]);
    printf("\n");
    if (stale)
        printf("%d finished run%s trained with other sources of the model or its ops (--all marks "
               "them); 'lra-probe train ... --force' trains one again\n",
               stale, stale == 1 ? " was" : "s were");
}

/* ---- remaining time -------------------------------------------------------------------------- */

/* Length of TASK-MODEL in the name of a folder, TASK-MODEL-HASH; 0: no such name. */
static size_t pair_length(const char *folder)
{
    const char *slash = folder ? strrchr(folder, '/') : NULL,
               *dash = slash ? strrchr(slash, '-') : NULL;
    return dash ? (size_t)(dash - slash - 1) : 0;
}

static bool is_same_pair(const run *a, const run *b)
{
    size_t n = pair_length(a->folder);
    return n > 0 && n == pair_length(b->folder) &&
           strncmp(strrchr(a->folder, '/'), strrchr(b->folder, '/'), n + 1) == 0;
}

/* Expected duration of a run: the mean of finished runs of the same task and model, else its
 * planned duration. NAN: unknown. */
static double expected_seconds(const run *all, int n, const run *r)
{
    double sum = 0;
    int found = 0;
    for (int i = 0; i < n; i++)
        if (all[i].state == DONE && is_same_pair(&all[i], r)) sum += all[i].seconds, found++;
    return found ? sum / found : r->planned > 0 ? r->planned : NAN;
}

/* Time that the runs in training, stopped and waiting need. unknown: number of runs whose duration
 * is unknown; longest: of a run in training. */
typedef struct {
    double seconds, longest;
    int workers, remaining, unknown;
} remaining_time;

static remaining_time time_left(const run *all, int n)
{
    remaining_time t = {0};
    for (int i = 0; i < n; i++) {
        const run *r = &all[i];
        double share = r->known && r->status.steps
                           ? 1 - (double)r->status.step / (double)r->status.steps
                           : 1;
        if (r->state != TRAINING && r->state != STOPPED && r->state != WAITING) continue;
        bool reported = r->state == TRAINING && r->known && r->status.left >= 0;
        double left = reported ? r->status.left : share * expected_seconds(all, n, r);
        t.remaining++;
        t.workers += r->state == TRAINING;
        if (isnan(left))
            t.unknown++;
        else
            t.seconds += left;
        if (r->state == TRAINING && !isnan(left)) t.longest = fmax(t.longest, left);
    }
    return t;
}

/* Seconds until all runs are done, if the present number of runs is trained at a time. NAN: nothing
 * is in training. */
static double seconds_until_done(const remaining_time *t)
{
    return t->workers ? fmax(t->longest, t->seconds / t->workers) : NAN;
}

static void print_time(const run *all, int n)
{
    char text[32], unknown[64] = "";
    remaining_time t = time_left(all, n);
    if (t.remaining == 0 || t.unknown == t.remaining) return;
    if (t.unknown) snprintf(unknown, sizeof unknown, ", without %d of unknown duration", t.unknown);
    if (t.workers)
        printf("about %s until the %d unfinished runs are done, %d at a time%s\n",
               lra_time_text(text, seconds_until_done(&t)), t.remaining, t.workers, unknown);
    else
        printf("about %s of training remain for %d runs%s; nothing is in training\n",
               lra_time_text(text, t.seconds), t.remaining, unknown);
}

static void print_text(const run *all, char *const *says, int n, bool finished_too)
{
    int count[N_STATES] = {0}, stale = 0;
    for (int i = 0; i < n; i++) {
        count[all[i].state]++;
        stale += all[i].stale;
        bool waits = all[i].state == WAITING && count[WAITING] > MOST_WAITING && !finished_too;
        if ((finished_too || all[i].state != DONE) && !waits) print_run(&all[i], says[i]);
    }
    if (count[WAITING] > MOST_WAITING && !finished_too)
        printf("waiting   ... %d more\n", count[WAITING] - MOST_WAITING);
    print_counts(count, n, stale);
    print_time(all, n);
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
        if (r->cell) json_object_set_new(o, "cell", json_string(r->cell));
        if (r->state == DONE) json_object_set_new(o, "seconds", json_real(r->seconds));
        if (r->state == DONE) json_object_set_new(o, "other_sources", json_boolean(r->stale));
        if (r->why) json_object_set_new(o, "reason", json_string(r->why));
        if (r->held) json_object_set_new(o, "process", json_integer(r->owner.pid));
        if (r->held && *r->owner.host) json_object_set_new(o, "host", json_string(r->owner.host));
        if (*r->value) json_object_set_new(o, "test", json_string(r->value));
        if (r->known) add_progress(o, &r->status);
        json_array_append_new(list, o);
    }
    remaining_time t = time_left(all, n);
    json_t *document = json_pack("{s:o}", "runs", list);
    double seconds = seconds_until_done(&t);
    json_object_set_new(document, "seconds_left",
                        isnan(seconds) || t.unknown ? json_null() : json_real(seconds));
    json_object_set_new(document, "training_seconds_left",
                        t.unknown ? json_null() : json_real(t.seconds));
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

/* ---- all runs -------------------------------------------------------------------------------- */

typedef struct {
    run *list;
    int n;
} runs;

static run *add_run(runs *all, run r)
{
    all->list = lra_resize(all->list, (size_t)(all->n + 1) * sizeof *all->list);
    all->list[all->n] = r;
    return &all->list[all->n++];
}

/* Adds the runs of a folder. */
static int add_folder(runs *all, const char *folder, lra_err *e)
{
    char **name = NULL;
    int n = lra_is_folder(folder) ? lra_folder_list(folder, &name, e) : 0;
    if (n < 0) return LRA_FAILED;
    for (int i = 0; i < n; i++) {
        char *path = lra_format("%s/%s", folder, name[i]);
        if (lra_is_folder(path)) add_run(all, read_run(folder, name[i]));
        lra_free(path);
    }
    lra_names_free(name, n);
    return 0;
}

/* The run with this folder, or NULL. */
static run *run_in(const runs *all, const char *folder)
{
    for (int i = 0; i < all->n; i++)
        if (all->list[i].folder && strcmp(all->list[i].folder, folder) == 0) return &all->list[i];
    return NULL;
}

/* Adds the cells of sweeps that have not started, and names those that have. */
static void add_planned(runs *all, const char *out)
{
    lra_planned_cell *cell;
    int n = lra_plan_files_read(out, &cell);
    for (int i = 0; i < n; i++) {
        const char *folder = cell[i].folder;
        run *r = folder ? run_in(all, folder) : NULL;
        if (!r)
            r = add_run(all, (run){.name = lra_copy_text(folder ? strrchr(folder, '/') + 1 : "-"),
                                   .folder = folder ? lra_copy_text(folder) : NULL,
                                   .state = WAITING});
        if (r->state == EMPTY) r->state = WAITING;
        if (!r->cell) r->cell = lra_copy_text(cell[i].name);
        r->planned = cell[i].seconds;
    }
    lra_planned_cells_free(cell, n);
}

/* True if the run was trained with other sources; false if its data are not stored. */
static bool is_stale(const run *r, const lra_options *o)
{
    lra_err ignored;
    lra_finished_run f = {0};
    char *differs = NULL;
    if (lra_finished_run_open(&f, r->folder, NULL, o, &ignored) == 0 && *f.result->sources) {
        lra_dataset *data = lra_dataset_find(f.job.task, f.job.task_config, f.out,
                                             f.result->fingerprint);
        if (data && lra_job_use_data(&f.job, data, &ignored) == 0)
            differs = lra_job_sources_differ(&f.job, f.result);
    }
    lra_finished_run_close(&f);
    bool stale = differs != NULL;
    lra_free(differs);
    return stale;
}

/* True if two finished runs differ only in their seed. */
static bool is_seed_of(const run *a, const run *b)
{
    const lra_config *x = a->identity.config, *y = b->identity.config;
    for (int i = 0;; i++) {
        const char *k = lra_config_key(x, i), *l = lra_config_key(y, i);
        if (!k || !l) return !k && !l;
        if (strcmp(k, l) != 0) return false;
        if (strcmp(k, "seed") && strcmp(lra_config_value(x, i), lra_config_value(y, i)) != 0)
            return false;
    }
}

/* Marks finished runs that were trained with other sources. Runs of this revision are not, and
 * seeds of a configuration share the answer. */
static void mark_stale(runs *all, const char *out)
{
    static const lra_option *const of_runs[] = {lra_finished_run_options, lra_common_options, NULL};
    static const lra_command finished = {.program = "lra-probe status",
                                         .summary = "",
                                         .usage = "RUN...",
                                         .examples = "",
                                         .max_args = -1,
                                         .tables = of_runs};
    lra_err ignored;
    char *word = lra_format("--out=%s", out), *words[] = {word, NULL};
    lra_options *o = lra_options_parse(&finished, 1, words, &ignored);
    for (int i = 0; i < all->n && o; i++) {
        run *r = &all->list[i];
        int same = 0;
        if (r->state != DONE || !r->other_revision) continue;
        while (same < i && !(all->list[same].state == DONE && all->list[same].other_revision &&
                             is_seed_of(&all->list[same], r)))
            same++;
        r->stale = same < i ? all->list[same].stale : is_stale(r, o);
    }
    lra_options_free(o);
    lra_free(word);
}

static void free_runs(runs *all)
{
    for (int i = 0; i < all->n; i++) {
        lra_run_identity_free(&all->list[i].identity);
        lra_free(all->list[i].name);
        lra_free(all->list[i].folder);
        lra_free(all->list[i].cell);
        lra_free(all->list[i].why);
    }
    lra_free(all->list);
}

static int status(const lra_options *o, lra_err *e)
{
    const char *out = lra_option_text(o, "out");
    char *folder = lra_format("%s/runs", out), *trials = lra_format("%s/trials", out);
    runs all = {0};
    int rc = lra_is_folder(out) ? 0 : lra_fail(e, "there is no folder '%s'", out);
    if (rc == 0 && !lra_is_folder(folder) && !lra_is_folder(trials))
        lra_note(
            "'%s' has no folder 'runs'; expected the folder that 'lra-probe train' has as --out",
            out);
    if (rc == 0) rc = add_folder(&all, folder, e);
    if (rc == 0) rc = add_folder(&all, trials, e);
    if (rc == 0) {
        add_planned(&all, out);
        mark_stale(&all, out);
        print_runs(o, all.list, all.n);
    }
    free_runs(&all);
    lra_free(folder);
    lra_free(trials);
    return rc;
}

const lra_probe lra_probe_status = {"status", "shows the state of runs and the remaining time",
                                    &command, status};
