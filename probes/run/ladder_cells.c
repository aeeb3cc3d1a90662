/* Trains the cells of a ladder, in this process or (--jobs) in several processes of this
 * program. */
#include "probes/run/ladder_cells.h"

#include <inttypes.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"
#include "models/training/train.h"
#include "probes/run/failure.h"
#include "probes/run/plan_file.h"
#include "probes/run/run_cells.h"
#include "probes/run/train_job.h"

/* State of the cells that this process trains. */
typedef struct {
    const lra_ladder_cells *l;
    bool *failed;           /* (l->n) the cell has failed, or is skipped because it failed before */
    int n_failed, in_a_row; /* number of failed cells; of those since the last success */
    lra_err why;            /* message of the first failure */
} here;

static void add_failure(here *h, int i, const char *message)
{
    char name[48];
    const lra_ladder_cell *c = &h->l->cell[i];
    h->failed[i] = true;
    if (h->n_failed++ == 0)
        lra_fail(&h->why, "%s seed %" PRId64 ": %s", lra_rungs_name(h->l->rungs, c->rung, name),
                 c->seed, message);
}

/* Skips cell i if it failed before. */
static bool skip_failed(here *h, int i)
{
    lra_run_failure f;
    char name[48];
    const lra_ladder_cell *c = &h->l->cell[i];
    if (!lra_run_failed(c->result, &f)) return false;
    char *text = lra_run_failure_text(&f);
    lra_note("  %s seed %" PRId64 ": skipped, it failed: %s",
             lra_rungs_name(h->l->rungs, c->rung, name), c->seed, text);
    add_failure(h, i, text);
    lra_free(text);
    return true;
}

/* Trains cell i in this process. Returns 0 if it is trained or has failed, or the code with which
 * the ladder ends. */
static int train_cell(here *h, int i, lra_err *e)
{
    const lra_ladder_cell *c = &h->l->cell[i];
    char text[32], name[48];
    double start = lra_now();
    lra_job job = c->job;
    job.no_wait = true;
    int rc = lra_job_train(&job, c->seed, e);
    if (rc > 0) return rc;
    if (rc < 0) {
        add_failure(h, i, e->msg);
        lra_note("  %s seed %" PRId64 " failed: %s", lra_rungs_name(h->l->rungs, c->rung, name),
                 c->seed, e->msg);
        return ++h->in_a_row < LRA_FAILURES_IN_A_ROW ? 0 : rc;
    }
    h->in_a_row = 0;
    lra_note("  %2d of %d: %-7s seed %" PRId64 " trained in %s", i + 1, h->l->n,
             lra_rungs_name(h->l->rungs, c->rung, name), c->seed,
             lra_time_text(text, lra_now() - start));
    return 0;
}

/* Trains the cells that no other process trains. *held: number of cells that others train. */
static int train_free(here *h, int *held, lra_err *e)
{
    *held = 0;
    for (int i = 0; i < h->l->n; i++) {
        const lra_ladder_cell *c = &h->l->cell[i];
        if (h->failed[i] || lra_file_exists(c->result) || skip_failed(h, i)) continue;
        int rc = train_cell(h, i, e);
        *held += rc == LRA_HELD;
        if (rc != 0 && rc != LRA_HELD) return rc;
    }
    return 0;
}

static int train_all(here *h, lra_err *e)
{
    int held = 0, rc = train_free(h, &held, e);
    if (rc == 0 && held > 0) lra_note("  %s: waiting", e->msg);
    while (rc == 0 && held > 0 && !lra_stop_signal()) {
        lra_sleep(0.5);
        rc = train_free(h, &held, e);
    }
    if (rc == 0 && lra_stop_signal()) return LRA_STOPPED;
    if (rc != 0 || h->n_failed == 0) return rc;
    return lra_fail(e, "%d of %d runs failed (--retry trains them again); the first: %s",
                    h->n_failed, h->l->n, h->why.msg);
}

/* Trains the cells in this process, and waits for those that other processes train. */
static int train_here(const lra_ladder_cells *l, lra_err *e)
{
    here h = {.l = l, .failed = lra_alloc_array((size_t)l->n + 1, sizeof *h.failed)};
    for (int i = 0; i < l->n && lra_option_flag(l->options, "retry"); i++)
        lra_run_failure_forget(l->cell[i].result);
    int rc = train_all(&h, e);
    lra_free(h.failed);
    return rc;
}

/* Builds the command line that trains a cell in a separate process. The settings of the rung follow
 * those of the user, so that they override them. */
static lra_run_cell cell_apart(const lra_ladder_cells *l, const lra_ladder_cell *c)
{
    const lra_planned_rung *rung = &l->rungs->rung[c->rung];
    char name[48];
    lra_run_cell cell = {
        .name = lra_format("%s seed %" PRId64, lra_rungs_name(l->rungs, c->rung, name), c->seed),
        .result = lra_copy_text(c->result),
        .seconds = c->seconds};
    lra_command_words *w = &cell.command;
    lra_cell_command(w, l->options, NULL);
    if (l->assignment) {
        lra_command_words_add(w, lra_format("--set=%s", l->assignment));
        lra_command_words_add(w, lra_format("--differs=%s", l->assignment));
    }
    lra_command_words_add(w, lra_format("--set=%s=%" PRId64, l->rungs->axis, rung->value));
    if (l->rungs->count > 0)
        lra_command_words_add(w, lra_format("--set=%s=%" PRId64, c->job.model->match, rung->size));
    if (rung->ladder) lra_command_words_add(w, lra_format("--ladder=%s", rung->ladder));
    lra_cell_command_end(w, c->seed, c->job.memory);
    return cell;
}

int lra_ladder_cells_train(const lra_ladder_cells *l, int n_jobs, lra_err *e)
{
    lra_run_cell *cell = lra_alloc_array((size_t)l->n + 1, sizeof *cell);
    for (int i = 0; i < l->n; i++) cell[i] = cell_apart(l, &l->cell[i]);
    const lra_run_cells all = {.part = l->ladder,
                               .n_parts = l->n_ladders,
                               .n = l->n,
                               .cell = cell,
                               .retry = lra_option_flag(l->options, "retry")};
    char *plan = lra_plan_file_write(lra_option_text(l->options, "out"), l->n, cell);
    int rc = n_jobs == 1 ? train_here(l, e) : lra_run_cells_train(&all, n_jobs, e);
    if (rc == 0) lra_plan_file_remove(plan);
    lra_free(plan);
    lra_run_cells_free(cell, l->n);
    return rc;
}
