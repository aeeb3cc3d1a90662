/* Internals of a loader, shared by loader.c, fill.c and stream.c. */
#ifndef LRA_DATASETS_LOADER_LOADER_IMPL_H
#define LRA_DATASETS_LOADER_LOADER_IMPL_H

#include <pthread.h>

#include "datasets/loader/batch.h"

/* The current batch, the previous one, and the one in preparation. */
enum { LRA_LOADER_BUFFERS = 3 };

struct lra_loader {
    lra_loader_spec spec;
    const lra_dataset *data;
    const lra_sequences *rows;
    lra_buckets buckets;
    int64_t n_rows, batch, n_batches, epoch;
    int64_t group, passes; /* batches ordered together; passes over the rows in one epoch */
    int64_t *all;          /* (n_rows) rows in use; streams, not training: windows */
    /* (rows of the split) the row that a row's label is taken from; NULL: itself */
    int64_t *label_from;
    int64_t *order; /* (n_batches * batch) row + pass * rows of the split, -1: none */
    int64_t *shift; /* (batch * group) streams: rotation of each part */
    lra_row copy;   /* one row, for the augmentation: arrays for the longest */

    lra_batch buffer[LRA_LOADER_BUFFERS];
    int current;   /* the buffer in use; the helper fills the next one */
    int64_t ahead; /* the batch in the next buffer, -1: none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool large, started, busy, stop;
};

/* The row of an entry of the order; -1: none. */
static inline int64_t lra_loader_row(const lra_loader *l, int64_t entry)
{
    return entry < 0 ? -1 : entry % l->rows->n;
}

#endif
