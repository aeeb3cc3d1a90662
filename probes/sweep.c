/* lra-probe sweep: trains a grid of runs over settings of task, model and training, and over the
 * choice of task and model. Experiments of papers are predefined grids; --vary replaces their
 * settings. Finished runs are skipped, interrupted runs continue, and the table is computed from
 * the result files alone. */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "kernels/base/os/shell.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"
#include "models/training/estimate.h"
#include "probes/probe.h"
#include "probes/run/dry_run.h"
#include "probes/run/experiments.h"
#include "probes/run/finished_run.h"
#include "probes/run/grid.h"
#include "probes/run/job_options.h"
#include "probes/run/option_rows.h"
#include "probes/run/run_cells.h"
#include "probes/run/seeds.h"
#include "probes/run/slurm_script.h"
#include "probes/run/failure.h"
#include "probes/run/plan_file.h"
#include "probes/run/sources.h"
#include "probes/run/tuned_cells.h"
#include "probes/run/warm_start.h"
#include "reports/report.h"

enum { MIB = 1 << 20, MOST_SEEDS = 64 };

static const lra_option own[] = {
    {.name = "vary",
     .kind = LRA_OPTION_REPEAT,
     .arg = "KEY=LIST",
     .help = "KEY is task, model, preset, precision, objective, schedule, or a setting of task, "
             "model or training; may be repeated: all combinations of values are trained"},
    LRA_SEEDS_OPTION("combination"),
    LRA_JOBS_OPTION("runs"),
    LRA_RETRY_OPTION,
    LRA_DRY_RUN_OPTION("print the plan and its cost, train nothing"),
    {.name = "print-plan",
     .kind = LRA_OPTION_FLAG,
     .help =
         "print the command of each run that is still to be trained, one per line; train nothing"},
    LRA_JSON_OPTION("print the table, or the plan of --dry-run, as one JSON document"),
    {.name = "slurm",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "write a Slurm job array of identical workers, which complete the sweep together on a "
             "shared folder; train nothing"},
    {.name = "workers",
     .kind = LRA_OPTION_INT,
     .value = "4",
     .min = 1,
     .max = 1000,
     .arg = "N",
     .help = "with --slurm: maximum number of workers"},
    {.name = "requeue",
     .kind = LRA_OPTION_FLAG,
     .help = "exit with code 75 instead of 130 when a signal stops the sweep"},
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_tune_options, lra_job_options,
                                           lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe sweep",
    .summary = "Trains every combination of values of some settings and prints one table.",
    .usage = "[NAME|FILE]",
    .examples =
        "  lra-probe sweep --vary model=transformer,s4d,lstm --vary rate=0.001,0.004 --jobs 2\n"
        "  lra-probe sweep loc-T1 --data-dir DIR --dry-run      (of 'lra-probe list experiments')\n"
        "  lra-probe sweep grid.txt --dry-run      (lines KEY = VALUE, VALUE, ...)\n"
        "  lra-probe sweep --vary task=listops,xor --vary kernel=3,15 --print-plan\n"
        "  lra-probe sweep loc-T4 --preset small --slurm job.sh --workers 8 && sbatch job.sh\n"
        "  lra-probe sweep --vary model=s4d,lstm --tune rate=0.25,0.5,1,2,4 --seeds 5",
    .min_args = 0,
    .max_args = 1,
    .tables = tables,
};

typedef struct {
    const lra_options *options;
    lra_grid grid;
    const lra_layout *layout; /* of the experiment; NULL: none */
    bool dry, list;           /* --dry-run, --print-plan or --slurm: nothing is trained */
    int n_seeds;
    /* (n_seeds) seeds of every combination. NULL: the number of seeds of the preset */
    int64_t *seed;
    /* All cells; with --tune, the first n_trials are trials. missing: runs without a result,
     * without trials */
    int n_cells, n_trials, missing, missing_trials;
    lra_run_cell *cell;
    lra_tune tune;
    lra_tuned_cells *tuned; /* (grid.n) with --tune; else NULL */
    double memory;          /* memory of each run in bytes (0 = all free memory) */
    lra_text plan;          /* lines of --dry-run, printed after all combinations are planned */
    json_t *planned;
    lra_text
        left_out;   /* names of the tasks of an experiment whose data are missing: " text image" */
    int n_left_out; /* number of their combinations */
    lra_dataset *data; /* data of the previous combination; NULL: none */
    char *data_of;     /* task and settings of `data` */
} sweep_run;

/* ---- the plan -------------------------------------------------------------------------------- */

/* Prints a line of the plan: to stdout with --dry-run, else as a note. */
static void say(sweep_run *s, const char *fmt, ...) LRA_PRINTF(2, 3);
static void say(sweep_run *s, const char *fmt, ...)
{
    lra_text line = {0};
    va_list args;
    va_start(args, fmt);
    lra_text_addv(&line, fmt, args);
    va_end(args);
    if (!s->dry)
        lra_note("%s", line.s);
    else
        lra_text_add(&s->plan, "%s\n", line.s);
    lra_text_free(&line);
}

/* A combination: its parsed `train` command, and the job that this command opens. */
typedef struct {
    lra_command_words command;
    lra_options *options;
    lra_job job;
} combination;

static int open_combination(const sweep_run *s, int i, combination *c, lra_err *e)
{
    *c = (combination){.options = NULL};
    lra_grid_command(&s->grid, i, s->options, &c->command);
    c->options = lra_options_parse(lra_probe_train.command, c->command.n - 2, c->command.word + 2,
                                   e);
    c->job.dry = s->dry;
    int rc = c->options ? lra_job_open(&c->job, c->options, e) : LRA_USAGE;
    return rc;
}

static void close_combination(combination *c)
{
    lra_job_close(&c->job);
    lra_options_free(c->options);
    lra_command_words_free(&c->command);
}

/* If there are several combinations, prepends the name of combination i to the message. Returns
 * rc. */
static int in_combination(const sweep_run *s, int i, int rc, lra_err *e)
{
    char *name = lra_grid_name(&s->grid, i);
    if (rc < 0 && rc != LRA_STOPPED && s->grid.n > 1) lra_fail_in(e, "%s", name);
    lra_free(name);
    return rc;
}

/* True if the run has no result; a trial can have diverged instead. */
static bool is_missing(const lra_run_cell *c)
{
    bool diverged = c->result && c->diverges && lra_run_diverged(c->result);
    return !c->result || !(diverged || lra_file_exists(c->result));
}

static void copy_words(const lra_command_words *from, lra_command_words *to)
{
    for (int i = 0; i < from->n; i++) lra_command_words_add(to, lra_copy_text(from->word[i]));
}

/* Fails if another combination defines the run of the last cell. Cells of an experiment can have
 * the same run: then the last cell is removed. */
static int check_unique(sweep_run *s, lra_err *e)
{
    int last = s->n_cells - 1, i = 0;
    while (i < last && strcmp(s->cell[i].result, s->cell[last].result) != 0) i++;
    if (i == last) return 0;
    if (!s->grid.n_points) return lra_fail_usage(e, "it is the same run as %s", s->cell[i].name);
    lra_run_cell_close(&s->cell[--s->n_cells]);
    return 0;
}

/* Adds a run of the combination. */
static int add_cell(sweep_run *s, int at, combination *c, int64_t seed, lra_err *e)
{
    char *needs;
    int rc = lra_warm_start_seed(&c->job, c->options, seed, &needs, e);
    if (rc != 0) return rc;
    char *folder = lra_job_folder(&c->job, seed), *name = lra_grid_name(&s->grid, at);
    lra_run_cell *cell = &s->cell[s->n_cells++];
    *cell = (lra_run_cell){.name = lra_format("%s seed %" PRId64, name, seed),
                           .result = lra_format("%s/result.h5", folder),
                           .needs = needs};
    copy_words(&c->command, &cell->command);
    char *label = lra_grid_label(&s->grid, at);
    if (label) lra_command_words_add(&cell->command, lra_format("--differs=%s", label));
    lra_free(label);
    lra_cell_command_end(&cell->command, seed, s->memory);
    lra_free(folder);
    lra_free(name);
    return check_unique(s, e);
}

/* Prints the number of finished runs among n cells that were trained with other sources. */
static void say_stale(sweep_run *s, const combination *c, const char *name, int n,
                      const lra_run_cell *cell)
{
    int stale = 0;
    for (int i = 0; i < n; i++)
        stale += cell[i].result && lra_job_is_stale(&c->job, cell[i].result);
    if (stale)
        say(s,
            "  %s: %d trained with other sources of the model or its ops; 'lra-probe train ... "
            "--force' trains one again",
            name, stale);
}

/* Cost of a combination: of one run, and the number of runs and trials. */
typedef struct {
    lra_train_cost run;
    double seconds;                            /* of one run */
    int runs, missing, trials, missing_trials; /* trials: 0 without --tune */
} combination_cost;

static int estimate(combination *c, combination_cost *cost, lra_err *e)
{
    lra_train_spec spec;
    lra_job_spec(&c->job, 0, &spec);
    int rc = lra_train_estimate(&spec, &c->job.device, true, &cost->run, e);
    lra_job_spec_free(&spec);
    cost->seconds = cost->run.seconds_per_step * (double)cost->run.steps;
    return rc;
}

/* Prints the cost of a combination. */
static void say_cost(sweep_run *s, const combination *c, const char *name,
                     const combination_cost *cost)
{
    char text[32], trials[64] = "";
    json_t *planned = json_pack("{s:s, s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:i, s:i}", "settings",
                                name, "task", c->job.task->name, "model", c->job.model->name,
                                "parameters", (json_int_t)cost->run.parameters, "steps",
                                (json_int_t)cost->run.steps, "step_flops", cost->run.step_flops,
                                "seconds_per_step", cost->run.seconds_per_step, "seconds",
                                cost->seconds, "runs", cost->runs, "missing", cost->missing);
    if (cost->trials) {
        snprintf(trials, sizeof trials, "%d of %d trials and ", cost->missing_trials, cost->trials);
        json_object_set_new(planned, "trials", json_integer(cost->trials));
        json_object_set_new(planned, "missing_trials", json_integer(cost->missing_trials));
    }
    json_array_append_new(s->planned, planned);
    say(s,
        "  %s: %" PRId64 " parameters, %.4g GFLOP/step, %" PRId64
        " steps of %.2f ms, %s per seed, %s%d of %d%s to train",
        name, cost->run.parameters, cost->run.step_flops / 1e9, cost->run.steps,
        1e3 * cost->run.seconds_per_step, lra_time_text(text, cost->seconds), trials, cost->missing,
        cost->runs, cost->trials ? " runs" : "");
}

/* Plans the last n cells, which are the runs of a combination. */
static int plan_runs(sweep_run *s, combination *c, const char *name, int n, lra_err *e)
{
    combination_cost cost = {.runs = n};
    lra_run_cell *cell = s->cell + s->n_cells - n;
    for (int i = 0; i < n; i++) cost.missing += !lra_finished_run_done(cell[i].result);
    say_stale(s, c, name, n, cell);
    s->missing += cost.missing;
    if (cost.missing == 0) {
        say(s, "  %s: done", name);
        return 0;
    }
    int rc = estimate(c, &cost, e);
    for (int i = 0; i < n && rc == 0; i++) cell[i].seconds = cost.seconds;
    if (rc == 0) say_cost(s, c, name, &cost);
    return rc;
}

/* ---- the plan with --tune -------------------------------------------------------------------- */

/* Name of the cell that is the first trial of t, or NULL. */
static const char *cell_of_trial(const sweep_run *s, const lra_tuned_cells *t)
{
    for (int i = 0; i < s->n_trials; i++)
        if (strcmp(s->cell[i].result, t->trial[0]) == 0) return s->cell[i].name;
    return NULL;
}

/* Fills the cells of a combination: its trials, and its runs, which are complete if the trials have
 * ended. */
static void fill_tuned(sweep_run *s, lra_tuned_cells *t)
{
    t->first_trial = s->n_trials;
    for (int i = 0; i < s->tune.n; i++)
        for (int k = 0; k < s->tune.n_seeds; k++) lra_tuned_trial(t, i, k, &s->cell[s->n_trials++]);
    t->cell = s->cell + s->n_cells;
    for (int k = 0; k < t->n_seeds; k++) lra_tuned_run(t, k, &s->cell[s->n_cells++]);
}

/* Chooses the value if all trials have ended, and prints the cost of the combination. */
static void say_tuned(sweep_run *s, const combination *c, lra_tuned_cells *t,
                      combination_cost *cost)
{
    lra_err why;
    int settled = lra_tuned_settle(t, !s->dry, &why);
    if (settled < 0) say(s, "  %s", why.msg);
    for (int k = 0; k < t->n_seeds; k++) cost->missing += is_missing(&t->cell[k]);
    say_stale(s, c, t->name, t->n_seeds, t->cell);
    s->missing += cost->missing;
    s->missing_trials += cost->missing_trials;
    if (settled == 1 && s->dry)
        say(s, "  %s: %s %s is chosen, factor %g of %s", t->name, s->tune.key,
            t->values.text[t->record.best], s->tune.factor[t->record.best], t->values.base);
    if (cost->missing + cost->missing_trials == 0)
        say(s, "  %s: done", t->name);
    else if (!s->list)
        say_cost(s, c, t->name, cost);
}

/* Plans trials and runs of combination i with n seeds. */
static int plan_tuned(sweep_run *s, int i, combination *c, int n, lra_err *e)
{
    lra_tuned_cells *t = &s->tuned[i];
    combination_cost cost = {.runs = n, .trials = s->tune.n * s->tune.n_seeds};
    int64_t *seed = NULL;
    if (lra_option_given(c->options, "from") || lra_option_given(c->options, "matched"))
        return lra_fail_usage(e, "--tune does not apply to runs that start from another run");
    t->tune = &s->tune;
    t->name = lra_grid_name(&s->grid, i);
    t->label = lra_grid_label(&s->grid, i);
    t->memory = s->memory;
    copy_words(&c->command, &t->command);
    if (!s->seed) lra_seeds_first(n, &seed);
    int rc = lra_tuned_cells_open(t, &c->job, n, s->seed ? s->seed : seed, e);
    lra_free(seed);
    const char *same = rc == 0 ? cell_of_trial(s, t) : NULL;
    if (same && s->grid.n_points) { /* points of an experiment can define the same runs */
        lra_tuned_cells_close(t);
        return 0;
    }
    if (same) return lra_fail_usage(e, "it has the same runs as %s", same);
    cost.missing_trials = rc == 0 ? lra_tuned_missing(t) : 0;
    if (rc == 0 && !s->list) rc = estimate(c, &cost, e);
    for (int k = 0; k < s->tune.n && rc == 0; k++)
        t->cost[k] = cost.seconds * lra_tune_cost(&s->tune, &t->values, k, &c->job);
    if (rc != 0) return rc;
    fill_tuned(s, t);
    say_tuned(s, c, t, &cost);
    return 0;
}

static int settle_run(void *of, int i, lra_err *e)
{
    sweep_run *s = of;
    for (int k = 0; k < s->grid.n; k++) {
        lra_tuned_cells *t = &s->tuned[k];
        if (!t->cell || &s->cell[i] < t->cell || &s->cell[i] >= t->cell + t->n_seeds) continue;
        int settled = lra_tuned_settle(t, true, e);
        if (settled == 1)
            lra_free(lra_plan_file_write(lra_option_text(s->options, "out"), s->n_cells, s->cell));
        return settled;
    }
    LRA_BUG("cell %d belongs to no combination", i);
}

/* ---- the plan: all combinations -------------------------------------------------------------- */

static void forget_data(sweep_run *s)
{
    lra_dataset_free(s->data);
    lra_free(s->data_of);
    s->data = NULL, s->data_of = NULL;
}

/* Reuses the data of the previous combination if they are the same. */
static int load_data(sweep_run *s, lra_job *job, lra_err *e)
{
    char *lines = lra_config_lines(job->task_config);
    char *of = lra_format("%s\n%s", job->task->name, lines);
    lra_dataset *same = s->data && strcmp(s->data_of, of) == 0 ? s->data : NULL;
    if (same) s->data = NULL;
    forget_data(s);
    s->data_of = of;
    lra_free(lines);
    return same ? lra_job_use_data(job, same, e) : lra_job_load_data(job, e);
}

/* Keeps the data for the next combination, unless rows were removed from them. */
static void keep_data(sweep_run *s, lra_job *job)
{
    if (!job->data || lra_config_int(job->train_config, "eval-drop-last")) return;
    s->data = job->data;
    job->data = NULL;
}

/* Leaves out a combination of an experiment whose data cannot be loaded, and says so once for each
 * task. */
static int leave_out(sweep_run *s, const lra_job *job, int rc, const lra_err *e)
{
    if (rc != LRA_FAILED || !s->grid.n_points) return rc;
    char *word = lra_format(" %s ", job->task->name);
    if (!s->left_out.s || !strstr(s->left_out.s, word))
        say(s, "  task=%s is left out: %s", job->task->name, e->msg);
    lra_text_add(&s->left_out, "%s", word);
    lra_free(word);
    s->n_left_out++;
    return 1;
}

static int plan_combination(sweep_run *s, int i, lra_err *e)
{
    combination c;
    char *name = lra_grid_name(&s->grid, i);
    int rc = open_combination(s, i, &c, e);
    if (rc == 0) rc = leave_out(s, &c.job, load_data(s, &c.job, e), e);
    int n = s->seed || rc != 0 ? s->n_seeds : c.job.plan.seeds;
    int first = s->n_cells;
    if (rc == 0 && s->tuned) rc = plan_tuned(s, i, &c, n, e);
    for (int k = 0; k < n && rc == 0 && !s->tuned; k++)
        rc = add_cell(s, i, &c, s->seed ? s->seed[k] : k, e);
    n = s->n_cells - first;
    if (rc == 0 && n > 0 && !s->list && !s->tuned) rc = plan_runs(s, &c, name, n, e);
    if (c.options) keep_data(s, &c.job);
    close_combination(&c);
    lra_free(name);
    return rc < 0 ? rc : 0;
}

/* Validates the settings of all combinations, before the data of the first one are prepared. */
static int check_combinations(const sweep_run *s, lra_err *e)
{
    int rc = 0;
    for (int i = 0; i < s->grid.n && rc == 0; i++) {
        combination c;
        lra_tune_values values = {0};
        rc = open_combination(s, i, &c, e);
        if (rc == 0 && s->tune.key) rc = lra_tune_values_of(&s->tune, &c.job, &values, e);
        rc = in_combination(s, i, rc, e);
        lra_tune_values_free(&values);
        close_combination(&c);
    }
    return rc;
}

static void say_left_out(sweep_run *s)
{
    if (s->n_left_out)
        say(s,
            "left out: %d combinations without data; --data-dir DIR names the folder of data sets",
            s->n_left_out);
}

/* Prints number and duration of all runs. */
static void say_total(sweep_run *s)
{
    char text[32], other[32];
    double seconds[2] = {0}; /* of runs and of trials */
    int n_jobs = (int)lra_option_int(s->options, "jobs"), runs = s->n_cells - s->n_trials;
    for (int i = 0; i < s->n_cells; i++)
        if (is_missing(&s->cell[i])) seconds[i < s->n_trials] += s->cell[i].seconds / n_jobs;
    if (!s->tuned) {
        say(s, "sweep: %d combination%s, %d run%s, %d done", s->grid.n, s->grid.n == 1 ? "" : "s",
            runs, runs == 1 ? "" : "s", runs - s->missing);
        say_left_out(s);
        if (s->missing)
            say(s, "about %s in total, %d at a time", lra_time_text(text, seconds[0]), n_jobs);
        return;
    }
    say(s, "sweep: %d combination%s", s->grid.n, s->grid.n == 1 ? "" : "s");
    say(s, "  stage 1: %d trials of %d factors of %s, %d done, about %s", s->n_trials, s->tune.n,
        s->tune.key, s->n_trials - s->missing_trials, lra_time_text(text, seconds[1]));
    say(s, "  stage 2: %d run%s with the chosen %s, %d done, about %s", runs, runs == 1 ? "" : "s",
        s->tune.key, runs - s->missing, lra_time_text(other, seconds[0]));
    say_left_out(s);
    if (s->missing + s->missing_trials)
        say(s, "about %s in total, %d at a time", lra_time_text(text, seconds[0] + seconds[1]),
            n_jobs);
}

/* With --tune: moves the runs behind the trials. room: number of cells before the first run. */
static void place_runs(sweep_run *s, int room)
{
    int runs = s->n_cells - room, gap = room - s->n_trials;
    memmove(s->cell + s->n_trials, s->cell + room, (size_t)runs * sizeof *s->cell);
    s->n_cells = s->n_trials + runs;
    for (int i = 0; i < s->grid.n && s->tuned; i++)
        if (s->tuned[i].cell) s->tuned[i].cell -= gap;
}

static int make_plan(sweep_run *s, lra_err *e)
{
    const lra_options *o = s->options;
    int rc = check_combinations(s, e), room = s->grid.n * s->tune.n * s->tune.n_seeds;
    if (s->tune.key) s->tuned = lra_alloc_array((size_t)s->grid.n, sizeof *s->tuned);
    s->cell = lra_alloc_array((size_t)(room + s->grid.n * MOST_SEEDS), sizeof *s->cell);
    s->n_cells = room;
    s->memory = lra_run_cells_memory(MIB * (double)lra_option_int(o, "memory"),
                                     (int)lra_option_int(o, "jobs"));
    for (int i = 0; i < s->grid.n && rc == 0; i++)
        rc = in_combination(s, i, plan_combination(s, i, e), e);
    forget_data(s);
    if (rc != 0) return rc;
    place_runs(s, room);
    if (s->n_cells == 0)
        return lra_fail(e,
                        "no run is left: the data of no combination were found; --data-dir DIR is "
                        "the folder with the files of all tasks");
    say_total(s);
    return 0;
}

static int print_commands(const sweep_run *s, lra_err *e)
{
    int unknown = 0;
    for (int i = 0; i < s->n_cells; i++) {
        unknown += !s->cell[i].result;
        if (!s->cell[i].result || !is_missing(&s->cell[i])) continue;
        char *line = lra_command_words_line(&s->cell[i].command, e);
        if (!line) return LRA_USAGE;
        printf("%s\n", line);
        lra_free(line);
    }
    if (unknown)
        lra_note("%d runs of stage 2 depend on trials: when these are trained, --print-plan prints "
                 "the others",
                 unknown);
    return 0;
}

/* The command of a worker: this command without options of the plan, and with --requeue. */
static void worker_command(const sweep_run *s, lra_command_words *w)
{
    static const char *const except[] = {"slurm",      "workers", "requeue", "dry-run",
                                         "print-plan", "json",    NULL};
    const lra_options *o = s->options;
    lra_command_words_add(w, lra_copy_text("sweep"));
    if (lra_option_n_args(o)) lra_command_words_add(w, lra_copy_text(lra_option_arg(o, 0)));
    for (int i = 0; tables[i]; i++) lra_command_words_add_given(w, o, tables[i], except);
    lra_command_words_add(w, lra_copy_text("--requeue"));
}

static int write_slurm(const sweep_run *s, const char *path, lra_err *e)
{
    const lra_options *o = s->options;
    lra_command_words words = {0};
    int64_t jobs = lra_option_int(o, "jobs"), threads = lra_option_int(o, "threads");
    int workers = (int)lra_option_int(o, "workers");
    int missing = 0;
    for (int i = 0; i < s->n_cells; i++) missing += is_missing(&s->cell[i]);
    if (missing == 0) {
        printf("all runs are done; '%s' is not written\n", path);
        return 0;
    }
    worker_command(s, &words);
    const lra_slurm_job job = {
        .command = &words,
        .name = "lra-sweep",
        .out = lra_option_text(o, "out"),
        .workers = workers < missing ? workers : missing,
        .cpus = (int)(jobs * (threads ? threads : 1)),
    };
    int rc = lra_slurm_script_write(path, &job, e);
    lra_command_words_free(&words);
    if (rc == 0)
        printf("wrote %s: %d workers for %d runs\nnext  sbatch %s\n", path, job.workers, missing,
               path);
    return rc;
}

/* For --dry-run --json: prints every combination with missing runs. */
static void print_planned(const sweep_run *s)
{
    json_t *document = json_pack("{s:i, s:O}", "schema", 1, "combinations", s->planned);
    json_dumpf(document, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(document);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Reads the results of n cells; diverged trials have none (NULL). Returns 0 or -1. */
static int read_results(int n, const lra_run_cell *cell, lra_result **list, lra_err *e)
{
    for (int i = 0; i < n; i++) {
        if (cell[i].diverges && !lra_file_exists(cell[i].result)) continue;
        list[i] = lra_finished_run_result(cell[i].result, e);
        if (!list[i]) return LRA_FAILED;
    }
    return 0;
}

/* Assigns the results of trials and runs to the choices. all: results by cell; *n: number of
 * choices. */
static lra_tuning_result **choices_of(sweep_run *s, lra_result *const *all, int *n)
{
    lra_tuning_result **list = lra_alloc_array((size_t)s->grid.n + 1, sizeof *list);
    int n_seeds = s->tune.n_seeds;
    *n = 0;
    for (int c = 0; c < s->grid.n; c++) {
        lra_tuned_cells *t = &s->tuned[c];
        if (!t->cell) continue; /* left out */
        list[(*n)++] = &t->record;
        for (int i = 0; i < s->tune.n * n_seeds; i++)
            t->record.trial[i / n_seeds].result[i % n_seeds] = all[t->first_trial + i];
        for (int k = 0; k < t->n_seeds; k++) t->record.result[k] = all[t->cell - s->cell + k];
    }
    return list;
}

static int print_table(sweep_run *s, lra_result **all, lra_err *e)
{
    const lra_report_table *table = s->tuned ? &lra_table_tuned : &lra_table_tasks;
    lra_report_input in = {0};
    if (s->tuned) in.tunings = choices_of(s, all, &in.n_tunings);
    int n = 0;
    for (int i = 0; i < s->n_cells; i++) /* diverged trials have no result */
        if (all[i]) all[n++] = all[i];
    for (int i = n; i < s->n_cells; i++) all[i] = NULL;
    if (s->tuned)
        in.tuned = all, in.n_tuned = n;
    else
        in.list = all, in.n = n;
    bool json = lra_option_flag(s->options, "json");
    int rc = lra_report_print(table, stdout, &in, json ? "json" : "text", e);
    if (rc == 0 && !json) {
        const char *out = lra_option_text(s->options, "out");
        char *word = lra_shell_word(out);
        printf("\nresults   %s/runs\nnext      lra-report tables --table %s --out %s\n", out,
               s->layout && !s->tuned ? s->layout->id : table->name, word);
        lra_free(word);
    }
    lra_free((void *)(uintptr_t)in.tunings);
    return rc;
}

static int print_results(sweep_run *s, lra_err *e)
{
    lra_result **all = lra_alloc_array((size_t)s->n_cells + 1, sizeof *all);
    int rc = read_results(s->n_cells, s->cell, all, e);
    if (rc == 0) rc = print_table(s, all, e);
    lra_results_free(all, s->n_cells);
    return rc;
}

/* Reads the grid from a file. If the argument is neither a file nor the name of an experiment,
 * fails with the most similar name. */
static int read_file(lra_grid *g, const char *from, lra_err *e)
{
    const char *name[64];
    int n = 0;
    if (lra_file_exists(from) || strpbrk(from, "/.")) return lra_grid_read(g, from, e);
    for (; lra_layout_at(n) && n < 64; n++) name[n] = lra_layout_at(n)->id;
    return lra_fail_unknown(e, "experiment or file", from, n, name, "lra-probe list experiments");
}

/* Reads the seeds from --seeds, else from the line "seeds = 0, 2, 5" or "seeds = 3" of the grid. */
static int read_seeds(sweep_run *s, lra_err *e)
{
    const char *given = lra_option_text(s->options, "seeds");
    char *line = lra_grid_take(&s->grid, "seeds");
    int rc = given && line
                 ? lra_fail_usage(e, "--seeds is given, but the grid also has 'seeds'; remove one")
                 : 0;
    if (rc == 0 && (given || line)) {
        s->n_seeds = lra_seeds_read("seeds", given ? given : line, MOST_SEEDS, &s->seed, e);
        if (s->n_seeds < 0) rc = LRA_USAGE;
    }
    lra_free(line);
    return rc;
}

static int open_grid(sweep_run *s, lra_err *e)
{
    const lra_options *o = s->options;
    const char *one;
    const char *from = lra_option_n_args(o) ? lra_option_arg(o, 0) : NULL;
    const lra_layout *named = from ? lra_layout_find(from) : NULL;
    int rc = from && !named ? read_file(&s->grid, from, e) : 0;
    s->layout = named;
    for (int i = 0; rc == 0 && (one = lra_option_repeat(o, "vary", i)) != NULL; i++)
        if ((rc = lra_grid_add(&s->grid, one, e)) != 0) lra_fail_in(e, "--vary");
    if (rc == 0) rc = read_seeds(s, e);
    if (rc == 0) rc = lra_tune_open(&s->tune, o, e);
    if (rc == 0 && s->seed) rc = lra_tune_check_seeds(&s->tune, s->n_seeds, s->seed, e);
    for (int a = 0; a < s->grid.n_axes && rc == 0 && s->tune.key; a++)
        if (strcmp(s->grid.axis[a].key, s->tune.key) == 0)
            rc = lra_fail_usage(e, "--tune: '%s' already varies; remove one", s->tune.key);
    if (rc == 0 && named) rc = lra_experiment_grid(named, o, &s->grid, e);
    if (rc == 0 && s->grid.n == 0)
        rc = lra_fail_usage(e,
                            "no setting varies; expected --vary KEY=LIST (%s), a FILE, or the NAME "
                            "of an experiment ('lra-probe list experiments')",
                            s->tune.key ? "with --tune, --vary model=NAME is enough"
                                        : "may be repeated");
    if (rc == 0 && s->list && lra_option_flag(o, "json"))
        rc = lra_fail_usage(e, "--print-plan and --json exclude each other");
    return rc == 0 ? lra_grid_check(&s->grid, o, e) : rc;
}

static int make_sweep(sweep_run *s, lra_err *e)
{
    int rc = open_grid(s, e);
    if (rc == 0) rc = make_plan(s, e);
    if (rc == 0 && lra_option_given(s->options, "slurm"))
        return write_slurm(s, lra_option_text(s->options, "slurm"), e);
    if (rc == 0 && s->list) return print_commands(s, e);
    if (rc == 0 && s->dry) {
        if (lra_option_flag(s->options, "json"))
            print_planned(s);
        else
            printf("%s", s->plan.s);
        return 0;
    }
    const lra_run_cells all = {.n_parts = 1,
                               .n = s->n_cells,
                               .cell = s->cell,
                               .settle = s->tuned ? settle_run : NULL,
                               .of = s,
                               .retry = lra_option_flag(s->options, "retry")};
    char *plan = rc == 0
                     ? lra_plan_file_write(lra_option_text(s->options, "out"), s->n_cells, s->cell)
                     : NULL;
    if (rc == 0) rc = lra_run_cells_train(&all, (int)lra_option_int(s->options, "jobs"), e);
    if (rc == 0) lra_plan_file_remove(plan);
    lra_free(plan);
    if (rc == LRA_STOPPED) {
        lra_note("stopped; checkpoints are saved, the same command resumes");
        return lra_option_flag(s->options, "requeue") ? LRA_EXIT_REQUEUE : LRA_EXIT_INTERRUPTED;
    }
    return rc == 0 ? print_results(s, e) : rc;
}

static int sweep(const lra_options *o, lra_err *e)
{
    sweep_run s = {.options = o, .planned = json_array()};
    s.list = lra_option_flag(o, "print-plan") || lra_option_given(o, "slurm");
    s.dry = s.list || lra_option_flag(o, "dry-run");
    if (s.dry) lra_dry_run_limit();
    int rc = make_sweep(&s, e);
    lra_run_cells_free(s.cell, s.n_cells);
    for (int i = 0; i < s.grid.n && s.tuned; i++) lra_tuned_cells_close(&s.tuned[i]);
    lra_free(s.tuned);
    lra_tune_close(&s.tune);
    lra_grid_free(&s.grid);
    lra_free(s.seed);
    lra_text_free(&s.plan);
    lra_text_free(&s.left_out);
    json_decref(s.planned);
    return rc;
}

const lra_probe lra_probe_sweep = {
    "sweep", "trains every combination of settings, tasks or models and prints one table", &command,
    sweep};
