/* Batches of equal length from rows of any length.
 * Order of an epoch: Fisher-Yates keyed (seed, epoch); windows of 64 batches are sorted by length
 * and divided into batches, and the order of the batches is shuffled again. Every batch uses the
 * smallest of at most 12 length buckets that holds it. All of it is a function of (seed, epoch,
 * index), so a checkpoint stores only these. */
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
    /* Training: shuffled, and the incomplete last batch is dropped; otherwise in order of length,
     * and the last batch is filled up with rows of label -1. Streams: see stream.c. */
    bool training;
    bool augment; /* the task's augmentation, keyed (seed, epoch, row) */
    /* each row has the label or target numbers of another row (permute.h), keyed by the seed */
    bool permuted;
    bool levels; /* also give the tokens of tasks whose models see values of one number a step */
    double fraction; /* of the rows, the first of numpy's permutation with seed 42; 0: all */
    /* Not training: number of rows (of a stream: windows) in a sample drawn by the fingerprint of
     * the data and sample_seed; 0: all. stratified: every label has its share of the sample, to one
     * row. */
    int64_t sample;
    uint64_t sample_seed;
    bool stratified;
    /* A fraction of the rows: the epoch has the same number of batches as with all rows, and
     * iterates over its rows several times. */
    bool same_steps;
    /* 0: 1. Training: rows are ordered for batches `group` times as large, which are returned in
     * pieces */
    int64_t group;
    /* keyed (seed, epoch, row) like the augmentation, which is applied first */
    lra_masking masking;
    bool alone; /* no helper thread: each batch is made on request, by the requesting thread */
} lra_loader_spec;
lra_loader *lra_loader_new(const lra_loader_spec *s);
void lra_loader_free(lra_loader *l);             /* Nullable: l */
int64_t lra_loader_batches(const lra_loader *l); /* per epoch; training: a multiple of the group */
int64_t lra_loader_rows(const lra_loader *l);    /* that are used; streams: windows */
const int64_t *lra_loader_used(const lra_loader *l); /* not training: the sampled rows, ascending */
void lra_loader_epoch(lra_loader *l, int64_t epoch);

/* One batch of n sequences, padded with 0 to the length T of its bucket.  n is the batch size B, or
 * 2 B for pairs: all first documents, then all second ones. */
typedef struct {
    int bucket;
    int64_t n;
    int32_t *token;  /* (n,T); NULL: models see values, and levels were not requested */
    float *value;    /* (n,T,lra_mask_channels()); NULL: models see tokens */
    int32_t *length; /* (n) */
    /* (n) offset of the position ids of each row, for networks with explicit position ids; NULL:
     * none. */
    const int32_t *place;
    int32_t *label; /* (B), -1: no row. LRA_GOAL_NEXT: (B,T) the next token, -1: no target */
    /* LRA_GOAL_VALUE: (B,targets), LRA_GOAL_STEPS: (B,T,targets); 0 where there is no target. */
    float *target;
    float *asked; /* the same shape; 1 where a target counts, else 0 */
    int64_t *row; /* (B) or -1; LRA_GOAL_NEXT: windows */
    /* Masked loaders: the target at each step. NULL: targets are of the other kind, or no
     * masking. */
    int32_t *word; /* (n,T) token or level, -1: no target */
    float *plain;  /* (n,T,channels) values, 0: no target */
    float *picked; /* the same shape; 1 where a value is a target, else 0 */
} lra_batch;
/* Returns the i-th batch of the epoch, valid until the second next call. A training loader prepares
 * the next batch meanwhile in a helper thread, if batches are large. */
const lra_batch *lra_loader_get(lra_loader *l, int64_t i);
/* Share of steps of the epoch that are padding. */
double lra_loader_padding(const lra_loader *l);

#endif
