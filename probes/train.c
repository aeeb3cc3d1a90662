/* lra-probe train: trains one model on one task with one seed. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"
#include "probes/probe.h"
#include "probes/run/dry_run.h"
#include "probes/run/finished_run.h"
#include "probes/run/job.h"
#include "probes/run/job_options.h"
#include "probes/run/option_rows.h"
#include "probes/run/plan_text.h"
#include "probes/run/sources.h"
#include "probes/run/train_job.h"
#include "probes/run/tune.h"
#include "probes/run/warm_start.h"
#include "reports/results/result_metric.h"

static const lra_option own[] = {
    {.name = "seed",
     .letter = 's',
     .kind = LRA_OPTION_INT,
     .value = "0",
     .min = 0,
     .max = 1e9,
     .arg = "N",
     .help = "seed of initialisation, data order and dropout"},
    {.name = "dry-run",
     .kind = LRA_OPTION_FLAG,
     .help = "print FLOPs, bytes, memory and the estimated time; train and write nothing"},
    LRA_JSON_OPTION("with --dry-run: print the plan as one JSON document"),
    {.name = "weights",
     .letter = 'w',
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "safetensors file with the initial weights (array names as from 'lra-probe export')"},
    {.name = "evaluate",
     .kind = LRA_OPTION_FLAG,
     .help = "evaluate the weights of --weights, train nothing"},
    {.name = "ladder",
     .kind = LRA_OPTION_TEXT,
     .arg = "TEXT",
     .help = "ladder to which the run belongs, as set by receptive-field; stored with the result"},
    {.name = "differs",
     .kind = LRA_OPTION_TEXT,
     .arg = "TEXT",
     .help = "settings that differ from the other runs of a sweep, printed in progress and status; "
             "not stored"},
    {.name = "tuning",
     .kind = LRA_OPTION_TEXT,
     .arg = "KEY:VALUE",
     .help = "train a trial of 'sweep --tune KEY=...' in DIR/trials; VALUE is that of factor 1"},
    LRA_FORCE_OPTION("train a finished or unfinished run again; its files are removed first"),
    {.name = "requeue",
     .kind = LRA_OPTION_FLAG,
     .help = "exit with code 75 instead of 130 when a signal stops the run"},
    {.name = "no-wait",
     .kind = LRA_OPTION_FLAG,
     .help = "exit with code 3 instead of waiting if another process trains the run; store the "
             "reason in its folder if it fails"},
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_warm_start_options, lra_job_options,
                                           lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe train",
    .summary = "Trains one model on one task; the same command resumes after an interruption.",
    .usage = "",
    .examples = "  lra-probe train --task listops --preset quick --set kernel=7 --seed 1\n"
                "  lra-probe train --preset paper --set kernel=31 --dry-run",
    .max_args = 0,
    .tables = tables,
};

/* Prints the cost as JSON. */
static void print_plan_json(const lra_job *r, const lra_train_spec *s, const lra_train_cost *c)
{
    json_t *buckets = json_array();
    for (int b = 0; b < c->buckets.n; b++)
        json_array_append_new(buckets, json_integer(c->buckets.length[b]));
    char *folder = lra_make_printable(lra_copy_text(s->folder)); /* JSON must be valid UTF-8 */
    json_t *document = json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}",
        "schema", 1, "run", folder, "settings", s->config, "device", r->device.name, "precision",
        r->precision, "parameters", (json_int_t)c->parameters, "reach",
        (json_int_t)lra_job_reach(r), "batch", (json_int_t)s->batch, "steps", (json_int_t)c->steps,
        "step_flops", c->step_flops, "step_bytes", c->step_bytes, "workspace_bytes",
        c->workspace_bytes, "parameter_bytes", c->parameter_bytes, "room_bytes", c->room_bytes,
        "padding", c->padding, "seconds_per_step", c->seconds_per_step, "seconds",
        c->seconds_per_step * (double)c->steps, "buckets", buckets);
    lra_free(folder);
    json_dumpf(document, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(document);
}

static void print_plan(const lra_job *r, const lra_train_spec *s, const lra_train_cost *c)
{
    char room[32], time[32], *plan = lra_job_plan_text(r, s, c);
    char reach[24];
    printf("run          %s\nparameters   %" PRId64
           "\nreach        %s tokens to each side\n%s\nbuckets     ",
           s->folder, c->parameters, lra_reach_text(lra_job_reach(r), reach), plan);
    lra_free(plan);
    for (int b = 0; b < c->buckets.n; b++) printf(" %" PRId64, c->buckets.length[b]);
    printf(" tokens, padding %.1f %%\n", 100 * c->padding);
    printf("step         %.3f GFLOP, %.1f MB at the longest bucket\n", c->step_flops / 1e9,
           c->step_bytes / 1e6);
    printf("available    %s; the largest batch that fits is about %.0f\n",
           lra_size_text(room, c->room_bytes),
           c->room_bytes / c->workspace_bytes * (double)s->batch);
    printf("time         %s, %.2f ms per step (measured)\n",
           lra_time_text(time, c->seconds_per_step * (double)c->steps), 1e3 * c->seconds_per_step);
}

static int dry_run(const lra_job *r, int64_t seed, bool json, lra_err *e)
{
    lra_train_spec s;
    lra_train_cost c;
    lra_job_spec(r, seed, &s);
    lra_device device = r->device;
    int rc = lra_train_estimate(&s, &device, true, &c, e);
    if (rc == 0) (json ? print_plan_json : print_plan)(r, &s, &c);
    lra_job_spec_free(&s);
    return rc;
}

static int print_result(const lra_job *r, int64_t seed, bool done, lra_err *e)
{
    char *folder = lra_job_folder(r, seed), *path = lra_format("%s/result.h5", folder);
    lra_result *result = lra_finished_run_result(path, e);
    char *differs = result && done ? lra_job_sources_differ(r, result) : NULL;
    if (differs)
        lra_note("already done, but %s: its result is below; --force trains it again", differs);
    else if (result && done)
        lra_note(
            "already done; its result is below. Another --seed or setting defines another run");
    lra_free(differs);
    if (result) {
        char time[32], how[96] = "not trained", *text = lra_result_text(result);
        if (result->training.steps)
            snprintf(how, sizeof how, "epoch %" PRId64 " selected on validation; %" PRId64 " steps",
                     result->training.best_epoch, result->training.steps);
        printf("test %s; %s, %s\nwrote %s\n", text, how,
               lra_time_text(time, result->training.seconds), path);
        double accuracy = 0;
        const char *baseline = lra_result_simple_baseline(result, &accuracy);
        if (baseline) printf("baseline %s %.2f %%\n", baseline, 100 * accuracy);
        lra_free(text);
    }
    lra_result_free(result);
    lra_free(folder);
    lra_free(path);
    return result ? 0 : LRA_FAILED;
}

/* Prints the plan before it is executed. */
static int say_plan(const lra_job *r, int64_t seed, lra_err *e)
{
    lra_train_spec s;
    lra_train_cost c;
    lra_device device = r->device;
    if (lra_terminal_level() == LRA_LOG_QUIET) return 0;
    lra_job_spec(r, seed, &s);
    int rc = lra_train_estimate(&s, &device, false, &c, e);
    if (rc == 0) {
        char *plan = lra_job_plan_text(r, &s, &c);
        char reach[24];
        lra_note("%s: %" PRId64 " parameters, reach %s\n%s\nrun          %s", s.title, c.parameters,
                 lra_reach_text(lra_job_reach(r), reach), plan, s.folder);
        lra_free(plan);
    }
    lra_job_spec_free(&s);
    return rc;
}

static bool is_done(const lra_job *r, int64_t seed)
{
    char *folder = lra_job_folder(r, seed), *path = lra_format("%s/result.h5", folder);
    bool done = lra_file_exists(path);
    lra_free(folder);
    lra_free(path);
    return done;
}

static int discard(const lra_job *r, int64_t seed, lra_err *e)
{
    char *folder = lra_job_folder(r, seed);
    int rc = lra_is_folder(folder) ? lra_run_discard(folder, e) : 0;
    lra_free(folder);
    return rc;
}

static int train_job(lra_job *r, const lra_options *o, lra_err *e)
{
    int64_t seed = lra_option_int(o, "seed");
    if (lra_option_flag(o, "json") && !lra_option_flag(o, "dry-run"))
        return lra_fail_usage(e, "option '--json' needs '--dry-run'");
    r->dry = lra_option_flag(o, "dry-run");
    if (r->dry) lra_dry_run_limit();
    int rc = lra_job_open(r, o, e);
    r->differs = lra_option_text(o, "differs");
    r->no_wait = lra_option_flag(o, "no-wait");
    r->evaluate = lra_option_flag(o, "evaluate");
    if (rc == 0 && r->evaluate && !lra_option_given(o, "weights"))
        rc = lra_fail_usage(e, "option '--evaluate' needs '--weights FILE'");
    if (rc == 0 && lra_option_given(o, "weights"))
        rc = lra_job_load_weights(r, lra_option_text(o, "weights"), e);
    if (rc == 0 && lra_option_given(o, "tuning"))
        rc = lra_tune_mark(r, lra_option_text(o, "tuning"), e);
    if (rc == 0) rc = lra_warm_start(r, o, e);
    if (rc != 0) return rc;
    if (lra_option_flag(o, "dry-run")) return dry_run(r, seed, lra_option_flag(o, "json"), e);
    r->ladder = lra_option_text(o, "ladder");
    rc = lra_option_flag(o, "force") ? discard(r, seed, e) : 0;
    if (rc != 0) return rc;
    bool done = is_done(r, seed);
    rc = r->evaluate || done ? 0 : say_plan(r, seed, e);
    if (rc == 0) rc = lra_job_train(r, seed, e);
    if (rc == LRA_STOPPED) {
        lra_note("stopped; the checkpoint is saved, the same command resumes");
        return lra_option_flag(o, "requeue") ? LRA_EXIT_REQUEUE : LRA_EXIT_INTERRUPTED;
    }
    if (rc == LRA_HELD) {
        lra_note("%s", e->msg);
        return LRA_EXIT_HELD;
    }
    return rc == 0 ? print_result(r, seed, done, e) : rc;
}

static int train(const lra_options *o, lra_err *e)
{
    lra_job r = {0};
    int rc = train_job(&r, o, e);
    lra_job_close(&r);
    return rc;
}

const lra_probe lra_probe_train = {"train", "trains one model on one task", &command, train};
