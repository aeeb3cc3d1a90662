/* Internals of a loader, shared by loader.c, fill.c and stream.c. */
#ifndef LRA_DATASETS_LOADER_LOADER_IMPL_H
#define LRA_DATASETS_LOADER_LOADER_IMPL_H

#include <pthread.h>

#include "datasets/loader/batch.h"

/* Three buffers: the current batch, the previous batch, and the batch in preparation. */
enum { LRA_LOADER_BUFFERS = 3 };

struct lra_loader {
    lra_loader_spec spec;
    const lra_dataset *data;
    const lra_sequences *rows;
    lra_buckets buckets;
    int64_t n_rows, batch, n_batches, epoch;
    /* group: number of batches that are ordered together. passes: number of passes over the rows in
     * one epoch */
    int64_t group, passes;
    /* (n_rows) indices of the rows in use; when a stream is evaluated, of the windows in use */
    int64_t *all;
    /* (rows of the split) index of the row whose label row i has; NULL: its own */
    int64_t *label_from;
    int64_t *order; /* (n_batches * batch) entries: row + pass * (rows of the split); -1: no row */
    int64_t *shift; /* (batch * group) streams: offset in tokens by which each part is rotated */
    lra_row copy;   /* copy of one row for the augmentation; its arrays hold the longest row */

    lra_batch buffer[LRA_LOADER_BUFFERS];
    int current;   /* index of the buffer in use; the helper thread fills the next one */
    int64_t ahead; /* index of the batch in the next buffer, -1: none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool large, started, busy, stop;
};

/* Returns the row index of an entry of lra_loader.order; -1: no row. */
static inline int64_t lra_loader_row(const lra_loader *l, int64_t entry)
{
    return entry < 0 ? -1 : entry % l->rows->n;
}

#endif
