/* Times batches and training steps of one task at one preset, alternately.
 *   loader  time in which one thread makes a batch: rows are read, generated or augmented, masked
 *           and padded; and the batch's share of the time to shuffle the epoch
 *   step    time of the training step on that batch, by the training code: set inputs, forward,
 *           backward, update (with learning rate 0, so that a thousand steps change nothing)
 * Here no helper thread makes batches in advance (datasets/loader/loader_impl.h). Each batch is
 * made between two steps, on the processor that executes the steps, with the caches as a step
 * leaves them. loader / step is therefore the relative cost of loading with one thread; in a
 * training run with a spare processor the cost is lower. A loader has one thread, however many
 * threads a step uses.
 * The measurement takes a tenth of --seconds, and at least three batches and steps. Generated data
 * have the parameters of their preset, except for images, whose number only fills 8 batches. */
#ifndef LRA_PROBES_BENCH_LOADER_CASE_H
#define LRA_PROBES_BENCH_LOADER_CASE_H

#include "datasets/loader/dataset.h"
#include "kernels/base/cli/options.h"
#include "models/training/objective.h"
#include "probes/shared/official_folders.h"

enum { LRA_MOST_TURNS = 1000 };

typedef struct {
    const lra_options *options; /* options of 'bench' */
    /* folders that can contain official files; if empty, nothing is imported */
    const lra_official_folders *places;
    const lra_task *task;
    const char *preset;
    const lra_objective *objective;
    bool augment;
    lra_dataset *data; /* NULL: the first measurement prepares the data; the caller frees them */
    double prepared;   /* number of rows that were generated or read per second */
} lra_loader_case;

typedef struct {
    double load[LRA_MOST_TURNS], step[LRA_MOST_TURNS]; /* seconds of each batch and of each step */
    double length[LRA_MOST_TURNS];                     /* padded length of each batch in tokens */
    int n;
    int64_t rows, batch; /* rows of the training split; rows of a batch */
    const char *precision;
} lra_loader_times;

/* Measures one case. Returns 0; LRA_ABSENT if the data are not available; LRA_USAGE if the
 * objective does not fit the task; or LRA_FAILED. */
int lra_loader_case_run(lra_loader_case *c, lra_loader_times *t, lra_err *e);

#endif
