/* The plans of a run: one training and one evaluation graph per length bucket over one parameter
 * store. */
#ifndef LRA_MODELS_TRAINING_SESSION_H
#define LRA_MODELS_TRAINING_SESSION_H

#include "datasets/loader/batch.h"
#include "kernels/graph/readback.h"
#include "models/training/rows.h"
#include "models/training/run_network.h"
#include "models/training/train_spec.h"

typedef struct {
    lra_network network;
    lra_tensor *update, *step; /* of training: report of an update, or the loss of a part */
    lra_plan *plan;
} lra_session_plan;

/* Plans of the batches of an update (gradient accumulation): the first of several, one between, the
 * last (also the only one, if every batch is an update). */
enum { LRA_FIRST_PART, LRA_MIDDLE_PART, LRA_LAST_PART, LRA_N_PARTS };
typedef struct {
    lra_session_plan train[LRA_N_PARTS], eval;
} lra_bucket_plans;

/* A batch of training that the device has, or has done. */
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
    lra_keep keep; /* of the training graphs */
    float *output; /* of the network in the last batch: lra_network.output */
    lra_started started[LRA_MOST_STARTED];
    int n_started, first; /* in a ring */
} lra_session;

/* Builds the network of a run for batches of `rows` rows (documents; in pretraining on pairs twice
 * as many); limited: with distance limits, placed: with position ids as inputs, see
 * lra_network_spec. */
lra_network lra_session_build(const lra_train_spec *s, lra_type type, lra_mode mode, int64_t rows,
                              int64_t T, bool limited, bool placed);
/* The head only, for given features (lra_network_of_features). */
lra_network lra_session_head(const lra_train_spec *s, lra_type type, lra_mode mode, int64_t rows,
                             int64_t T, int64_t D);
int lra_session_set(const lra_train_spec *s, const lra_network *k, lra_plan *p, const lra_batch *b,
                    lra_err *e);
lra_plan *lra_session_largest(const lra_session *s); /* the training plan of the longest bucket */

/* Fails if the plans do not fit the memory, with the batch size that would. */
int lra_session_open(lra_session *s, const lra_train_spec *spec, lra_device *dev, lra_err *e);
void lra_session_close(lra_session *s);
/* Loader of batches of a split; training: shuffled, and augmented according to the run. */
lra_loader_spec lra_session_loader_spec(const lra_session *s, int split, bool training);
lra_loader *lra_session_loader(const lra_session *s, int split, bool training);
double lra_session_workspace(const lra_session *s); /* bytes: of the largest plan */
double lra_session_room(const lra_session *s);      /* bytes that it may be; 0: unknown */

/* Starts training on one batch, the i-th of its update; b must stay valid until it is finished.
 * lra_session_ahead() returns the number of further batches that may be started before that: one if
 * the device works asynchronously, otherwise none. */
int lra_session_start(lra_session *s, const lra_batch *b, int64_t i, const lra_step *step,
                      lra_err *e);
int lra_session_ahead(const lra_session *s);
/* Waits for the batch that was started first and returns it (valid until another is started) with
 * its output; status: for the last batch of an update loss, gradient norm, applied, skipped in a
 * row; for others only the loss.  NULL and e: the device failed. */
const lra_started *lra_session_finish(lra_session *s, float status[4], lra_err *e);
/* Both. */
int lra_session_part(lra_session *s, const lra_batch *b, int64_t i, const lra_step *step,
                     float status[4], lra_err *e);
/* Forward only. */
int lra_session_eval(lra_session *s, const lra_batch *b, lra_err *e);
/* Sums over the rows of a loader, one batch in memory at a time.  Nullable: output, (rows, outputs)
 * logits or numbers in the order of the split, not for heads with an output for each position; row:
 * (rows) contribution of each. */
int lra_session_evaluate(lra_session *s, lra_loader *l, lra_sums *total, float *output,
                         lra_sums *row, lra_err *e);
/* Runs the batch, the i-th of its update, node by node and names the first bad node. */
int lra_session_find_bad(lra_session *s, const lra_batch *b, int64_t i, const lra_step *step,
                         lra_err *e);

#endif
