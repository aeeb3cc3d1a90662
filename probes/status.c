/* lra-probe status: state of the runs below --out, started by any process. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "kernels/base/os/file.h"
#include "kernels/base/os/lock.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/os/terminal.h"
#include "models/training/run_status.h"
#include "probes/probe.h"
#include "probes/run/option_rows.h"
#include "reports/results/result.h"

static const lra_option own[] = {
    {.name = "all", .kind = LRA_OPTION_FLAG, .help = "finished runs, too, a line each"},
    LRA_OUT_OPTION("where the runs are"),
    LRA_JSON_OPTION("all runs as one JSON document"),
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe status",
    .summary =
        "Says what the runs of a folder are doing: done, training, stopped, and how long yet.",
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
    char *why;       /* of damaged and unreadable results; NULL: of others */
    int64_t process; /* that trains it; 0: none */
    bool known;      /* status is */
    lra_run_status status;
} run;

/* A result with wrong contents is damaged. A result that this program cannot read now (a newer
 * format, no permission, too little memory) may be intact. */
static run_state state_of_result(const char *path, char **why)
{
    lra_err e = {{0}};
    lra_result *r = lra_result_read(path, &e);
    if (!r) *why = lra_copy_text(e.msg);
    lra_result_free(r);
    return r ? DONE : lra_err_cause(&e) == LRA_CAUSE_OTHER ? DAMAGED : UNREADABLE;
}

static run look(const char *runs, const char *name)
{
    run r = {.name = lra_copy_text(name)};
    char *folder = lra_format("%s/%s", runs, name), *lock = lra_format("%s/lock", folder);
    char *result = lra_format("%s/result.h5", folder),
         *checkpoint = lra_format("%s/checkpoint.h5", folder);
    r.process = lra_lock_holder(lock);
    r.state = lra_file_exists(result)       ? state_of_result(result, &r.why)
              : r.process                   ? TRAINING
              : lra_file_exists(checkpoint) ? STOPPED
                                            : EMPTY;
    if (r.state != DONE && !r.why) r.known = lra_run_status_read(folder, &r.status);
    lra_free(folder);
    lra_free(lock);
    lra_free(result);
    lra_free(checkpoint);
    return r;
}

static void print_run(const run *r)
{
    char left[32] = "", at[64] = "", *name = lra_make_printable(lra_copy_text(r->name));
    if (r->known)
        snprintf(at, sizeof at, "epoch %" PRId64 " of %" PRId64 ", %3.0f %%", r->status.epoch,
                 r->status.epochs,
                 r->status.steps ? 100 * (double)r->status.step / (double)r->status.steps : 0);
    if (r->known && r->state == TRAINING && r->status.left >= 0)
        lra_time_text(left, r->status.left);
    printf("%-9s %-44s %-24s %-20s %s%s\n", state_names[r->state],
           r->known ? r->status.title : name, at, r->known ? r->status.value : "", left,
           *left ? " left" : "");
    if (r->why) printf("          %s\n", r->why);
    lra_free(name);
}

static void print_text(const run *all, int n, bool finished_too)
{
    int count[N_STATES] = {0};
    double longest = -1;
    char text[32];
    for (int i = 0; i < n; i++) {
        count[all[i].state]++;
        if (all[i].state == TRAINING && all[i].known) longest = fmax(longest, all[i].status.left);
        if (finished_too || all[i].state != DONE) print_run(&all[i]);
    }
    printf("%d runs: %d done, %d training, %d stopped, %d empty", n, count[DONE], count[TRAINING],
           count[STOPPED], count[EMPTY]);
    if (count[DAMAGED])
        printf(
            ", %d damaged (move result.h5 away, and the command that trained the run makes it again)",
            count[DAMAGED]);
    if (count[UNREADABLE])
        printf(", %d unreadable for the reason above, which says nothing about the results",
               count[UNREADABLE]);
    if (longest >= 0) printf("; those that train need %s yet", lra_time_text(text, longest));
    printf("\n");
}

static void print_json(const run *all, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        const run *r = &all[i];
        char *name = lra_make_printable(
            lra_copy_text(r->name)); /* JSON is UTF-8, names may be anything */
        json_t *o = json_pack("{s:s, s:s}", "run", name, "state", state_names[r->state]);
        lra_free(name);
        if (r->why) json_object_set_new(o, "reason", json_string(r->why));
        if (r->process) json_object_set_new(o, "process", json_integer(r->process));
        if (r->known) {
            json_object_set_new(o, "title", json_string(r->status.title));
            json_object_set_new(o, "value", json_string(r->status.value));
            json_object_set_new(o, "epoch", json_integer(r->status.epoch));
            json_object_set_new(o, "epochs", json_integer(r->status.epochs));
            json_object_set_new(o, "step", json_integer(r->status.step));
            json_object_set_new(o, "steps", json_integer(r->status.steps));
            json_object_set_new(o, "seconds_left",
                                r->status.left >= 0 ? json_real(r->status.left) : json_null());
        }
        json_array_append_new(list, o);
    }
    json_t *document = json_pack("{s:o}", "runs", list);
    json_dumpf(document, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(document);
}

static int status(const lra_options *o, lra_err *e)
{
    const char *out = lra_option_text(o, "out");
    char *runs = lra_format("%s/runs", out), **name = NULL;
    int n = 0, rc = 0;
    if (!lra_is_folder(out)) rc = lra_fail(e, "there is no folder '%s'", out);
    if (rc == 0 && lra_is_folder(runs)) n = lra_folder_list(runs, &name, e);
    if (n < 0) rc = LRA_FAILED, n = 0;
    run *all = lra_alloc_array((size_t)n, sizeof *all);
    int found = 0;
    for (int i = 0; i < n; i++) {
        char *folder = lra_format("%s/%s", runs, name[i]);
        if (lra_is_folder(folder)) all[found++] = look(runs, name[i]);
        lra_free(folder);
    }
    if (rc == 0 && lra_option_flag(o, "json"))
        print_json(all, found);
    else if (rc == 0)
        print_text(all, found, lra_option_flag(o, "all"));
    for (int i = 0; i < found; i++) {
        lra_free(all[i].name);
        lra_free(all[i].why);
    }
    lra_free(all);
    lra_names_free(name, n);
    lra_free(runs);
    return rc;
}

const lra_probe lra_probe_status = {"status", "what the runs of a folder are doing", &command,
                                    status};
