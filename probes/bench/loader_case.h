/* Times batches and training steps of one task at one preset, in turn.
 *   loader  time of one thread for a batch: rows fetched, drawn anew or augmented, masked, padded;
 *           and the batch's share of the order of its epoch
 *   step    time of the training step on that same batch, by the training code: inputs set,
 *           forward, backward, update (at rate 0, so that a thousand of them change nothing)
 * No helper thread makes batches ahead here (datasets/loader/loader_impl.h): each batch is made
 * between two steps, on the processor that runs the steps, with the caches as a step leaves them.
 * So loader / step is the relative cost of loading with one thread; a run with a spare processor
 * pays less. A loader has one thread, however many threads a step uses.
 * Turns are taken for a tenth of --seconds, at least three. Generated data have the parameters of
 * their preset, but only enough images to fill 8 batches. */
#ifndef LRA_PROBES_BENCH_LOADER_CASE_H
#define LRA_PROBES_BENCH_LOADER_CASE_H

#include "datasets/loader/dataset.h"
#include "kernels/base/cli/options.h"
#include "models/training/objective.h"
#include "probes/shared/official_folders.h"

enum { LRA_MOST_TURNS = 1000 };

typedef struct {
    const lra_options *options;         /* of bench */
    const lra_official_folders *places; /* folders of official files; none: nothing is imported */
    const lra_task *task;
    const char *preset;
    const lra_objective *objective;
    bool augment;
    lra_dataset *data; /* NULL: the first measurement prepares it; the caller frees it */
    double prepared;   /* rows a second that were made or read */
} lra_loader_case;

typedef struct {
    double load[LRA_MOST_TURNS], step[LRA_MOST_TURNS]; /* seconds */
    double length[LRA_MOST_TURNS];                     /* of the padded batch */
    int n;
    int64_t rows, batch; /* of the training split */
    const char *precision;
} lra_loader_times;

/* 0; LRA_ABSENT: its data are not available; LRA_USAGE: the objective does not fit the task;
 * LRA_FAILED. */
int lra_loader_case_run(lra_loader_case *c, lra_loader_times *t, lra_err *e);

#endif
