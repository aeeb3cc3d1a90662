/* Trains the cells of a ladder.  Several at once (--jobs) are processes of this same program. */
#include "probes/run/ladder_cells.h"

#include <inttypes.h>

#include "kernels/base/file.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/process.h"
#include "kernels/base/program.h"
#include "kernels/base/signals.h"
#include "kernels/base/terminal.h"
#include "probes/run/job_options.h"
#include "probes/run/ladder_display.h"
#include "probes/run/train_job.h"

enum { MIB = 1 << 20 };

static int train_here(const lra_ladder_cells *l, lra_err *e)
{
    for (int i = 0; i < l->n; i++) {
        const lra_ladder_cell *c = &l->cell[i];
        if (lra_file_exists(c->result)) continue;
        double start = lra_now();
        lra_rungs_set(l->rungs, c->rung, l->job);
        int rc = lra_job_train(l->job, c->seed, e);
        if (rc != 0) return rc;
        char text[32], name[48];
        lra_note("  %2d of %d: %-7s seed %" PRId64 " trained in %s", i + 1, l->n,
                 lra_rungs_name(l->rungs, c->rung, name), c->seed,
                 lra_time_text(text, lra_now() - start));
    }
    return 0;
}

/* The command of one cell: this program's `train` with the same options of a run. */
static char **cell_command(const lra_ladder_cells *l, const lra_ladder_cell *c)
{
    const lra_options *o = l->options;
    char **argv = lra_alloc_array(256, sizeof *argv);
    int n = 0;
    argv[n++] = lra_copy_text("lra-probe");
    argv[n++] = lra_copy_text("train");
    for (int i = 0; lra_job_options[i].name; i++) {
        const char *name = lra_job_options[i].name;
        switch (lra_job_options[i].kind) {
        case LRA_OPTION_TEXT:
        case LRA_OPTION_CHOICE:
            if (lra_option_text(o, name))
                argv[n++] = lra_format("--%s=%s", name, lra_option_text(o, name));
            break;
        case LRA_OPTION_INT:
            if (lra_job_options[i].value) /* --memory, below: the share of a cell */
                argv[n++] = lra_format("--%s=%" PRId64, name, lra_option_int(o, name));
            break;
        case LRA_OPTION_REAL:
            argv[n++] = lra_format("--%s=%.17g", name, lra_option_real(o, name));
            break;
        case LRA_OPTION_FLAG:
            if (lra_option_flag(o, name)) argv[n++] = lra_format("--%s", name);
            break;
        case LRA_OPTION_REPEAT: break; /* --set, below: the rung is set last */
        case LRA_OPTION_INTS: LRA_BUG("no such option among those of a run: '%s'", name);
        }
    }
    for (int i = 0; lra_option_repeat(o, "set", i) && n < 240; i++)
        argv[n++] = lra_format("--set=%s", lra_option_repeat(o, "set", i));
    if (l->assignment) argv[n++] = lra_format("--set=%s", l->assignment);
    const lra_planned_rung *rung = &l->rungs->rung[c->rung];
    argv[n++] = lra_format("--set=%s=%" PRId64, l->rungs->axis, rung->value);
    if (l->rungs->count > 0)
        argv[n++] = lra_format("--set=%s=%" PRId64, l->job->model->match, rung->size);
    if (rung->ladder) argv[n++] = lra_format("--ladder=%s", rung->ladder);
    argv[n++] = lra_format("--seed=%" PRId64, c->seed);
    if (l->job->memory > 0) argv[n++] = lra_format("--memory=%.0f", l->job->memory / MIB);
    argv[n++] = lra_copy_text("--quiet");
    return argv;
}

static void free_command(char **argv)
{
    for (int i = 0; argv[i]; i++) lra_free(argv[i]);
    lra_free(argv);
}

typedef struct {
    const lra_ladder_cells *l;
    int n_jobs, running, next, trained, missing;
    lra_process child[LRA_LADDER_MAX_JOBS];
    int at[LRA_LADDER_MAX_JOBS]; /* the cell that child[i] trains */
    lra_ladder_display *display; /* NULL: nobody watches */
} dealer;

/* Starts missing cells until n_jobs run. */
static int start_cells(dealer *d, lra_err *e)
{
    for (; d->next < d->l->n && d->running < d->n_jobs; d->next++) {
        int slot = 0;
        if (lra_file_exists(d->l->cell[d->next].result)) continue;
        while (d->child[slot].pid) slot++;
        char **argv = cell_command(d->l, &d->l->cell[d->next]);
        int rc = lra_process_start(&d->child[slot], argv, LRA_SELF | LRA_QUIET_OUT, e);
        free_command(argv);
        if (rc != 0) return rc;
        d->at[slot] = d->next;
        d->running++;
        if (d->display) lra_ladder_display_start(d->display, d->next);
    }
    return 0;
}

/* The next cell that ends; meanwhile the display is kept up to date.  Returns its process, or
 * -1. */
static int wait_for_cell(dealer *d, int *status, lra_err *e)
{
    int slot = d->n_jobs;
    while (slot == d->n_jobs) {
        if (d->display) lra_ladder_display_draw(d->display);
        slot = lra_process_wait_any(d->child, d->n_jobs, d->display ? 0.5 : -1, status, e);
    }
    if (slot >= 0 && d->display) lra_ladder_display_end(d->display, d->at[slot]);
    return slot;
}

/* A cell has ended with this exit code. */
static int cell_ended(dealer *d, const lra_ladder_cell *c, int status, lra_err *e)
{
    const lra_rungs *r = d->l->rungs;
    if (status == LRA_EXIT_INTERRUPTED) return LRA_STOPPED;
    if (status != 0)
        return lra_fail(e, "the run of %s %" PRId64 " seed %" PRId64 " ended with exit code %d",
                        r->axis, r->rung[c->rung].value, c->seed, status);
    lra_note("  %2d of %d: %-7s seed %" PRId64 " is trained", ++d->trained, d->missing,
             lra_rungs_name(r, c->rung, (char[48]){0}), c->seed);
    return 0;
}

/* Deals the missing cells to at most n_jobs processes; after a failure no more are started, and
 * those that run finish. */
static int deal(dealer *d, lra_err *e)
{
    int rc = 0;
    for (;;) {
        if (rc == 0 && !lra_stop_signal()) rc = start_cells(d, e);
        if (d->running == 0) break;
        int status = 0, slot = wait_for_cell(d, &status, e);
        if (slot < 0) return LRA_FAILED;
        d->running--;
        if (rc >= 0 || status == 0) {
            int ended = cell_ended(d, &d->l->cell[d->at[slot]], status, e);
            rc = ended < 0 || rc == 0 ? ended : rc;
        }
    }
    return rc == 0 && lra_stop_signal() ? LRA_STOPPED : rc;
}

static int train_apart(const lra_ladder_cells *l, int n_jobs, lra_err *e)
{
    dealer d = {.l = l, .n_jobs = n_jobs};
    for (int i = 0; i < l->n; i++) d.missing += !lra_file_exists(l->cell[i].result);
    if (lra_is_tty(stderr) && lra_terminal_level() >= LRA_LOG_NORMAL)
        d.display = lra_ladder_display_new(l, n_jobs);
    int rc = deal(&d, e);
    lra_ladder_display_free(d.display);
    return rc;
}

int lra_ladder_cells_train(const lra_ladder_cells *l, int n_jobs, lra_err *e)
{
    if (n_jobs == 1) return train_here(l, e);
    lra_signals_hold(); /* cells are told, and save what they have */
    int rc = train_apart(l, n_jobs, e);
    lra_signals_release();
    return rc;
}
