/* Times one task at one preset: opens its run, prepares its data, and measures (loader_case.h). */
#include "probes/bench/loader_case.h"

#include <string.h>

#include "datasets/prepare.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"
#include "kernels/base/core/warnings.h"
#include "models/training/session.h"
#include "probes/bench/bench.h"
#include "probes/run/job.h"
#include "probes/run/job_options.h"

enum { EPOCH = 8 /* number of batches for which images are generated */, LEAST = 3 };

/* ---- the run of the step --------------------------------------------------------------------- */

static const lra_option *const job_tables[] = {lra_job_options, NULL};
static const lra_command job_command = {.program = "lra-probe bench", .tables = job_tables};

/* Command line of the run; the parsed options point into it. */
typedef struct {
    char **argv;
    int n;
} command_line;

static command_line job_line(const lra_loader_case *c)
{
    enum { OWN = 16 };
    const lra_options *o = c->options;
    int n_sets = 0, n = 0;
    while (lra_option_repeat(o, "set", n_sets)) n_sets++;
    char **argv = lra_alloc_array((size_t)(OWN + n_sets), sizeof *argv);
    argv[n++] = lra_format("--task=%s", c->task->name);
    argv[n++] = lra_format("--preset=%s", c->preset);
    argv[n++] = lra_format("--objective=%s", c->objective->name);
    argv[n++] = lra_format("--model=%s", lra_option_text(o, "model"));
    argv[n++] = lra_format("--threads=%lld", (long long)lra_option_int(o, "threads"));
    argv[n++] = lra_format("--device=%s", lra_option_text(o, "device"));
    if (lra_option_given(o, "precision"))
        argv[n++] = lra_format("--precision=%s", lra_option_text(o, "precision"));
    if (lra_option_given(o, "recompute"))
        argv[n++] = lra_format("--recompute=%s", lra_option_text(o, "recompute"));
    if (lra_option_given(o, "batch"))
        argv[n++] = lra_format("--set=batch=%lld", (long long)lra_option_int(o, "batch"));
    if (c->augment) argv[n++] = lra_copy_text("--set=augment=1");
    if (c->objective->training == LRA_MASK_NEXT) argv[n++] = lra_copy_text("--set=causal=1");
    for (int i = 0; i < n_sets; i++)
        argv[n++] = lra_format("--set=%s", lra_option_repeat(o, "set", i));
    return (command_line){argv, n};
}

static void free_line(command_line l)
{
    for (int i = 0; i < l.n; i++) lra_free(l.argv[i]);
    lra_free(l.argv);
}

/* ---- its data -------------------------------------------------------------------------------- */

/* Imports the files from the nearest folder that contains them. If no folder does, the message is
 * that of the first folder. Warnings (for example, about comparability of accuracies) are
 * suppressed. */
static int import(const lra_official_folders *p, const lra_job *j, lra_dataset **out, lra_err *e)
{
    int rc = LRA_ABSENT;
    lra_text warnings = {0};
    lra_warn_into(&warnings);
    for (int i = 0; i < p->n && rc == LRA_ABSENT && !lra_stop_signal(); i++) {
        lra_err why = {{0}};
        rc = lra_dataset_import(j->task, j->task_config, p->path[i], out, &why);
        if (i == 0 || (rc != 0 && rc != LRA_ABSENT)) *e = why;
    }
    lra_warn_into(NULL);
    lra_text_free(&warnings);
    return rc;
}

static int make(const lra_job *j, lra_dataset **out, lra_err *e)
{
    lra_config *c = lra_config_copy(j->task_config);
    if (j->task->data.resize) /* 80 % of the rows are the training split */
        j->task->data.resize(c, (EPOCH + 2) * lra_config_int(j->train_config, "batch"));
    *out = lra_dataset_make(j->task, c, e);
    lra_config_free(c);
    return *out ? 0 : LRA_FAILED;
}

/* Number of rows of all splits; for a stream, number of windows. */
static double rows_of(const lra_dataset *d)
{
    double n = 0;
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        const lra_sequences *r = &d->split[s];
        bool stream = d->task->goal == LRA_GOAL_NEXT && r->n;
        n += stream ? (double)r->start[r->n] / (double)d->max_length : (double)r->n;
    }
    return n;
}

static int prepare(lra_loader_case *c, const lra_job *j, lra_err *e)
{
    bool requested = lra_option_given(c->options, "task") && c->places->n;
    double start = lra_now();
    int rc;
    if (j->task->data.make && !requested)
        rc = make(j, &c->data, e);
    else if (!j->task->files.import)
        rc = lra_fail_usage(e, "task '%s' can only be generated; remove --data-dir", j->task->name);
    else if (c->places->n == 0)
        rc = lra_fail_usage(e, "task '%s' cannot be generated: --data-dir must name its files (%s)",
                            j->task->name, j->task->files.source);
    else
        rc = import(c->places, j, &c->data, e);
    if (rc == 0) c->prepared = rows_of(c->data) / (lra_now() - start);
    return rc;
}

/* ---- the measurement ------------------------------------------------------------------------- */

static int take_step(lra_session *s, const lra_batch *b, double *seconds, lra_err *e)
{
    int64_t parts = lra_update_batches(s->spec);
    lra_step step = {.seed = s->spec->seed};
    float status[4];
    double start = lra_now();
    if (bench_stopped(e) != 0 || lra_session_part(s, b, parts - 1, &step, status, e) != 0)
        return LRA_FAILED;
    *seconds = lra_now() - start;
    return 0;
}

static int take_turns(lra_session *s, lra_loader *l, double seconds, lra_loader_times *t,
                      lra_err *e)
{
    bool warm[LRA_MAX_BUCKETS] = {false};
    int64_t n = lra_loader_batches(l);
    double start = lra_now(), ordered;
    lra_loader_epoch(l, 1);
    ordered = (lra_now() - start) / (double)n;
    lra_loader_get(l, 0); /* the first batch touches the loader's memory and is not timed */
    start = lra_now();
    for (t->n = 0; t->n < LRA_MOST_TURNS && (t->n < LEAST || lra_now() - start < seconds); t->n++) {
        double before = lra_now();
        const lra_batch *b = lra_loader_get(l, t->n % n);
        t->load[t->n] = lra_now() - before + ordered;
        t->length[t->n] = (double)s->buckets.length[b->bucket];
        if (!warm[b->bucket] && take_step(s, b, &before, e) != 0) return LRA_FAILED;
        warm[b->bucket] = true;
        if (take_step(s, b, &t->step[t->n], e) != 0) return LRA_FAILED;
    }
    return 0;
}

static int measure(const lra_loader_case *c, const lra_job *j, lra_loader_times *t, lra_err *e)
{
    lra_train_spec spec;
    lra_session s = {0};
    lra_device device = j->device;
    lra_job_spec(j, 0, &spec);
    int rc = lra_session_open(&s, &spec, &device, e);
    if (rc == 0) {
        lra_loader_spec how = lra_session_loader_spec(&s, LRA_TRAIN_SPLIT, true);
        how.alone = true;
        lra_loader *l = lra_loader_new(&how);
        t->rows = lra_loader_rows(l), t->batch = spec.batch;
        t->precision = spec.type == LRA_BF16 ? "bf16" : "f32";
        rc = lra_loader_batches(l) > 0
                 ? take_turns(&s, l, lra_option_real(c->options, "seconds") / 10, t, e)
                 : lra_fail(e, "batch %lld is larger than the training set of %lld rows",
                            (long long)spec.batch, (long long)t->rows);
        lra_loader_free(l);
        lra_session_close(&s);
    }
    lra_job_spec_free(&spec);
    return rc;
}

/* Opens the run and measures it. o is NULL if the options could not be parsed. */
static int run_job(lra_loader_case *c, const lra_options *o, lra_loader_times *t, lra_err *e)
{
    lra_job job = {0};
    int rc = o ? lra_job_open(&job, o, e) : LRA_USAGE;
    bool opened = rc == 0, only = lra_option_given(c->options, "task");
    if (rc == 0 && !c->data) rc = prepare(c, &job, e);
    if (rc != 0 && opened) rc = rc == LRA_USAGE && only ? LRA_USAGE : LRA_ABSENT;
    if (rc == 0) {
        job.data = c->data;
        rc = measure(c, &job, t, e);
        job.data = NULL; /* the caller owns the data */
    }
    lra_job_close(&job);
    return rc;
}

int lra_loader_case_run(lra_loader_case *c, lra_loader_times *t, lra_err *e)
{
    command_line line = job_line(c);
    lra_options *o = lra_options_parse(&job_command, line.n, line.argv, e);
    int rc = run_job(c, o, t, e);
    lra_options_free(o);
    free_line(line);
    return rc;
}
