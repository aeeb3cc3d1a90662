/* Occlusion: inputs in which token runs are replaced by the tokens of another row at the same
 * positions, and the scores of a pooled model on them: the margin logit (true class minus best
 * other class), or the first output. The inputs therefore stay on the data's distribution, position
 * by position. Scores are defined for goals with one output for a single sequence. */
#ifndef LRA_PROBES_INFLUENCE_OCCLUDE_H
#define LRA_PROBES_INFLUENCE_OCCLUDE_H

#include "models/training/loaded_model.h"
#include "probes/shared/steps.h"

/* Two token runs [from, to) of a sequence; an empty one replaces nothing. The first is repeated
 * `times` times (0: once), each `stride` steps after the one before: a square of an image. */
typedef struct {
    int64_t from[2], to[2], times, stride;
} lra_token_runs;

/* Full blocks of every sequence in another order: content[s * most + p] is the block moved to place
 * p; an incomplete last block stays. */
typedef struct {
    int64_t width, most; /* tokens of a block; maximum number of blocks of a sequence */
    const int64_t *content;
} lra_layout;

/* The batch being evaluated. */
typedef struct lra_occluded lra_occluded;
typedef struct {
    const lra_length_graph *view;
    const lra_batch *batch;
    lra_occluded *with;
    /* (rows) the rival class of the margin. NULL: the best other class of each output. */
    const int32_t *rival;
    const lra_layout *layout; /* of inputs, after replacement. NULL: unchanged */
} lra_occluder;

/* Returns true if sequence s of the batch (of pairs: a document) is in the sample and the batch has
 * another sequence to take tokens from; of pairs, one on the same side. */
bool lra_occlude_counts(const lra_occluder *o, int64_t s);
/* Runs the network with token runs of every sequence replaced by those of the draw-th row after it;
 * output and features are read back. Sequences that do not count are not changed. */
int lra_occlude_run(const lra_occluder *o, const lra_token_runs *of, int64_t draw, lra_err *e);
/* Computes scores (rows) with token runs of every row replaced by those of the draw-th row after
 * it. Rows that do not count have no score. */
int lra_occlude_ask(const lra_occluder *o, const lra_token_runs *of, int64_t draw, double *score,
                    lra_err *e);
/* The best other class of each row in the outputs of the last lra_occlude_ask(). */
void lra_occlude_rivals(const lra_occluder *o, int32_t *rival);
/* Returns true if that draw changes any token of sequence s. */
bool lra_occlude_changes(const lra_occluder *o, int64_t s, const lra_token_runs *of, int64_t draw);

/* Calls `each` for every batch of a sample. */
int lra_occlude(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                int64_t sample, lra_steps *steps,
                int (*each)(const lra_occluder *o, void *context, lra_err *e), void *context,
                lra_err *e);
/* Reason why scores are undefined for a run; NULL: they are defined. */
const char *lra_occlude_undefined(const lra_train_spec *run);
/* Reason why blocks cannot come from another row of a batch; NULL: they can. */
const char *lra_occlude_lonely(const lra_train_spec *run);
/* Returns the steps of sequence s of a batch, and their size in bytes. */
const char *lra_batch_steps(const lra_network *k, const lra_batch *b, int64_t s, size_t *size);

#endif
