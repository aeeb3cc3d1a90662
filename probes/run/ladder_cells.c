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
#include "probes/run/run_cells.h"
#include "probes/run/train_job.h"

/* Trains the cells that no other process trains. *held: number of cells that others train. */
static int train_free(const lra_ladder_cells *l, int *held, lra_err *e)
{
    *held = 0;
    for (int i = 0; i < l->n; i++) {
        const lra_ladder_cell *c = &l->cell[i];
        if (lra_file_exists(c->result)) continue;
        double start = lra_now();
        lra_job job = c->job;
        job.no_wait = true;
        int rc = lra_job_train(&job, c->seed, e);
        *held += rc == LRA_HELD;
        if (rc == LRA_HELD) continue;
        if (rc != 0) return rc;
        char text[32], name[48];
        lra_note("  %2d of %d: %-7s seed %" PRId64 " trained in %s", i + 1, l->n,
                 lra_rungs_name(l->rungs, c->rung, name), c->seed,
                 lra_time_text(text, lra_now() - start));
    }
    return 0;
}

/* Trains the cells in this process, and waits for those that other processes train. */
static int train_here(const lra_ladder_cells *l, lra_err *e)
{
    int held = 0, rc = train_free(l, &held, e);
    if (rc == 0 && held > 0) lra_note("  %s: waiting", e->msg);
    while (rc == 0 && held > 0 && !lra_stop_signal()) {
        lra_sleep(0.5);
        rc = train_free(l, &held, e);
    }
    return rc == 0 && lra_stop_signal() ? LRA_STOPPED : rc;
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

static int train_apart(const lra_ladder_cells *l, int n_jobs, lra_err *e)
{
    lra_run_cell *cell = lra_alloc_array((size_t)l->n + 1, sizeof *cell);
    for (int i = 0; i < l->n; i++) cell[i] = cell_apart(l, &l->cell[i]);
    lra_run_cells all = {.part = l->ladder, .n_parts = l->n_ladders, .n = l->n, .cell = cell};
    int rc = lra_run_cells_train(&all, n_jobs, e);
    lra_run_cells_free(cell, l->n);
    return rc;
}

int lra_ladder_cells_train(const lra_ladder_cells *l, int n_jobs, lra_err *e)
{
    return n_jobs == 1 ? train_here(l, e) : train_apart(l, n_jobs, e);
}
