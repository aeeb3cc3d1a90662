/* Batches of equal length from rows of any length.
 * Order of an epoch: Fisher-Yates keyed (seed, epoch); windows of 64 batches are sorted by length and cut
 * into batches, and the order of the batches is shuffled again.  Every batch goes into the smallest of at
 * most 12 length buckets that holds it.  Everything follows from (seed, epoch, index): that is all a
 * checkpoint keeps. */
#ifndef LRA_DATASETS_BATCH_H
#define LRA_DATASETS_BATCH_H

#include "datasets/dataset.h"

enum { LRA_MAX_BUCKETS = 12 };

/* Lengths of buckets that waste least padding over the training rows: at most 12, multiples of 64, the
 * last one holds the longest row of all three splits.  Short rows get a finer unit, where 64 would double
 * the work: 4 when no row is longer than 512, 2 when none is longer than 64. */
typedef struct {
    int n;
    int64_t length[LRA_MAX_BUCKETS];
} lra_buckets;
lra_buckets lra_buckets_find(const lra_dataset *d);

typedef struct lra_loader lra_loader;
/* training: shuffled, the incomplete last batch is dropped; otherwise in order of length, and the last
 * batch is filled up with rows of label -1.  augment: the task's augmentation, keyed (seed, epoch, row). */
lra_loader *lra_loader_new(const lra_task *task, const lra_sequences *rows,
                           const lra_buckets *buckets, int64_t batch, uint64_t seed, bool training,
                           bool augment);
void lra_loader_free(lra_loader *l);             /* Nullable: l */
int64_t lra_loader_batches(const lra_loader *l); /* per epoch */
void lra_loader_epoch(lra_loader *l, int64_t epoch);

/* One batch: tokens, or values of tasks with levels, (B, length of its bucket) with pad 0; length (B), label (B),
 * row (B) or -1. */
typedef struct {
    int bucket;
    int32_t *token; /* NULL: values */
    float *value;   /* NULL: tokens */
    int32_t *length, *label;
    int64_t *row;
} lra_batch;
/* The i-th batch of the epoch; valid until the next call.  A training loader makes the next large one
 * meanwhile, in a thread of its own. */
const lra_batch *lra_loader_get(lra_loader *l, int64_t i);
/* Share of tokens of the epoch that are padding. */
double lra_loader_padding(const lra_loader *l);

#endif
