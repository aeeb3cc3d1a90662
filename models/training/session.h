/* The plans of a run: for every length bucket, training graphs and one evaluation graph; all share
 * one parameter store. */
#ifndef LRA_MODELS_TRAINING_SESSION_H
#define LRA_MODELS_TRAINING_SESSION_H

#include "datasets/loader/batch.h"
#include "kernels/graph/readback.h"
#include "models/training/rows.h"
#include "models/training/run_network.h"
#include "models/training/train_spec.h"

typedef struct {
    lra_network network;
    /* Training only. update: report of an optimiser update, in the plan of its last batch; in other
     * plans the loss of the batch. step: lra_step_input(). */
    lra_tensor *update, *step;
    lra_plan *plan;
} lra_session_plan;

/* Training plans of a bucket. An update accumulates gradients over several batches: the first, the
 * middle ones and the last batch have different plans. The last plan is also that of an update of
 * one batch. */
enum { LRA_FIRST_PART, LRA_MIDDLE_PART, LRA_LAST_PART, LRA_N_PARTS };
typedef struct {
    lra_session_plan train[LRA_N_PARTS], eval;
} lra_bucket_plans;

/* A training batch that was passed to the device. */
typedef struct {
    const lra_batch *batch;
    lra_step step;
    lra_readback *results;
} lra_started;
enum { LRA_MOST_STARTED = 2 };

typedef struct {
    const lra_train_spec *spec;
    lra_buckets buckets;
    lra_bucket_plans plans[LRA_MAX_BUCKETS];
    lra_params *params;
    lra_device *device;
    lra_space *space;
    lra_keep keep; /* activation checkpointing of the training graphs */
    float *output; /* outputs of the last batch: lra_network.output */
    lra_started started[LRA_MOST_STARTED];
    /* number of batches in flight; index of the oldest in `started`, a ring buffer */
    int n_started, first;
} lra_session;

/* Builds the network of a run for batches of `rows` rows. The network has twice as many sequences
 * for the documents of pairs. limited: with distance limits; explicit_positions: with position ids
 * as inputs, see lra_network_spec. */
lra_network lra_session_build(const lra_train_spec *s, lra_type type, lra_mode mode, int64_t rows,
                              int64_t T, bool limited, bool explicit_positions);
/* Builds only the head, for given features of D channels (lra_network_of_features). */
lra_network lra_session_head(const lra_train_spec *s, lra_type type, lra_mode mode, int64_t rows,
                             int64_t T, int64_t D);
int lra_session_set(const lra_train_spec *s, const lra_network *k, lra_plan *p, const lra_batch *b,
                    lra_err *e);
/* Sets the inputs of the encoder alone: tokens or values, lengths, position ids. */
int lra_session_set_inputs(const lra_network *k, lra_plan *p, const lra_batch *b, lra_err *e);
lra_plan *lra_session_largest(const lra_session *s); /* the training plan of the longest bucket */

/* Builds all graphs and plans. Fails if the plans do not fit into memory; the message states a
 * batch size that would fit. */
int lra_session_open(lra_session *s, const lra_train_spec *spec, lra_device *dev, lra_err *e);
void lra_session_close(lra_session *s);
/* lra_session_loader_spec(): specification of a loader for a split. lra_session_loader(): such a
 * loader. training: rows are shuffled, and augmented if the run augments. */
lra_loader_spec lra_session_loader_spec(const lra_session *s, int split, bool training);
lra_loader *lra_session_loader(const lra_session *s, int split, bool training);
double lra_session_workspace(const lra_session *s); /* workspace of the largest plan in bytes */
double lra_session_room(const lra_session *s);      /* maximum workspace in bytes; 0: unknown */

/* Starts training on one batch, the i-th of its update; b must stay valid until it is finished.
 * lra_session_ahead() returns how many further batches may be started before: one if the device
 * works asynchronously, otherwise none. */
int lra_session_start(lra_session *s, const lra_batch *b, int64_t i, const lra_step *step,
                      lra_err *e);
int lra_session_ahead(const lra_session *s);
/* Waits for the batch that was started first, and returns it with its output; valid until the next
 * start. status: for the last batch of an update the loss, the gradient norm, whether the update
 * was applied, and the number of consecutive updates that were not applied; for other batches only
 * the loss. Returns NULL with an error in e if the device failed. */
const lra_started *lra_session_finish(lra_session *s, float status[4], lra_err *e);
/* Starts a batch and waits for it. */
int lra_session_part(lra_session *s, const lra_batch *b, int64_t i, const lra_step *step,
                     float status[4], lra_err *e);
/* Runs the forward pass of a batch in evaluation mode. */
int lra_session_eval(lra_session *s, const lra_batch *b, lra_err *e);
/* Evaluates all rows of a loader and adds up the metric; one batch is in memory at a time. output:
 * (rows, outputs) logits or predicted numbers in the order of the split, NULL for heads with an
 * output at every token. row: (rows) contribution of each row. Nullable: output, row. */
int lra_session_evaluate(lra_session *s, lra_loader *l, lra_sums *total, float *output,
                         lra_sums *row, lra_err *e);
/* Runs a batch, the i-th of its update, node by node. Fails with the name of the first node whose
 * result is not finite. */
int lra_session_find_bad(lra_session *s, const lra_batch *b, int64_t i, const lra_step *step,
                         lra_err *e);

#endif
