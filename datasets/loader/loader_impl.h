/* Inside of loaders: what batch.c, fill.c and stream.c share. */
#ifndef LRA_DATASETS_LOADER_LOADER_H
#define LRA_DATASETS_LOADER_LOADER_H

#include <pthread.h>

#include "datasets/loader/batch.h"

struct lra_loader {
    lra_loader_spec spec;
    const lra_dataset *data;
    const lra_sequences *rows;
    lra_buckets buckets;
    int64_t n_rows, batch, n_batches, epoch;
    int64_t group, passes; /* batches ordered as one; how often an epoch goes through its rows */
    int64_t *all;          /* (n_rows) rows that are used; streams, not training: windows */
    int64_t *order;        /* (n_batches * batch) row + pass * rows of the split, -1: none */
    int64_t *shift;        /* (batch * group) streams: how far each part is rotated */
    lra_row copy;          /* one row, for the augmentation: arrays for the longest */

    lra_batch buffer[2];
    int current;   /* the buffer that was given out; the helper fills the other */
    int64_t ahead; /* the batch in the other buffer, -1: none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool large, started, busy, stop;
};

/* Steps that a model must hold for a row: all, or those of the longer document. */
int64_t lra_row_length(const lra_sequences *r, int64_t i);

int64_t lra_loader_row(const lra_loader *l, int64_t entry);       /* of the order; -1: none */
int lra_loader_bucket(const lra_loader *l, const int64_t *entry); /* of a batch */
void lra_loader_fill(lra_loader *l, lra_batch *b, int64_t i);     /* rows of order */

bool lra_loader_is_stream(const lra_loader *l);
int64_t lra_stream_windows(const lra_loader *l);
void lra_stream_epoch(lra_loader *l);
void lra_stream_fill(lra_loader *l, lra_batch *b, int64_t i);

#endif
