/* Batches of equal length from rows of any length.
 * Order of an epoch: rows are shuffled (Fisher-Yates, keyed by seed and epoch). Every 64 batches
 * are sorted by length and divided into batches, and the order of the batches is shuffled again.
 * Every batch is padded to the shortest of at most 12 bucket lengths that holds its rows. All of
 * this is a function of (seed, epoch, index), so that a checkpoint stores only these. */
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
    /* Training: rows are shuffled, and an incomplete last batch is dropped. Otherwise rows are in
     * order of length, and the last batch is filled up with rows of label -1. Streams: see
     * stream.c. */
    bool training;
    bool augment; /* apply the task's augmentation, keyed by (seed, epoch, row) */
    /* Each row has the label or the target numbers of another row (permute.h), keyed by the
     * seed. */
    bool permuted;
    /* Batches also contain tokens if the input of the model is one real number per token. */
    bool levels;
    /* share of the rows that is used: the first rows of numpy's permutation with seed 42; 0: all */
    double fraction;
    /* Only if not training: number of rows (of a stream: windows) in a random sample, which is
     * keyed by the fingerprint of the data and sample_seed; 0: all. stratified: the share of every
     * label in the sample is its share in the split, to within one row. */
    int64_t sample;
    uint64_t sample_seed;
    bool stratified;
    /* With `fraction`: an epoch has as many batches as with all rows; it repeats its rows. */
    bool same_steps;
    /* Number of micro-batches per optimiser step; 0: 1. Training: rows are ordered as for batches
     * `group` times as large, and these are returned in pieces of `batch` rows. */
    int64_t group;
    /* Masking of inputs, keyed by (seed, epoch, row); applied after the augmentation. */
    lra_masking masking;
    bool alone; /* no helper thread: the thread that requests a batch builds it */
} lra_loader_spec;
lra_loader *lra_loader_new(const lra_loader_spec *s);
void lra_loader_free(lra_loader *l); /* Nullable: l */
/* number of batches of an epoch; training: a multiple of the group */
int64_t lra_loader_batches(const lra_loader *l);
/* number of rows in use; streams: number of windows */
int64_t lra_loader_rows(const lra_loader *l);
/* not training: indices of the sampled rows, ascending */
const int64_t *lra_loader_used(const lra_loader *l);
void lra_loader_epoch(lra_loader *l, int64_t epoch);

/* One batch of n sequences, padded with 0 to the length T of its bucket. n is the batch size B, or
 * 2 B for pairs: the first documents of all pairs, then all second documents. */
typedef struct {
    int bucket;
    int64_t n;
    /* (n,T) token ids; NULL: the model's inputs are real numbers, and levels were not requested */
    int32_t *token;
    /* (n,T,lra_mask_channels()) real inputs; NULL: the model's inputs are token ids */
    float *value;
    int32_t *length; /* (n) length of each sequence in tokens, without padding */
    /* (n) position id of the first token of each row, for networks with explicit position ids;
     * NULL: none. */
    const int32_t *place;
    int32_t *label; /* (B) labels, -1: no row. LRA_GOAL_NEXT: (B,T) the next token, -1: no target */
    /* Target numbers. LRA_GOAL_VALUE: (B,targets); LRA_GOAL_TOKENS, a target at every token:
     * (B,T,targets). 0 where there is no target. */
    float *target;
    float *target_mask; /* shape of `target`: 1 where a target counts, else 0 */
    int64_t *row;       /* (B) row indices, -1: no row; LRA_GOAL_NEXT: window indices */
    /* Targets of masked inputs, at each token. NULL: no masking, or targets are of the other type
     * (ids, real numbers). */
    int32_t *word;       /* (n,T) target token or level, -1: no target */
    float *value_target; /* (n,T,channels) target numbers, 0 where there is no target */
    /* loss mask of value_target, with the same shape: 1 where a number is a target, else 0 */
    float *value_mask;
} lra_batch;
/* Returns the i-th batch of the epoch. It stays valid during the next call, and is overwritten by
 * the call after that. If batches are large, a training loader fills the next batch in a helper
 * thread meanwhile. */
const lra_batch *lra_loader_get(lra_loader *l, int64_t i);
/* Returns the share of padding among all tokens of the epoch. */
double lra_loader_padding(const lra_loader *l);

#endif
