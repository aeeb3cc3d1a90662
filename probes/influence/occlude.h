/* Inputs of which stretches are replaced by the tokens of another row at the same places, and what
 * a pooled model scores them: by the margin logit (of the true class less the best other), or its
 * first number.  So the inputs stay on the data's distribution place by place.  Scores are of goals
 * that are asked once of a single sequence. */
#ifndef LRA_PROBES_INFLUENCE_OCCLUDE_H
#define LRA_PROBES_INFLUENCE_OCCLUDE_H

#include "models/training/loaded_model.h"
#include "probes/shared/steps.h"

/* Two stretches [from, to) of a sequence; an empty one replaces nothing.  The first stands `times`
 * times (0: once), each `stride` steps behind the one before: a square of an image. */
typedef struct {
    int64_t from[2], to[2], times, stride;
} lra_token_runs;

/* Full blocks of every sequence in another order: content[s * most + p] is the block that place p
 * gets; a partial last block stays. */
typedef struct {
    int64_t width, most; /* tokens of a block; blocks of a sequence, at most */
    const int64_t *content;
} lra_layout;

/* A batch that is asked. */
typedef struct lra_occluded lra_occluded;
typedef struct {
    const lra_length_graph *view;
    const lra_batch *batch;
    lra_occluded *with;
    /* (rows) the class that margins are taken against.  NULL: the best other class of each
     * answer. */
    const int32_t *rival;
    const lra_layout *layout; /* of inputs, after replacement.  NULL: as they are */
} lra_occluder;

/* Sequence s of the batch, of pairs a document, is in the sample, and so is another that its tokens
 * can come from: of pairs one that stands at the same side. */
bool lra_occlude_counts(const lra_occluder *o, int64_t s);
/* Runs the network with stretches of every sequence replaced by the draw-th row behind it; it is
 * asked for output and features.  Sequences that do not count stay as they are. */
int lra_occlude_run(const lra_occluder *o, const lra_token_runs *of, int64_t draw, lra_err *e);
/* Scores (rows) with stretches of every row replaced by the draw-th row behind it.  Rows that do
 * not count have none. */
int lra_occlude_ask(const lra_occluder *o, const lra_token_runs *of, int64_t draw, double *score,
                    lra_err *e);
/* The best other class of each row in the answers of the last lra_occlude_ask(). */
void lra_occlude_rivals(const lra_occluder *o, int32_t *rival);
/* Would that draw change any token of sequence s? */
bool lra_occlude_changes(const lra_occluder *o, int64_t s, const lra_token_runs *of, int64_t draw);

/* Hands every batch of a sample to `each`. */
int lra_occlude(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                int64_t sample, lra_steps *steps,
                int (*each)(const lra_occluder *o, void *context, lra_err *e), void *context,
                lra_err *e);
/* Why scores are undefined for a run; NULL: they are not. */
const char *lra_occlude_undefined(const lra_train_spec *run);
/* Why no block can come from another row of a batch; NULL: it can. */
const char *lra_occlude_lonely(const lra_train_spec *run);
/* Steps of sequence s of a batch; their size in bytes. */
const char *lra_batch_steps(const lra_network *k, const lra_batch *b, int64_t s, size_t *size);

#endif
