/* Occlusion: token runs of the input are replaced by the tokens of another row at the same
 * positions, so that each position keeps the marginal distribution of the data. The score of a
 * pooled model on such an input is the margin logit (true class minus best other class; for rows
 * without labels, the predicted class of the complete input instead of the true one), or the first
 * output of a model that predicts a value. Scores are defined for goals with one output for a
 * single sequence. */
#ifndef LRA_PROBES_INFLUENCE_OCCLUDE_H
#define LRA_PROBES_INFLUENCE_OCCLUDE_H

#include "probes/shared/steps.h"
#include "probes/shared/subject.h"

/* Two token runs [from, to) of a sequence; an empty run replaces nothing. The first run is repeated
 * `times` times (0: once) at intervals of `stride` tokens, which gives a rectangle of an image. */
typedef struct {
    int64_t from[2], to[2], times, stride;
} lra_token_runs;

/* A permutation of the full blocks of every sequence: block content[s * most + p] moves to block
 * position p. An incomplete last block stays. */
typedef struct {
    int64_t width, most; /* width: tokens per block; most: maximum number of blocks per sequence */
    const int64_t *content;
} lra_layout;

/* State of lra_occlude() for the current batch. */
typedef struct lra_occluded lra_occluded;
typedef struct {
    const lra_request *request; /* inputs of the batch */
    int64_t D;                  /* channels of the features */
    const lra_batch *batch;
    lra_occluded *with;
    /* (rows) class that is subtracted in the margin. NULL: the best other class of each output. */
    const int32_t *rival;
    /* permutation of blocks, applied after replacement. NULL: blocks stay in order */
    const lra_layout *layout;
} lra_occluder;

/* True if sequence s of the batch (for goals on pairs: one document) is in the sample and its block
 * (lra_subject.donors) has another sequence that can provide tokens. For pairs, the tokens come
 * from a document on the same side of the pair. */
bool lra_occlude_counts(const lra_occluder *o, int64_t s);
/* Computes the features (n,T,D) of a batch in which token runs of every sequence are replaced by
 * those of the draw-th sequence after it in its block. Sequences for which lra_occlude_counts() is
 * false are not changed. */
int lra_occlude_features(const lra_occluder *o, const lra_token_runs *of, int64_t draw,
                         float *features, lra_err *e);
/* Computes the score of every row with its token runs replaced as in lra_occlude_features():
 * score (rows). Rows for which lra_occlude_counts() is false keep the old value. */
int lra_occlude_scores(const lra_occluder *o, const lra_token_runs *of, int64_t draw, double *score,
                       lra_err *e);
/* Writes, for each row, the best class except the true one in the outputs of the last
 * lra_occlude_scores(): rival (rows). */
void lra_occlude_rivals(const lra_occluder *o, int32_t *rival);
/* True if the replacement of this draw changes any token of sequence s. */
bool lra_occlude_changes(const lra_occluder *o, int64_t s, const lra_token_runs *of, int64_t draw);

/* Calls `each` for every batch of a sample of the test split. answers: LRA_ANSWERS_FORWARD or
 * LRA_ANSWERS_FEATURES, which `each` requests; sample: number of rows, 0 = all. */
int lra_occlude(const lra_subject *s, lra_subject_weights weights, uint32_t answers, int64_t sample,
                lra_steps *steps, int (*each)(const lra_occluder *o, void *context, lra_err *e),
                void *context, lra_err *e);
/* Reason why scores are undefined for a model, or NULL if they are defined. */
const char *lra_occlude_undefined(const lra_subject *s);
/* Reason why no other row can provide replacement tokens (batches of one row), or NULL. */
const char *lra_occlude_no_partner(const lra_subject *s);

#endif
