/* Finds and loads finished runs (finished_run.h). */
#include "probes/run/finished_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/os/lock.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "kernels/cpu/device.h"
#include "models/training/settings.h"
#include "probes/run/option_rows.h"
#include "probes/run/settings.h"
#include "reports/views/run_names.h"

const lra_option lra_finished_run_options[] = {
    LRA_OUT_OPTION("folder in which runs are found by name; measurements of a read-only run of "
                   "another folder are written to DIR/probes"),
    LRA_LOCK_OPTIONS,
    LRA_DATA_DIR_OPTION(", needed if the run's data were imported and are no longer stored"),
    LRA_THREADS_OPTION("automatic"),
    {.name = NULL}};

/* ---- measurement ----------------------------------------------------------------------------- */

static char *parent_of(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    while (n > 0 && path[n - 1] != '/') n--;
    while (n > 1 && path[n - 1] == '/') n--;
    return n ? lra_format("%.*s", (int)n, path) : lra_copy_text(".");
}

static int no_such_run(const char *name, const char *out, lra_err *e)
{
    const char *word = strrchr(name, '/');
    bool path = word && word[1];
    char **names = NULL, *parent = path ? parent_of(name) : lra_format("%s/runs", out);
    int n = lra_is_folder(parent) ? lra_folder_list(parent, &names, NULL) : 0;
    char *show = lra_format("ls %s", parent);
    int rc = n > 0 ? lra_fail_unknown(e, "run", path ? word + 1 : name, n,
                                      (const char *const *)names, show)
                   : lra_fail_usage(e, "there is no run '%s', nor any run in '%s'", name, parent);
    if (n >= 0) lra_names_free(names, n);
    lra_free(parent);
    lra_free(show);
    return rc;
}

static bool holds(const char *folder, const char *name)
{
    char *path = lra_format("%s/%s", folder, name);
    bool there = lra_file_exists(path);
    lra_free(path);
    return there;
}

static bool is_run(const char *folder)
{
    return holds(folder, "result.h5") || holds(folder, "best.h5") || holds(folder, "checkpoint.h5");
}

/* Number of runs in FOLDER followed by `below` ("" or a subfolder such as "/runs"). */
static int count_runs(const char *folder, const char *below)
{
    char **names = NULL, *in = lra_format("%s%s", folder, below);
    int n = lra_is_folder(in) ? lra_folder_list(in, &names, NULL) : 0, runs = 0;
    for (int i = 0; i < n; i++) {
        char *path = lra_format("%s/%s", in, names[i]);
        runs += lra_is_folder(path) && is_run(path);
        lra_free(path);
    }
    if (n >= 0) lra_names_free(names, n);
    lra_free(in);
    return runs;
}

/* Checks that the folder is a run; if it is not, names the runs that exist. */
static int check_folder(const char *folder, const char *name, lra_err *e)
{
    if (is_run(folder)) return 0;
    if (!lra_is_folder(name))
        return lra_fail(e, "'%s' does not belong to a run; expected the folder of a run", name);
    int n = (int)strlen(folder), own = count_runs(folder, ""), below = count_runs(folder, "/runs");
    while (n > 1 && folder[n - 1] == '/') n--;
    if (own)
        return lra_fail(
            e, "'%s' is not the folder of a run, but contains runs: '%.*s/*' selects all %d", name,
            n, folder, own);
    if (below)
        return lra_fail(
            e,
            "'%s' is not the folder of a run; its runs are in '%.*s/runs': '%.*s/runs/*' selects "
            "all %d",
            name, n, folder, n, folder, below);
    return lra_fail(e, "'%s' is not the folder of a run (no result.h5, no checkpoint)", name);
}

int lra_finished_run_find(const char *name, const char *out, char **folder, lra_err *e)
{
    char *below = lra_format("%s/runs/%s", out, name), *found = NULL;
    bool here = lra_file_exists(name);
    if (here && !lra_is_folder(name)) lra_h5_distrust(name);
    e->msg[0] = 0;
    if (here)
        found = lra_is_folder(name) ? lra_copy_text(name) : parent_of(name);
    else
        /* fails with a message in e if several runs have that hash */
        found = lra_run_by_name(name, out, e);
    if (!found && *e->msg) {
        lra_free(below);
        return LRA_USAGE;
    }
    int rc = found ? check_folder(found, here ? name : below, e) : no_such_run(name, out, e);
    for (size_t n = found ? strlen(found) : 0; n > 1 && found[n - 1] == '/';) found[--n] = 0;
    if (rc != 0) lra_free(found);
    *folder = rc == 0 ? found : NULL;
    lra_free(below);
    return rc;
}

/* Returns what the user can do about an unreadable result. It advises to move the file away only if
 * its contents are wrong, so that no intact file is lost. */
static const char *advice_of(const lra_err *why)
{
    switch (lra_err_cause(why)) {
    case LRA_CAUSE_NEWER: return "read it with a newer version of this program";
    case LRA_CAUSE_ACCESS: return "this user has no permission to read it";
    case LRA_CAUSE_MEMORY: return "the file may be intact: try again when more memory is free";
    case LRA_CAUSE_SYSTEM: return "the file may be intact: try again";
    case LRA_CAUSE_OTHER: break;
    }
    return "move it away; the command that trained the run makes it again";
}

lra_result *lra_finished_run_result(const char *path, lra_err *e)
{
    lra_result *r = lra_result_read(path, e);
    if (r) return r;
    lra_err why = *e;
    lra_fail_as(e, lra_err_cause(&why), "%s; %s", why.msg, advice_of(&why));
    return NULL;
}

bool lra_finished_run_done(const char *path)
{
    lra_err e;
    if (!lra_file_exists(path)) return false;
    lra_h5 *f = lra_h5_open(path, "result", &e);
    lra_h5_close(f);
    if (!f) lra_warn("%s; %s", e.msg, advice_of(&e));
    return f;
}

static int read_result(lra_finished_run *r, lra_err *e)
{
    char *path = lra_format("%s/result.h5", r->folder);
    int rc = 0;
    if (!lra_file_exists(path))
        rc = lra_fail(e,
                      "run '%s' is not finished (no result.h5); the command that started it "
                      "resumes it",
                      r->folder);
    else
        rc = (r->result = lra_finished_run_result(path, e)) ? 0 : LRA_FAILED;
    lra_free(path);
    return rc;
}

/* ---- the job --------------------------------------------------------------------------------- */

/* Checks that the hash of a run is that of its stored configuration text, whatever version wrote
 * it. */
static int check_hash(const lra_result *r, lra_err *e)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, lra_hash64(r->config, strlen(r->config)));
    if (strcmp(hash, r->run) == 0) return 0;
    return lra_fail(e, "the hash of its configuration is %s, but the result states %s", hash,
                    r->run);
}

/* Applies one line "PREFIX.key=value" of a stored configuration. */
static int apply_line(lra_config *c, const lra_key *keys, const char *name, const char *value,
                      lra_err *e)
{
    const lra_key *k = lra_key_find(keys, strchr(name, '.') + 1);
    char *text = k ? lra_key_text(k, value, e) : NULL;
    if (text) lra_config_set(c, k->name, text);
    lra_free(text);
    return text ? 0 : LRA_FAILED;
}

/* Applies all lines of a stored configuration. Runs of older versions can contain settings of other
 * schedules and objectives than their own; these are ignored. */
static int apply_lines(lra_job *j, const lra_config *lines, lra_err *e)
{
    const struct {
        const char *prefix;
        const lra_key *keys;
        lra_config *values;
    } tables[] = {{"task.", j->task->keys, j->task_config},
                  {"model.", j->model->keys, j->model_config},
                  {"train.", lra_train_keys, j->train_config},
                  {"train.", j->schedule->keys, j->train_config},
                  {"train.", j->objective->keys, j->train_config},
                  {"train.", lra_relation_keys, j->train_config}};
    for (int i = 0; lra_config_key(lines, i); i++) {
        const char *name = lra_config_key(lines, i), *dot = strchr(name, '.');
        bool found = !dot;
        for (size_t k = 0; k < sizeof tables / sizeof *tables && !found; k++) {
            found = strncmp(name, tables[k].prefix, (size_t)(dot + 1 - name)) == 0 &&
                    lra_key_find(tables[k].keys, dot + 1);
            if (found && apply_line(tables[k].values, tables[k].keys, name,
                                    lra_config_value(lines, i), e) != 0)
                return LRA_FAILED;
        }
        if (!found && !lra_key_is_known(dot + 1))
            return lra_fail(
                e, "its configuration has the key '%s', which is unknown to this program", name);
    }
    return 0;
}

static int make_job(lra_finished_run *r, const lra_options *o, lra_err *e)
{
    lra_job *j = &r->job;
    *j = (lra_job){.preset = r->result->preset, .precision = r->result->precision, .out = r->out};
    j->stored = r->result->config, j->stored_hash = r->result->run;
    j->data_dir = lra_option_text(o, "data-dir");
    j->checkpoint_every = 1e6;
    j->task_name = r->result->task;
    j->task = lra_task_find(j->task_name, e);
    j->model = j->task ? lra_model_find(r->result->model, e) : NULL;
    if (!j->model) return LRA_FAILED;
    lra_config *lines = lra_config_parse(r->result->config, e);
    if (!lines) return LRA_FAILED;
    j->objective = lra_objective_find(lra_config_text_or(lines, "train.objective", "classify"), e);
    j->schedule = lra_schedule_find(lra_config_text_or(lines, "train.schedule", "plateau"), e);
    int rc = j->objective && j->schedule ? 0 : LRA_FAILED;
    if (rc == 0) lra_job_defaults(j);
    if (rc == 0) rc = apply_lines(j, lines, e);
    lra_config_free(lines);
    if (rc == 0) rc = lra_cpu_device(&j->device, (int)lra_option_int(o, "threads"), e);
    return rc;
}

/* Finds the best.h5 of the run from which this one started, in a neighbouring folder: it contains
 * this run's initial weights. If it is missing, reading it later fails with its name. */
static void find_start(lra_finished_run *r)
{
    const char *hash = lra_config_text_or(r->job.train_config, "from", "");
    char **names = NULL, *runs = parent_of(r->folder), *found = NULL;
    if (*hash) {
        int n = lra_folder_list(runs, &names, NULL);
        char *ending = lra_format("-%s", hash);
        for (int i = 0; i < n && !found; i++) {
            size_t size = strlen(names[i]), end = strlen(ending);
            if (size > end && strcmp(names[i] + size - end, ending) == 0)
                found = lra_copy_text(names[i]);
        }
        if (!found)
            found = lra_format("%s-%s-%s", lra_task_id(r->job.task), r->result->model, hash);
        r->job.from = lra_format("%s/%s/best.h5", runs, found);
        if (n >= 0) lra_names_free(names, n);
        lra_free(ending);
    }
    lra_free(found);
    lra_free(runs);
}

/* Returns the output folder OUT of a run. A run in OUT/runs uses OUT. For a run that was moved
 * elsewhere, it is the folder of --out, because outputs must not go two levels above the run. */
static char *out_of(const char *folder, const lra_options *o)
{
    char *runs = parent_of(folder);
    const char *slash = strrchr(runs, '/');
    bool below_runs = strcmp(slash ? slash + 1 : runs, "runs") == 0;
    char *out = below_runs ? parent_of(runs) : lra_copy_text(lra_option_text(o, "out"));
    lra_free(runs);
    return out;
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Returns the folder for probe files: the run's own, or, if that is read-only and --out names
 * another folder, a folder below --out. */
static char *target_of(const lra_finished_run *r, const lra_options *o)
{
    const char *out = lra_option_text(o, "out"), *slash = strrchr(r->folder, '/');
    bool named = lra_option_given(o, "out") && !is_same_folder(out, r->out);
    if (!named || access(r->folder, W_OK) == 0) return lra_copy_text(r->folder);
    return lra_format("%s/probes/%s", out, slash ? slash + 1 : r->folder);
}

bool lra_finished_run_redirected(const lra_finished_run *r)
{
    return strcmp(r->to, r->folder) != 0;
}

int lra_finished_run_open(lra_finished_run *r, const char *name, const char *task,
                          const lra_options *o, lra_err *e)
{
    *r = (lra_finished_run){0};
    int rc = lra_finished_run_find(name, lra_option_text(o, "out"), &r->folder, e);
    if (rc != 0) return rc;
    r->out = out_of(r->folder, o);
    r->to = target_of(r, o);
    rc = read_result(r, e);
    if (rc == 0 && task && strcmp(r->result->task, task) != 0)
        return lra_fail_absent(e, "run '%s' was trained on task '%s', expected '%s'", r->folder,
                               r->result->task, task);
    if (rc != 0) return rc;
    rc = check_hash(r->result, e);
    if (rc == 0) rc = make_job(r, o, e);
    if (rc == 0) find_start(r);
    if (rc == 0 && lra_finished_run_redirected(r)) r->job.out = lra_option_text(o, "out");
    return rc == 0 ? 0 : lra_fail_in(e, "run '%s'", r->folder);
}

int lra_finished_run_load_data(lra_finished_run *r, lra_err *e)
{
    const char *wanted = r->result->fingerprint;
    lra_dataset *found = lra_dataset_find(r->job.task, r->job.task_config, r->out, wanted);
    int rc = found ? lra_job_use_data(&r->job, found, e) : lra_job_load_data(&r->job, e);
    if (rc != 0) return lra_fail_in(e, "data of run '%s'", r->folder);
    if (strcmp(r->job.data->fingerprint, wanted) != 0)
        return lra_fail(
            e,
            "run '%s' was trained on data %s, found data %s (imported data: name the files with "
            "--data-dir)",
            r->folder, wanted, r->job.data->fingerprint);
    return 0;
}

int lra_finished_run_writable(const lra_finished_run *r, const char *file, lra_err *e)
{
    char *path = lra_format("%s/%s", r->to, file);
    bool redirected = lra_finished_run_redirected(r);
    int rc = redirected ? lra_folder_make(r->to, e) : 0;
    if (redirected && rc == 0)
        lra_note("run '%s' is read-only: files are written to '%s'", r->folder, r->to);
    if (rc != 0) {
        /* e already contains the message */
    } else if (lra_is_folder(path)) {
        rc = lra_fail(e, "'%s' is a folder; expected a file", path);
    } else {
        lra_file *w = lra_file_create(path, e);
        rc = w ? 0 : LRA_FAILED;
        if (!w && !redirected && access(r->folder, W_OK) != 0)
            lra_fail_as(e, LRA_CAUSE_ACCESS,
                        "run '%s' is read-only; --out DIR writes to DIR/probes", r->folder);
        lra_file_abort(w);
    }
    lra_free(path);
    return rc;
}

int lra_finished_run_lock(const lra_finished_run *r, int *lock, lra_err *e)
{
    *lock = -1;
    if (lra_finished_run_redirected(r) && lra_folder_make(r->to, e) != 0) return LRA_FAILED;
    if (access(r->to, W_OK) != 0) return 0;
    char *path = lra_format("%s/lock", r->to);
    *lock = lra_lock_wait(path, e);
    lra_free(path);
    return *lock >= 0 ? 0 : LRA_FAILED;
}

void lra_finished_run_spec(const lra_finished_run *r, lra_train_spec *s)
{
    lra_job_spec(&r->job, r->result->seed, s);
    lra_free((void *)(uintptr_t)s->folder);
    s->folder = lra_copy_text(r->folder); /* the run may have been moved since its training */
}

void lra_finished_run_close(lra_finished_run *r)
{
    lra_job_close(&r->job);
    lra_result_free(r->result);
    lra_free(r->folder);
    lra_free(r->out);
    lra_free(r->to);
    *r = (lra_finished_run){0};
}
