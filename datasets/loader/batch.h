/* Batches of equal length from rows of any length.
 * Order of an epoch: Fisher-Yates keyed (seed, epoch); windows of 64 batches are sorted by length
 * and cut into batches, and the order of the batches is shuffled again.  Every batch goes into the
 * smallest of at most 12 length buckets that holds it.  Everything follows from (seed, epoch,
 * index): that is all a checkpoint keeps. */
#ifndef LRA_DATASETS_LOADER_BATCH_H
#define LRA_DATASETS_LOADER_BATCH_H

#include "datasets/loader/buckets.h"
#include "datasets/loader/mask.h"

typedef struct lra_loader lra_loader;
typedef struct {
    const lra_dataset *data;
    int split;
    const lra_buckets *buckets;
    int64_t batch;
    uint64_t seed;
    /* Shuffled, and the incomplete last batch is dropped; otherwise in order of length, and the
     * last batch is filled up with rows of label -1.  Streams: see stream.c. */
    bool training;
    bool augment;  /* the task's augmentation, keyed (seed, epoch, row) */
    bool permuted; /* labels and numbers of rows are those of other rows (permute.h), by the seed */
    bool levels;   /* also give the tokens of tasks whose models see values of one number a step */
    double fraction; /* of the rows, the first of numpy's permutation with seed 42; 0: all */
    /* Not training: so many of these rows (of a stream: windows), drawn by the fingerprint of the
     * data and sample_seed; 0: all.  stratified: every label has its share of them, to one row. */
    int64_t sample;
    uint64_t sample_seed;
    bool stratified;
    /* An epoch of a fraction has as many batches as one of all rows: it goes through its rows again
     * and again. */
    bool same_steps;
    int64_t group; /* 0: 1.  Training: ordered as if batches were so many times as large, given out
                      in pieces */
    lra_masking masking; /* keyed (seed, epoch, row) like the augmentation, which comes first */
    bool alone; /* no helper: every batch is made when it is asked for, by the thread that asks */
} lra_loader_spec;
lra_loader *lra_loader_new(const lra_loader_spec *s);
void lra_loader_free(lra_loader *l);             /* Nullable: l */
int64_t lra_loader_batches(const lra_loader *l); /* per epoch; training: a multiple of the group */
int64_t lra_loader_rows(const lra_loader *l);    /* that are used; streams: windows */
const int64_t *lra_loader_used(const lra_loader *l); /* not training: those rows, ascending */
void lra_loader_epoch(lra_loader *l, int64_t epoch);

/* One batch of n sequences, padded with 0 to the length T of its bucket.  n is the batch size B, or
 * 2 B for pairs: all first documents, then all second ones. */
typedef struct {
    int bucket;
    int64_t n;
    int32_t *token;  /* (n,T); NULL: models see values, and levels were not asked for */
    float *value;    /* (n,T,lra_mask_channels()); NULL: models see tokens */
    int32_t *length; /* (n) */
    /* (n) steps that count as standing before the first, for networks that are told places; NULL:
     * none. */
    const int32_t *place;
    int32_t *label; /* (B), -1: no row.  LRA_GOAL_NEXT: (B,T) the token that follows, -1: none is
                       asked */
    /* LRA_GOAL_VALUE: (B,targets), LRA_GOAL_STEPS: (B,T,targets); 0 where nothing is asked. */
    float *target;
    float *asked; /* the same shape; 1 where a target counts, else 0 */
    int64_t *row; /* (B) or -1; LRA_GOAL_NEXT: windows */
    /* Masked loaders: what is to be found at each step.  NULL: the other of the two kinds, or no
     * masking. */
    int32_t *word; /* (n,T) token or level, -1: nothing is asked */
    float *plain;  /* (n,T,channels) values, 0 where nothing is asked */
    float *picked; /* the same shape; 1 where a value is asked, else 0 */
} lra_batch;
/* The i-th batch of the epoch; valid until the second call from here.  A training loader makes the
 * next large one meanwhile, in a thread of its own. */
const lra_batch *lra_loader_get(lra_loader *l, int64_t i);
/* Share of steps of the epoch that are padding. */
double lra_loader_padding(const lra_loader *l);

#endif
