/* Trains runs in separate processes (run_cells.h). */
#include "probes/run/run_cells.h"

#include <math.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/process.h"
#include "kernels/base/cli/program.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"
#include "models/training/train.h"
#include "probes/run/cells_display.h"

enum { MIB = 1 << 20 };

typedef struct {
    const lra_run_cells *l;
    int n_jobs, running, next, trained, missing;
    lra_process child[LRA_MOST_JOBS];
    int at[LRA_MOST_JOBS];      /* index of the cell that child[i] trains */
    lra_cells_display *display; /* NULL: no display */
} dealer;

/* Starts cells without a result until n_jobs processes run. */
static int start_cells(dealer *d, lra_err *e)
{
    for (; d->next < d->l->n && d->running < d->n_jobs; d->next++) {
        const lra_run_cell *c = &d->l->cell[d->next];
        int slot = 0;
        if (lra_file_exists(c->result)) continue;
        while (d->child[slot].pid) slot++;
        int rc = lra_process_start(&d->child[slot], c->command.word, LRA_SELF | LRA_QUIET_OUT, e);
        if (rc != 0) return rc;
        d->at[slot] = d->next;
        d->running++;
        if (d->display) lra_cells_display_start(d->display, d->next);
    }
    return 0;
}

/* Waits until a cell ends and updates the display meanwhile. Returns the index of its process, or
 * -1 on failure. */
static int wait_for_cell(dealer *d, int *status, lra_err *e)
{
    int slot = d->n_jobs;
    while (slot == d->n_jobs) {
        if (d->display) lra_cells_display_draw(d->display);
        slot = lra_process_wait_any(d->child, d->n_jobs, d->display ? 0.5 : -1, status, e);
    }
    if (slot >= 0 && d->display) lra_cells_display_end(d->display, d->at[slot]);
    return slot;
}

/* Handles the exit code of a cell that has ended. */
static int cell_ended(dealer *d, const lra_run_cell *c, int status, lra_err *e)
{
    if (status == LRA_EXIT_INTERRUPTED) return LRA_STOPPED;
    if (status != 0 && d->running)
        lra_note("  %s failed; no more runs are started, %d of %d continue", c->name, d->running,
                 d->n_jobs);
    if (status != 0) return lra_fail(e, "the run of %s ended with exit code %d", c->name, status);
    lra_note("  %2d of %d: %s trained", ++d->trained, d->missing, c->name);
    return 0;
}

/* Trains the cells without a result in at most n_jobs processes. After a failure, no more cells are
 * started, and the running ones finish. */
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

double lra_run_cells_memory(double requested, int n_jobs)
{
    return n_jobs > 1 && requested == 0 ? MIB * floor(lra_memory_free() / n_jobs / MIB) : requested;
}

int lra_run_cells_train(const lra_run_cells *l, int n_jobs, lra_err *e)
{
    dealer d = {.l = l, .n_jobs = n_jobs};
    /* a signal stops the cells, which save their state; this process waits for them */
    lra_signals_hold();
    for (int i = 0; i < l->n; i++) d.missing += !lra_file_exists(l->cell[i].result);
    if (lra_is_tty(stderr) && lra_terminal_level() >= LRA_LOG_NORMAL)
        d.display = lra_cells_display_new(l, n_jobs);
    int rc = deal(&d, e);
    lra_cells_display_free(d.display);
    lra_signals_release();
    return rc;
}

void lra_run_cells_free(lra_run_cell *cell, int n)
{
    for (int i = 0; i < n; i++) {
        lra_command_words_free(&cell[i].command);
        lra_free(cell[i].name);
        lra_free(cell[i].result);
    }
    lra_free(cell);
}
