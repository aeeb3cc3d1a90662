/* lra-probe receptive-field: trains a ladder, models of growing reach (by kernel size or another
 * setting) with several seeds. Finished runs are skipped, interrupted runs continue, and the result
 * is computed from the result files alone. */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/ladder.h"
#include "datasets/registry.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/shell.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"
#include "probes/probe.h"
#include "probes/run/dry_run.h"
#include "probes/run/finished_run.h"
#include "probes/run/job.h"
#include "probes/run/job_options.h"
#include "probes/run/ladder_cells.h"
#include "probes/run/option_rows.h"
#include "probes/run/plan_text.h"
#include "probes/run/planned_rungs.h"
#include "probes/run/rungs.h"
#include "probes/run/run_cells.h"
#include "probes/run/seeds.h"
#include "probes/run/settings.h"
#include "probes/run/sources.h"
#include "probes/run/vary.h"
#include "reports/report.h"

static const lra_option own[] = {LRA_SEEDS_OPTION("rung"),
                                 LRA_JOBS_OPTION("runs"),
                                 LRA_RETRY_OPTION,
                                 LRA_DRY_RUN_OPTION("print the plan and its cost, train nothing"),
                                 LRA_JSON_OPTION("print the ladder as one JSON document"),
                                 {.name = NULL}};
static const lra_option *const tables[] = {
    lra_rungs_options,  own, lra_vary_options, lra_ladder_scale_options, lra_job_options,
    lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe receptive-field",
    .summary =
        "Trains models of growing reach (the rungs of a ladder) and measures how much context a "
        "task needs.",
    .usage = "",
    .examples = "  lra-probe receptive-field --task listops --preset quick --out lra-out\n"
                "  lra-probe receptive-field --task xor --distance 8,16,32,64 --jobs 2\n"
                "  lra-probe receptive-field --axis dilation=1,2,4,8,16 --set kernel=5\n"
                "  lra-probe receptive-field --vary rate=0.001,0.004 --jobs 2\n"
                "  lra-probe receptive-field --match flops --dry-run",
    .max_args = 0,
    .tables = tables,
};

typedef struct {
    lra_job job;
    const lra_options *options;
    lra_rungs rungs;
    int n_seeds, n_cells;
    int64_t *seed; /* (n_seeds) seeds of every rung */
    lra_ladder_cell *cells;
    lra_ladder_scale scale;
    lra_vary vary;
    int at;         /* index of the current value of --vary */
    char *differs;  /* the current value as "key=value". NULL: nothing varies */
    char **results; /* result files of the cells for all values of --vary */
    int n_results;
    json_t *planned; /* description of all rungs for --dry-run --json */
} ladder_run;

/* ---- the plan -------------------------------------------------------------------------------- */

static int make_plan(ladder_run *l, lra_err *e)
{
    int rc = lra_rungs_plan(&l->rungs, &l->job, e);
    if (rc != 0) return rc;
    const char *seeds = lra_option_text(l->options, "seeds");
    lra_free(l->seed);
    l->n_seeds = seeds ? lra_seeds_read("seeds", seeds, LRA_LADDER_MAX_SEEDS, &l->seed, e)
                       : lra_seeds_first(l->job.plan.seeds, &l->seed);
    if (l->n_seeds < 0) return LRA_USAGE;
    l->cells = lra_alloc_array((size_t)(l->rungs.n * l->n_seeds), sizeof *l->cells);
    for (int s = 0; s < l->n_seeds; s++)
        for (int k = 0; k < l->rungs.n; k++) {
            lra_ladder_cell *c = &l->cells[l->n_cells++];
            c->rung = k, c->seed = l->seed[s];
            c->job = lra_rung_job(&l->rungs, k, &l->job);
            c->job.differs = l->differs;
            char *folder = lra_job_folder(&c->job, c->seed);
            c->result = lra_format("%s/result.h5", folder);
            c->done = lra_finished_run_done(c->result);
            lra_free(folder);
        }
    return 0;
}

/* Prints a line of the plan: to stdout with --dry-run, else as a note. */
static void say(const ladder_run *l, const char *fmt, ...) LRA_PRINTF(2, 3);
static void say(const ladder_run *l, const char *fmt, ...)
{
    lra_text line = {0};
    va_list args;
    va_start(args, fmt);
    lra_text_addv(&line, fmt, args);
    va_end(args);
    bool dry = lra_option_flag(l->options, "dry-run");
    if (dry && lra_option_flag(l->options, "json")) {
        lra_text_free(&line);
        return;
    }
    if (dry)
        printf("%s\n", line.s);
    else
        lra_note("%s", line.s);
    lra_text_free(&line);
}

/* Prints the settings shared by all runs of the ladder. */
static void say_settings(const ladder_run *l, const lra_job *job, const lra_train_spec *s,
                         const lra_train_cost *c)
{
    char *plan = lra_job_plan_text(job, s, c);
    say(l, "%s", plan);
    lra_free(plan);
}

/* Prints the quantity that is equal in all rungs. */
static void say_match(const ladder_run *l)
{
    const lra_rungs *r = &l->rungs;
    char name[48];
    if (r->count == 0) return;
    say(l, "match: %s; '%s' is chosen to match the %.6g %s of %s within 2 %%", r->match,
        l->job.model->match, r->count, strcmp(r->match, "flops") ? "parameters" : "FLOPs per step",
        lra_rungs_name(r, r->reference, name));
}

/* Prints one rung: its size, its cost, and its missing runs; adds the planned seconds of the
 * missing runs. */
static int say_rung(ladder_run *l, int k, double *seconds, lra_err *e)
{
    lra_train_spec s;
    lra_train_cost c;
    char text[32], name[48], reach[24], size[64] = "";
    int missing = 0, width = (int)strlen(lra_rungs_name(&l->rungs, l->rungs.n - 1, name));
    for (int i = 0; i < l->n_cells; i++) missing += l->cells[i].rung == k && !l->cells[i].done;
    lra_job job = lra_rung_job(&l->rungs, k, &l->job);
    int64_t reaches = lra_job_reach(&job);
    lra_job_spec(&job, 0, &s);
    int rc = lra_train_estimate(&s, &job.device, true, &c, e);
    if (k == 0 && rc == 0) say_settings(l, &job, &s, &c);
    lra_job_spec_free(&s);
    lra_rung_job_free(&job);
    if (rc != 0) return rc;
    double cost = c.seconds_per_step * (double)c.steps;
    *seconds += cost * missing;
    for (int i = 0; i < l->n_cells; i++)
        if (l->cells[i].rung == k) l->cells[i].seconds = cost;
    json_array_append_new(
        l->planned, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:i, s:i, s:s?, s:s?}",
                              "task", l->job.task->name, "axis", l->rungs.axis, "value",
                              (json_int_t)l->rungs.rung[k].value, "reach", (json_int_t)reaches,
                              "parameters", (json_int_t)c.parameters, "steps", (json_int_t)c.steps,
                              "step_flops", c.step_flops, "seconds_per_step", c.seconds_per_step,
                              "seconds", cost, "runs", l->n_seeds, "missing", missing, "vary",
                              l->vary.key, "varied", l->vary.key ? l->vary.value[l->at] : NULL));
    if (l->rungs.rung[k].size)
        snprintf(size, sizeof size, " %s %-4" PRId64, l->job.model->match, l->rungs.rung[k].size);
    say(l,
        "  %-*s reach %-4s%s %7" PRId64 " parameters  %.4g GFLOP/step  %6" PRId64
        " steps of %.2f ms  %s per seed, %d to train",
        width < 7 ? 7 : width, lra_rungs_name(&l->rungs, k, name), lra_reach_text(reaches, reach),
        size, c.parameters, c.step_flops / 1e9, c.steps, 1e3 * c.seconds_per_step,
        lra_time_text(text, cost), missing);
    return 0;
}

/* Fails before the plan is printed if the data contain rows on which no rung can be trained. */
static int check_rows(ladder_run *l, lra_err *e)
{
    lra_train_spec s;
    lra_job job = lra_rung_job(&l->rungs, 0, &l->job);
    lra_job_spec(&job, 0, &s);
    int rc = lra_train_check(&s, e);
    lra_job_spec_free(&s);
    lra_rung_job_free(&job);
    return rc;
}

/* Warns about finished runs that were trained with other versions of the model's sources. */
static void warn_stale(ladder_run *l)
{
    int stale = 0;
    for (int i = 0; i < l->n_cells; i++)
        stale += lra_job_is_stale(&l->cells[i].job, l->cells[i].result);
    if (stale)
        say(l,
            "%d finished run%s from other sources of model '%s' or its ops; 'lra-probe train ... "
            "--force' trains one again",
            stale, stale == 1 ? " is" : "s are", l->job.model->name);
}

/* Prints the plan and its cost, before anything is trained. */
static int print_plan(ladder_run *l, lra_err *e)
{
    int done = 0, rc = 0;
    for (int i = 0; i < l->n_cells; i++) done += l->cells[i].done;
    warn_stale(l);
    if (done < l->n_cells && check_rows(l, e) != 0) return LRA_USAGE;
    say(l, "ladder: %s, preset %s, %d %s%s x %d seeds = %d runs, %d done", l->job.task->name,
        l->job.preset, l->rungs.n, strcmp(l->rungs.axis, "kernel") ? "rungs over " : "kernels",
        strcmp(l->rungs.axis, "kernel") ? l->rungs.axis : "", l->n_seeds, l->n_cells, done);
    say_match(l);
    double seconds = 0;
    for (int k = 0; k < l->rungs.n && done < l->n_cells && rc == 0; k++)
        rc = say_rung(l, k, &seconds, e);
    char text[32];
    double n_jobs = (double)lra_option_int(l->options, "jobs");
    if (done < l->n_cells && rc == 0)
        say(l, "about %s in total, %.0f at a time", lra_time_text(text, seconds / n_jobs), n_jobs);
    return rc;
}

/* ---- the result ------------------------------------------------------------------------------ */

static void free_cells(ladder_run *l)
{
    for (int i = 0; i < l->n_cells; i++) {
        lra_rung_job_free(&l->cells[i].job);
        lra_free(l->cells[i].result);
    }
    lra_free(l->cells);
    l->cells = NULL, l->n_cells = 0;
}

/* Sets the job and the rungs to another value of the varied key. */
static int use_value(ladder_run *l, lra_err *e)
{
    lra_rungs_close(&l->rungs);
    int rc = lra_job_configure_again(&l->job, l->options, l->differs, e);
    return rc == 0 ? lra_rungs_open(&l->rungs, l->options, &l->job, &l->vary, e) : rc;
}

/* Plans and trains the ladder of one value of the varied key. */
static int train_value(ladder_run *l, int i, int n_jobs, lra_err *e)
{
    free_cells(l);
    lra_free(l->differs);
    l->at = i, l->differs = lra_vary_assignment(&l->vary, i);
    int rc = i ? use_value(l, e) : 0;
    if (rc == 0) rc = lra_job_load_data(&l->job, e);
    if (rc == 0) rc = make_plan(l, e);
    if (rc == 0 && l->vary.key) say(l, "%s %s", l->vary.key, l->vary.value[i]);
    if (rc == 0) rc = print_plan(l, e);
    if (rc != 0 || lra_option_flag(l->options, "dry-run")) return rc;
    size_t n = (size_t)(l->n_results + l->n_cells);
    l->results = lra_resize(l->results, n * sizeof *l->results);
    for (int k = 0; k < l->n_cells; k++)
        l->results[l->n_results++] = lra_copy_text(l->cells[k].result);
    const lra_ladder_cells cells = {&l->rungs, l->options, l->differs, i,
                                    l->vary.n, l->n_cells, l->cells};
    return lra_ladder_cells_train(&cells, n_jobs, e);
}

/* Prints the table of one ladder, or one table of all ladders. */
static int print_results(ladder_run *l, lra_err *e)
{
    lra_result **all = lra_alloc_array((size_t)l->n_results, sizeof *all);
    int n = 0, rc = 0;
    for (int i = 0; i < l->n_results && rc == 0; i++) {
        all[n] = lra_finished_run_result(l->results[i], e);
        if (all[n])
            n++;
        else
            rc = LRA_FAILED;
    }
    lra_report_input in = {.list = all, .n = n, .scale = l->scale};
    const char *format = lra_option_flag(l->options, "json") ? "json" : "text";
    const lra_report_table *table = l->vary.n > 1 ? &lra_table_sweep : &lra_table_ladder;
    if (rc == 0)
        rc = lra_option_flag(l->options, "verbose")
                 ? lra_report_print(table, stdout, &in, format, e)
                 : lra_report_print_brief(table, stdout, &in, format, e);
    lra_results_free(all, n);
    return rc;
}

/* Fails if --set changes a key that differs between rungs or between ladders. */
static int check_set(const ladder_run *l, lra_err *e)
{
    for (int i = 0; lra_option_repeat(l->options, "set", i); i++) {
        const char *set = lra_option_repeat(l->options, "set", i);
        size_t n = strcspn(set, "=");
        if (strlen(l->rungs.axis) == n && strncmp(set, l->rungs.axis, n) == 0)
            return lra_fail_usage(
                e, "'%s': the ladder sets '%s'; choose its values with %s", set, l->rungs.axis,
                strcmp(l->rungs.axis, "kernel") ? "--axis KEY=LIST" : "--kernels LIST");
        if (l->vary.key && strlen(l->vary.key) == n && strncmp(set, l->vary.key, n) == 0)
            return lra_fail_usage(e, "'%s': '%s' already varies; remove it from --set", set,
                                  l->vary.key);
    }
    return 0;
}

/* Fails if --distance is set and the task has no such parameter, because a model parameter of that
 * name would be set instead. */
static int check_distance(const ladder_run *l, lra_err *e)
{
    const lra_task *task = lra_task_find(lra_option_text(l->options, "task"), e);
    if (!task) return LRA_USAGE;
    if (!lra_option_text(l->options, "distance") || lra_key_find(task->keys, "distance")) return 0;
    return lra_fail_usage(
        e,
        "task '%s' has no distance; use --vary KEY=LIST ('lra-probe data %s' lists the parameters)",
        task->name, task->name);
}

static int open_all(ladder_run *l, lra_err *e)
{
    if (lra_option_flag(l->options, "dry-run")) lra_dry_run_limit();
    int rc = lra_vary_open(&l->vary, l->options, e);
    char *first = rc == 0 ? lra_vary_assignment(&l->vary, 0) : NULL;
    if (rc == 0) rc = check_distance(l, e);
    l->job.dry = lra_option_flag(l->options, "dry-run");
    if (rc == 0) rc = lra_job_open_with(&l->job, l->options, first, e);
    lra_free(first);
    if (rc == 0) rc = lra_vary_check(&l->vary, l->options, &l->job, e);
    if (rc == 0) rc = lra_rungs_open(&l->rungs, l->options, &l->job, &l->vary, e);
    if (rc == 0) rc = check_set(l, e);
    if (rc == 0) rc = lra_ladder_scale_open(&l->scale, l->options, l->job.out, e);
    if (rc == 0 && l->scale.reference && strcmp(l->scale.reference, "published") == 0 &&
        strcmp(l->job.preset, "paper") != 0)
        rc = lra_fail_usage(e, "reference 'published' needs preset 'paper', found preset '%s'",
                            l->job.preset);
    return rc;
}

/* For --dry-run --json: prints every rung with missing runs. */
static void print_planned(const ladder_run *l)
{
    json_t *document = json_pack("{s:i, s:O}", "schema", 1, "rungs", l->planned);
    json_dumpf(document, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(document);
}

static int make_ladders(ladder_run *l, lra_err *e)
{
    int rc = open_all(l, e), n_jobs = (int)lra_option_int(l->options, "jobs");
    l->job.memory = lra_run_cells_memory(l->job.memory, n_jobs);
    for (int i = 0; i < l->vary.n && rc == 0; i++) rc = train_value(l, i, n_jobs, e);
    if (rc == LRA_STOPPED) {
        lra_note("stopped; checkpoints are saved, the same command resumes");
        return LRA_EXIT_INTERRUPTED;
    }
    if (rc != 0) return rc;
    if (lra_option_flag(l->options, "dry-run")) {
        if (lra_option_flag(l->options, "json")) print_planned(l);
        return 0;
    }
    rc = print_results(l, e);
    if (rc == 0 && !lra_option_flag(l->options, "json")) {
        char *word = lra_shell_word(l->job.out);
        printf("\nresults   %s/runs\nnext      lra-report %s --out %s\n", l->job.out,
               l->vary.n > 1 ? "figures --figure sweep" : "figures", word);
        lra_free(word);
    }
    return rc;
}

static int ladder(const lra_options *o, lra_err *e)
{
    ladder_run l = {.options = o, .planned = json_array()};
    int rc = make_ladders(&l, e);
    free_cells(&l);
    for (int i = 0; i < l.n_results; i++) lra_free(l.results[i]);
    lra_free(l.results);
    lra_free(l.differs);
    lra_rungs_close(&l.rungs);
    lra_free(l.seed);
    lra_vary_close(&l.vary);
    json_decref(l.planned);
    lra_ladder_scale_close(&l.scale);
    lra_job_close(&l.job);
    return rc;
}

const lra_probe lra_probe_receptive_field = {
    "receptive-field", "trains a ladder: accuracy against reach, with intervals (the main command)",
    &command, ladder};
