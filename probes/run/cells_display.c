/* Displays the progress of running cells, which is read from the status file of each cell
 * (run_status.h). The estimate of the remaining time assumes that waiting cells start as soon as a
 * process becomes free. A running cell takes the time that it reports; a waiting cell takes its
 * planned time multiplied by the ratio of actual to planned time so far. Later ladders are assumed
 * to cost as much as this one. */
#include "probes/run/cells_display.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "models/training/run_status.h"
#include "kernels/base/cli/progress.h"

static const double LEAST_SHARE = 0.05;

typedef enum { WAITS, RUNS, ENDED } cell_state;
typedef struct {
    cell_state state;
    char *folder;
    double began; /* start time, 0 if it has not started */
    double spent; /* duration in seconds of a cell that has ended */
    /* completed share of its steps: when it started (it can be resumed), and now */
    double before, done;
    double left; /* remaining seconds, as reported by the cell; negative: not reported */
} cell_view;

struct lra_cells_display {
    const lra_run_cells *l;
    int n_jobs;
    cell_view *cell; /* (l->n) state of each cell */
    lra_progress *progress;
};

/* Returns the completed share of a cell's steps, or 0 if it is unknown. left: remaining seconds, -1
 * if unknown. */
static double read_progress(const char *folder, double *left)
{
    lra_run_status s;
    *left = -1;
    if (!lra_run_status_read(folder, &s) || s.steps < 1) return 0;
    *left = s.left;
    return (double)s.step / (double)s.steps;
}

/* Sets the folder of cell i; returns false if its result file is still unknown. */
static bool find_folder(lra_cells_display *d, int i)
{
    const char *result = d->l->cell[i].result;
    if (result && !d->cell[i].folder)
        d->cell[i].folder = lra_format("%.*s", (int)(strrchr(result, '/') - result), result);
    return result;
}

lra_cells_display *lra_cells_display_new(const lra_run_cells *l, int n_jobs)
{
    lra_cells_display *d = lra_alloc(sizeof *d);
    double all = 0;
    d->l = l, d->n_jobs = n_jobs;
    d->cell = lra_alloc_array((size_t)l->n, sizeof *d->cell);
    for (int i = 0; i < l->n; i++) {
        cell_view *c = &d->cell[i];
        all += l->cell[i].seconds;
        if (!find_folder(d, i)) continue;
        if (lra_file_exists(l->cell[i].result))
            c->state = ENDED, c->before = c->done = 1;
        else
            c->before = c->done = read_progress(c->folder, &c->left);
    }
    d->progress = lra_progress_new("", all);
    return d;
}

void lra_cells_display_start(lra_cells_display *d, int i)
{
    find_folder(d, i);
    d->cell[i].state = RUNS;
    d->cell[i].began = lra_now();
    d->cell[i].left = -1; /* the status file was written by an earlier process */
}

void lra_cells_display_end(lra_cells_display *d, int i)
{
    d->cell[i].state = ENDED;
    d->cell[i].spent = lra_now() - d->cell[i].began;
    d->cell[i].done = 1;
}

void lra_cells_display_wait(lra_cells_display *d, int i)
{
    d->cell[i].state = WAITS;
    d->cell[i].began = 0;
}

void lra_cells_display_done(lra_cells_display *d, int i)
{
    d->cell[i].state = ENDED;
    d->cell[i].done = 1;
}

/* Ratio of actual to planned time over cells with enough progress: at the start of a cell,
 * preparation takes longer than the steps. */
static double slower(const lra_cells_display *d)
{
    double planned = 0, taken = 0;
    for (int i = 0; i < d->l->n; i++) {
        const cell_view *c = &d->cell[i];
        if (c->began == 0 || c->done - c->before < LEAST_SHARE) continue;
        planned += d->l->cell[i].seconds * (c->done - c->before);
        taken += c->state == ENDED ? c->spent : lra_now() - c->began;
    }
    return planned > 0 ? taken / planned : 1;
}

double lra_cells_display_left(const lra_cells_display *d)
{
    double free[LRA_MOST_JOBS] = {0}, factor = slower(d), all = 0, last = 0;
    int n = 0;
    for (int i = 0; i < d->l->n; i++) {
        const cell_view *c = &d->cell[i];
        double planned = d->l->cell[i].seconds * factor;
        all += planned;
        if (c->state == RUNS) free[n++] = c->left >= 0 ? c->left : planned * (1 - c->done);
    }
    for (int i = 0; i < d->l->n; i++) {
        if (d->cell[i].state != WAITS) continue;
        int first = 0;
        for (int k = 1; k < d->n_jobs; k++) first = free[k] < free[first] ? k : first;
        free[first] += d->l->cell[i].seconds * factor * (1 - d->cell[i].done);
    }
    for (int k = 0; k < d->n_jobs; k++) last = fmax(last, free[k]);
    return last + all / d->n_jobs * (d->l->n_parts - 1 - d->l->part);
}

void lra_cells_display_draw(lra_cells_display *d)
{
    const lra_run_cells *l = d->l;
    lra_text what = {0}, title = {0};
    int ended = 0, running = 0;
    double done = 0;
    for (int i = 0; i < l->n; i++) {
        cell_view *c = &d->cell[i];
        ended += c->state == ENDED;
        if (c->state == RUNS) {
            double left, share = read_progress(c->folder, &left);
            if (share > c->before) c->done = share, c->left = left;
            lra_text_add(&what, "%s%s %.0f %%", running++ ? ", " : "", l->cell[i].name,
                         100 * c->done);
        }
        done += l->cell[i].seconds * c->done;
    }
    if (l->n_parts > 1) lra_text_add(&title, "ladder %d of %d: ", l->part + 1, l->n_parts);
    lra_text_add(&title, "%d of %d runs done, %d running", ended, l->n, running);
    lra_progress_title(d->progress, title.s);
    lra_progress_left(d->progress, lra_cells_display_left(d));
    lra_progress_at(d->progress, done, what.s ? what.s : "");
    lra_text_free(&what);
    lra_text_free(&title);
}

void lra_cells_display_free(lra_cells_display *d)
{
    if (!d) return;
    for (int i = 0; i < d->l->n; i++) lra_free(d->cell[i].folder);
    lra_progress_free(d->progress);
    lra_free(d->cell);
    lra_free(d);
}
