/* A loader from inside: what loader.c, fill.c and stream.c share. */
#ifndef LRA_DATASETS_LOADER_LOADER_IMPL_H
#define LRA_DATASETS_LOADER_LOADER_IMPL_H

#include <pthread.h>

#include "datasets/loader/batch.h"

/* The batch that was given out, the one before, and the one that is being made. */
enum { LRA_LOADER_BUFFERS = 3 };

struct lra_loader {
    lra_loader_spec spec;
    const lra_dataset *data;
    const lra_sequences *rows;
    lra_buckets buckets;
    int64_t n_rows, batch, n_batches, epoch;
    int64_t group, passes; /* batches ordered as one; how often an epoch goes through its rows */
    int64_t *all;          /* (n_rows) rows that are used; streams, not training: windows */
    int64_t *label_from;   /* (rows of the split) whose label a row has; NULL: its own */
    int64_t *order;        /* (n_batches * batch) row + pass * rows of the split, -1: none */
    int64_t *shift;        /* (batch * group) streams: how far each part is rotated */
    lra_row copy;          /* one row, for the augmentation: arrays for the longest */

    lra_batch buffer[LRA_LOADER_BUFFERS];
    int current;   /* the buffer that was given out; the helper fills the next */
    int64_t ahead; /* the batch in the next buffer, -1: none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool large, started, busy, stop;
};

/* The row that an entry of the order stands for; -1: none. */
static inline int64_t lra_loader_row(const lra_loader *l, int64_t entry)
{
    return entry < 0 ? -1 : entry % l->rows->n;
}

#endif
