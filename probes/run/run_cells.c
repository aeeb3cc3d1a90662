/* Trains runs in separate processes (run_cells.h). */
#include "probes/run/run_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/os/lock.h"
#include "kernels/base/core/log.h"
#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/process.h"
#include "kernels/base/cli/program.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"
#include "models/training/train.h"
#include "probes/run/cells_display.h"
#include "probes/run/failure.h"

enum { MIB = 1 << 20 };
static const double POLL = 0.5; /* seconds between two checks of the cells of other processes */

/* State of a cell, as far as this process knows. READY: it has no result, unless another process
 * has written one. */
typedef enum { READY, STARTED, ENDED } cell_state;

typedef struct {
    const lra_run_cells *l;
    cell_state *state; /* (l->n) state of each cell */
    int n_jobs, running, trained, missing;
    bool waiting;         /* true: the message about cells of other processes was printed */
    int failed, in_a_row; /* number of failed cells; of those since the last success */
    lra_err why;          /* message of the first failure */
    lra_process child[LRA_MOST_JOBS];
    int at[LRA_MOST_JOBS];      /* index of the cell that child[i] trains */
    lra_cells_display *display; /* NULL: no display */
} dealer;

/* True if the run needs no more training. */
static bool is_done(const lra_run_cell *c)
{
    return c->result &&
           (lra_file_exists(c->result) || (c->diverges && lra_run_diverged(c->result)));
}

/* True if another process trains the cell, for example a worker on another machine. */
static bool is_held(const lra_run_cell *c, lra_lock_owner *owner)
{
    if (!c->result) return false;
    int folder = (int)(strrchr(c->result, '/') - c->result);
    char *path = lra_format("%.*s/lock", folder, c->result);
    bool held = lra_lock_held(path, owner);
    lra_free(path);
    return held;
}

static int start_cell(dealer *d, int i, lra_err *e)
{
    const lra_run_cell *c = &d->l->cell[i];
    lra_command_words words = {0};
    int slot = 0;
    while (d->child[slot].pid) slot++;
    for (int k = 0; k < c->command.n; k++)
        lra_command_words_add(&words, lra_copy_text(c->command.word[k]));
    /* two workers can find the same cell free at the same time: the one that fails to get the lock
     * then takes another cell */
    lra_command_words_add(&words, lra_copy_text("--no-wait"));
    int rc = lra_process_start(&d->child[slot], words.word, LRA_SELF | LRA_QUIET_OUT, e);
    lra_command_words_free(&words);
    if (rc != 0) return rc;
    d->at[slot] = i;
    d->state[i] = STARTED;
    d->running++;
    if (d->display) lra_cells_display_start(d->display, i);
    return 0;
}

/* Completes cell i, if it depends on others. Returns 1 if it can be trained, 0 if others have not
 * ended, or a negative code. */
static int settle(const dealer *d, int i, lra_err *e)
{
    return d->l->cell[i].result || !d->l->settle ? 1 : d->l->settle(d->l->of, i, e);
}

/* Counts a cell that failed: it ends without a result. */
static void add_failure(dealer *d, int i, const char *message)
{
    d->state[i] = ENDED;
    if (d->failed++ == 0) lra_fail(&d->why, "%s: %s", d->l->cell[i].name, message);
}

/* Skips cell i if it failed before, in this sweep or in an earlier one. */
static bool skip_failed(dealer *d, int i)
{
    lra_run_failure f;
    const lra_run_cell *c = &d->l->cell[i];
    if (!lra_run_failed(c->result, &f)) return false;
    char *text = lra_run_failure_text(&f);
    lra_note("  %s: skipped, it failed: %s", c->name, text);
    add_failure(d, i, text);
    lra_free(text);
    return true;
}

/* True if the command of cell i is known. If it cannot be trained, because the cells on which it
 * depends diverged, it fails. */
static bool is_settled(dealer *d, int i)
{
    lra_err why;
    int ready = settle(d, i, &why);
    if (ready < 0) {
        lra_note("  %s", why.msg);
        add_failure(d, i, why.msg);
    }
    return ready > 0;
}

/* Starts cells that have no result and that no other process trains, until n_jobs processes run.
 * Sets *held to the number of cells that others train. */
static int start_cells(dealer *d, int *held, lra_err *e)
{
    *held = 0;
    for (int i = 0; i < d->l->n; i++) {
        const lra_run_cell *c = &d->l->cell[i];
        if (d->state[i] != READY) continue;
        if (!is_settled(d, i)) continue;
        if (is_done(c)) {
            d->state[i] = ENDED;
            lra_note("  %2d of %d: %s trained by another process", ++d->trained, d->missing,
                     c->name);
            if (d->display) lra_cells_display_done(d->display, i);
        } else if (is_held(c, NULL)) {
            ++*held;
        } else if (skip_failed(d, i)) {
            continue;
        } else if (d->running < d->n_jobs && (!c->needs || lra_file_exists(c->needs))) {
            int rc = start_cell(d, i, e);
            if (rc != 0) return rc;
        }
    }
    return 0;
}

/* Reports the processes that train the remaining cells, once. */
static void say_waiting(dealer *d)
{
    lra_text t = {0};
    int n = 0;
    for (int i = 0; i < d->l->n && !d->waiting; i++) {
        lra_lock_owner owner;
        char text[128];
        if (d->state[i] != READY || !is_held(&d->l->cell[i], &owner)) continue;
        if (n++ < 4) lra_text_add(&t, "%s%s", n > 1 ? ", " : "", lra_lock_owner_text(&owner, text));
    }
    if (n > 0)
        lra_note("  %d run%s in training by %s%s: waiting", n, n == 1 ? " is" : "s are", t.s,
                 n > 4 ? ", ..." : "");
    d->waiting |= n > 0;
    lra_text_free(&t);
}

/* Waits until a cell of this process ends, at most POLL seconds, and updates the display. Returns
 * the index of its process, n_jobs if none has ended, or -1 on failure. */
static int wait_for_cell(dealer *d, int *status, lra_err *e)
{
    if (d->display) lra_cells_display_draw(d->display);
    int slot = lra_process_wait_any(d->child, d->n_jobs, POLL, status, e);
    if (slot >= 0 && slot < d->n_jobs && d->display) {
        if (*status == LRA_EXIT_HELD)
            lra_cells_display_wait(d->display, d->at[slot]);
        else
            lra_cells_display_end(d->display, d->at[slot]);
    }
    return slot;
}

/* Records the failure of cell i. Returns a negative code if too many cells have failed in a row. */
static int cell_failed(dealer *d, int i, int status, lra_err *e)
{
    lra_run_failure f;
    char text[64];
    const lra_run_cell *c = &d->l->cell[i];
    snprintf(text, sizeof text, "it ended with exit code %d", status);
    lra_run_failure_of_process(c->result, status);
    add_failure(d, i, lra_run_failed(c->result, &f) ? f.message : text);
    lra_note("  %s failed with exit code %d", c->name, status);
    if (++d->in_a_row < LRA_FAILURES_IN_A_ROW) return 0;
    return lra_fail(e, "%d runs failed in a row, so that no more are started; the first: %s",
                    d->in_a_row, d->why.msg);
}

/* Handles the exit code of cell i, which has ended. */
static int cell_ended(dealer *d, int i, int status, lra_err *e)
{
    const lra_run_cell *c = &d->l->cell[i];
    d->state[i] = status == LRA_EXIT_HELD ? READY : ENDED;
    if (status == LRA_EXIT_HELD) return 0;
    if (status == LRA_EXIT_INTERRUPTED) return LRA_STOPPED;
    if (status != 0 && c->diverges && is_done(c)) {
        lra_note("  %2d of %d: %s diverged", ++d->trained, d->missing, c->name);
        return 0;
    }
    if (status != 0) return cell_failed(d, i, status, e);
    d->in_a_row = 0;
    lra_note("  %2d of %d: %s trained", ++d->trained, d->missing, c->name);
    return 0;
}

/* Waits until a cell of this process ends or POLL seconds have passed. Returns 0, LRA_STOPPED or a
 * negative code. */
static int next_event(dealer *d, lra_err *e)
{
    int status = 0;
    if (d->running == 0) {
        say_waiting(d);
        lra_sleep(POLL);
        return 0;
    }
    int slot = wait_for_cell(d, &status, e);
    if (slot == d->n_jobs) return 0;
    if (slot < 0) {
        d->running = 0; /* after this failure, the number of running processes is unknown */
        return LRA_FAILED;
    }
    d->running--;
    return cell_ended(d, d->at[slot], status, e);
}

/* True if cells depend on others that failed. */
static bool has_dependent(const dealer *d)
{
    int n = 0;
    for (int i = 0; i < d->l->n; i++) n += d->state[i] == READY;
    return n > 0;
}

/* Fails if cells have failed. */
static int report_failures(const dealer *d, lra_err *e)
{
    if (d->failed == 0) return 0;
    return lra_fail(e, "%d of %d runs failed%s (--retry trains them again); the first: %s",
                    d->failed, d->l->n, has_dependent(d) ? ", and others depend on them" : "",
                    d->why.msg);
}

/* Trains the cells without a result in at most n_jobs processes, and waits for those that other
 * processes train. If another process ends without a result, its cell is trained here. After an
 * error, no more cells are started, and the running ones finish. */
static int deal(dealer *d, lra_err *e)
{
    int rc = 0, held = 0;
    for (;;) {
        if (rc == 0 && !lra_stop_signal()) rc = start_cells(d, &held, e);
        bool ends = rc != 0 || lra_stop_signal();
        if (d->running == 0 && (ends || held == 0)) break;
        lra_err other;
        int event = next_event(d, rc < 0 ? &other : e); /* the first failure is reported */
        if (rc >= 0 && event != 0) rc = event;
    }
    if (rc == 0 && lra_stop_signal()) return LRA_STOPPED;
    return rc == 0 ? report_failures(d, e) : rc;
}

double lra_run_cells_memory(double requested, int n_jobs)
{
    return n_jobs > 1 && requested == 0 ? MIB * floor(lra_memory_free() / n_jobs / MIB) : requested;
}

int lra_run_cells_train(const lra_run_cells *l, int n_jobs, lra_err *e)
{
    dealer d = {.l = l, .n_jobs = n_jobs};
    d.state = lra_alloc_array((size_t)l->n + 1, sizeof *d.state);
    /* a signal stops the cells, which save their state; this process waits for them */
    lra_signals_hold();
    for (int i = 0; i < l->n; i++) {
        bool done = is_done(&l->cell[i]);
        d.missing += !done;
        d.state[i] = done ? ENDED : READY;
        if (l->retry && !done && l->cell[i].result && !is_held(&l->cell[i], NULL))
            lra_run_failure_forget(l->cell[i].result);
    }
    if (lra_is_tty(stderr) && lra_terminal_level() >= LRA_LOG_NORMAL)
        d.display = lra_cells_display_new(l, n_jobs);
    int rc = deal(&d, e);
    lra_cells_display_free(d.display);
    lra_free(d.state);
    lra_signals_release();
    return rc;
}

void lra_run_cell_close(lra_run_cell *cell)
{
    lra_command_words_free(&cell->command);
    lra_free(cell->name);
    lra_free(cell->needs);
    lra_free(cell->result);
    *cell = (lra_run_cell){.name = NULL};
}

void lra_run_cells_free(lra_run_cell *cell, int n)
{
    for (int i = 0; i < n; i++) lra_run_cell_close(&cell[i]);
    lra_free(cell);
}
