/* Compares the time of batches with the time of training steps, for each task, in one table
 * (loader_case.h). Official files of tasks that cannot be generated are searched below --data-dir,
 * as in 'data --all --check'. */
#include <omp.h>
#include <string.h>

#include "datasets/loader/augment.h"
#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/core/version.h"
#include "kernels/cpu/features.h"
#include "probes/bench/bench.h"
#include "probes/bench/loader_case.h"
#include "probes/run/job.h"
#include "reports/print/table.h"

enum { ENOUGH = 10 /* ratio of step time to loader time from which loading is fast enough */ };

typedef struct {
    const lra_options *options;
    lra_official_folders places;
    lra_table *table;
    lra_loader_times *times;
    int n_measured, n_slow, n_failed;
} loader_bench;

/* ---- the table ------------------------------------------------------------------------------- */

static void add_names(loader_bench *l, const lra_loader_case *c)
{
    const lra_augmentation *a = lra_augmentation_of(c->task);
    lra_table_row(l->table);
    lra_table_cell(l->table, "%s", c->task->name);
    lra_table_cell(l->table, "%s", c->preset);
    lra_table_cell(l->table, "%s%s%s", c->objective->name, c->augment ? " + " : "",
                   c->augment ? a->name : "");
}

static void add_row(loader_bench *l, const lra_loader_case *c, lra_loader_times *t)
{
    lra_table *table = l->table;
    bench_time load = bench_time_of(t->load, t->n), step = bench_time_of(t->step, t->n);
    double ratio = step.median / load.median, rate = (double)t->batch / load.median;
    bool slow = ratio < ENOUGH;
    l->n_measured++, l->n_slow += slow;
    add_names(l, c);
    lra_table_cell(table, "%s", t->precision);
    lra_table_number(table, (double)t->rows, 0);
    lra_table_number(table, bench_time_of(t->length, t->n).median, 0);
    lra_table_number(table, (double)t->batch, 0);
    lra_table_value(table, 1e3 * load.median, "%.3f", 1e3 * load.median);
    lra_table_value(table, 1e3 * step.median, "%.2f", 1e3 * step.median);
    lra_table_value(table, ratio, ratio < 100 ? "%.1f" : "%.0f", ratio);
    lra_table_cell(table, slow ? "below %d" : "-", (int)ENOUGH);
    lra_table_value(table, rate, "%.0f", rate);
    lra_table_value(table, c->prepared, "%.0f", c->prepared);
    lra_table_number(table, t->n, 0);
    lra_table_number(table, 1e3 * load.low, 3);
    lra_table_number(table, 1e3 * load.high, 3);
    lra_table_number(table, 1e3 * step.low, 3);
    lra_table_number(table, 1e3 * step.high, 3);
    lra_table_cell(table, "-");
}

/* Adds a row with the reason why nothing was measured. */
static void add_reason(loader_bench *l, const lra_loader_case *c, const lra_err *why)
{
    enum { NUMBERS = 15 };
    char *note = lra_format("%s\t%s", c->task->name, why->msg);
    bool again = l->table->n_notes && strcmp(l->table->note[l->table->n_notes - 1], note) == 0;
    add_names(l, c);
    for (int i = 0; i < NUMBERS; i++) lra_table_cell(l->table, "-");
    lra_table_cell(l->table, "%s", why->msg);
    if (!again) lra_table_note(l->table, "%s", note);
    lra_free(note);
}

/* ---- all tasks ------------------------------------------------------------------------------- */

/* True if this case is requested by --objective and --augment. By default: every objective without
 * augmentation, and classification also with augmentation. */
static bool is_wanted(const lra_loader_case *c)
{
    const char *name = lra_option_text(c->options, "objective");
    const lra_augmentation *a = lra_augmentation_of(c->task);
    /* tasks with fresh rows generate new rows in every epoch, without augmentation */
    bool can = a && !c->task->data.fresh;
    if (name && strcmp(name, c->objective->name) != 0) return false;
    if (lra_option_given(c->options, "augment"))
        return can && c->augment && strcmp(a->name, lra_option_text(c->options, "augment")) == 0 &&
               (name || c->objective == &lra_objective_classify);
    return !c->augment || (can && c->objective == &lra_objective_classify);
}

/* Measures one row of the table. No row is added for an objective that does not fit the task,
 * unless it was requested. */
static int run_case(loader_bench *l, lra_loader_case *c, lra_err *e)
{
    bool only = lra_option_given(l->options, "task"),
         named = lra_option_given(l->options, "objective");
    bool any = !named && c->objective != &lra_objective_classify;
    lra_err why = {{0}};
    int rc = lra_loader_case_run(c, l->times, &why);
    if (rc == 0) {
        add_row(l, c, l->times);
        return 0;
    }
    if (rc == LRA_USAGE && any) return 0;
    if (only || lra_stop_signal()) {
        *e = why;
        return rc == LRA_USAGE ? LRA_USAGE : LRA_FAILED;
    }
    l->n_failed += rc == LRA_FAILED;
    add_reason(l, c, &why);
    return rc == LRA_ABSENT ? LRA_ABSENT : 0;
}

/* Measures all rows of one task and preset. Returns LRA_ABSENT if the data are not available. */
static int run_preset(loader_bench *l, lra_loader_case *c, lra_err *e)
{
    int rc = 0;
    for (int i = 0; lra_objective_at(i) && rc == 0; i++)
        for (int k = 0; k < 2 && rc == 0; k++) {
            c->objective = lra_objective_at(i), c->augment = k;
            if (!is_wanted(c)) continue;
            lra_detail("%s %s %s%s", c->task->name, c->preset, c->objective->name,
                       k ? " augmented" : "");
            rc = run_case(l, c, e);
        }
    lra_dataset_free(c->data);
    return rc;
}

static int run_task(loader_bench *l, const lra_task *t, lra_err *e)
{
    static const char *const presets[] = {"quick", "small"};
    const char *one = lra_option_text(l->options, "preset");
    int rc = 0;
    for (int i = 0; i < (one ? 1 : 2) && rc == 0; i++) {
        lra_loader_case c = {.options = l->options,
                             .places = &l->places,
                             .task = t,
                             .preset = one ? one : presets[i]};
        if (lra_option_flag(l->options, "all")) lra_note("%s, %s", t->name, c.preset);
        if (lra_task_budget(t, c.preset)) rc = run_preset(l, &c, e);
    }
    return rc == LRA_ABSENT ? 0 : rc;
}

/* ---- the command ----------------------------------------------------------------------------- */

static lra_table *new_table(void)
{
    static const char *const head[] = {"task",   "preset", "training",  "prec.",   "rows",
                                       "length", "batch",  "loader ms", "step ms", "ratio",
                                       "flag",   "rows/s", "made/s",    "",        "",
                                       "",       "",       "",          ""};
    static const char *const key[] = {
        "task",          "preset",      "training",       "precision", "rows",
        "length",        "batch",       "loader_ms",      "step_ms",   "ratio",
        "flag",          "rows_per_s",  "prepared_per_s", "runs",      "loader_p10_ms",
        "loader_p90_ms", "step_p10_ms", "step_p90_ms",    "message"};
    lra_table *t = lra_table_new("Data loader compared with the training step",
                                 sizeof head / sizeof *head, head);
    lra_table_keys(t, key);
    return t;
}

static void add_notes(loader_bench *l)
{
    const lra_options *o = l->options;
    int requested = (int)lra_option_int(o, "threads"), most = omp_get_num_procs();
    int threads = requested > 0 && requested < most ? requested : most;
    lra_table *t = l->table;
    lra_table_note(
        t,
        "machine\t%s, instruction level %s, at most %d thread%s per step, one for the loader; "
        "revision %s",
        lra_cpu_name(), lra_cpu_best(), threads, threads == 1 ? "" : "s", lra_revision());
    lra_table_note(
        t,
        "loader\tmedian time per batch, loaded between two steps by the thread that consumes it");
    lra_table_note(t, "step\tmedian time of a training step of '%s' on that batch",
                   lra_option_text(o, "model"));
    lra_table_note(
        t, "ratio\tstep time divided by loader time; the flag marks ratios below %d: %d of %d",
        (int)ENOUGH, l->n_slow, l->n_measured);
    lra_table_note(
        t, "rows/s\trows loaded per second; made/s: rows per second generated or read from files");
    lra_table_fact_text(t, "processor", lra_cpu_name());
    lra_table_fact_text(t, "level", lra_cpu_best());
    lra_table_fact_text(t, "revision", lra_revision());
    lra_table_fact_text(t, "model", lra_option_text(o, "model"));
    lra_table_fact(t, "threads", threads);
    lra_table_fact(t, "measured", l->n_measured);
    lra_table_fact(t, "below_10", l->n_slow);
}

/* Fails if the requested task or objectives do not exist, or are not compatible. */
static int check(const lra_options *o, const lra_task **only, lra_err *e)
{
    const char *task = lra_option_text(o, "task"), *objective = lra_option_text(o, "objective");
    const char *augment = lra_option_text(o, "augment"), *folder = lra_option_text(o, "data-dir");
    *only = task ? lra_task_find(task, e) : NULL;
    if (task && !*only) return LRA_USAGE;
    if (objective && !lra_objective_find(objective, e)) return LRA_USAGE;
    if (*only && lra_option_flag(o, "all"))
        return lra_fail_usage(e, "--all selects every task; remove '--task %s' or --all", task);
    if (augment && !lra_augmentation_find(augment, e)) return LRA_USAGE;
    const lra_augmentation *a = *only ? lra_augmentation_of(*only) : NULL;
    if (*only && augment && (!a || strcmp(a->name, augment) != 0))
        return lra_fail_usage(e, "task '%s' has %s%s%s, not '%s'", task,
                              a ? "'" : "no augmentation", a ? a->name : "", a ? "'" : "", augment);
    if (*only && lra_option_given(o, "preset") &&
        !lra_task_budget(*only, lra_option_text(o, "preset")))
        return lra_fail_usage(e, "task '%s' has no preset '%s'", task,
                              lra_option_text(o, "preset"));
    if (*only && (*only)->resolve)
        return lra_fail_usage(
            e, "task '%s' is own data; this benchmark has official and generated tasks", task);
    if (folder && !lra_file_exists(folder))
        return lra_fail(e, "there is no file or folder '%s', expected official files", folder);
    return 0;
}

int bench_loader(const lra_options *o, lra_err *e)
{
    const lra_task *only;
    const char *folder = lra_option_text(o, "data-dir");
    int rc = check(o, &only, e);
    if (rc != 0) return rc;
    if (lra_cpu_init(e) != 0) return LRA_FAILED;
    loader_bench l = {.options = o, .table = new_table(), .times = lra_alloc(sizeof *l.times)};
    if (folder) lra_official_folders_find(&l.places, folder);
    if (lra_option_int(o, "threads") > 0) omp_set_num_threads((int)lra_option_int(o, "threads"));
    if (only) rc = run_task(&l, only, e);
    for (int i = 0; !only && lra_task_at(i) && rc == 0; i++)
        if (!lra_task_at(i)->resolve) rc = run_task(&l, lra_task_at(i), e);
    add_notes(&l);
    if (rc == 0)
        rc = lra_table_print(l.table,
                             lra_option_flag(o, "json")  ? "json"
                             : lra_option_flag(o, "csv") ? "csv"
                                                         : "text",
                             stdout, e);
    if (rc == 0 && l.n_measured == 0) rc = lra_fail(e, "no task could be measured");
    if (rc == 0 && l.n_failed) rc = lra_fail(e, "%d rows could not be measured", l.n_failed);
    lra_official_folders_free(&l.places);
    lra_table_free(l.table);
    lra_free(l.times);
    return rc;
}
