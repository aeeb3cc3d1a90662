/* The plans of a run: one training and one evaluation graph per length bucket over one parameter store. */
#ifndef LRA_MODELS_TRAINING_SESSION_H
#define LRA_MODELS_TRAINING_SESSION_H

#include "models/training/train.h"

typedef struct {
    lra_network train, eval;
    lra_tensor *update, *step; /* of the training graph */
    lra_plan *train_plan, *eval_plan;
} lra_bucket_plans;

typedef struct {
    const lra_train_spec *spec;
    lra_buckets buckets;
    lra_bucket_plans plans[LRA_MAX_BUCKETS];
    lra_params *params;
    lra_device *device;
    lra_space *space;
    lra_keep keep; /* of the training graphs */
    float *output; /* of the network in the last batch: lra_network.output */
} lra_session;

/* What stands before and behind the encoder of a run. */
lra_network_spec lra_session_network(const lra_train_spec *s);

/* Fails when the plans do not fit the memory, and says which batch would. */
int lra_session_open(lra_session *s, const lra_train_spec *spec, lra_device *dev, lra_err *e);
void lra_session_close(lra_session *s);
/* Batches of a split; training: shuffled, and augmented as the run says. */
lra_loader *lra_session_loader(const lra_session *s, int split, bool training);
double lra_session_workspace(const lra_session *s); /* bytes: of the largest plan */
double lra_session_room(const lra_session *s);      /* bytes that it may be; 0: unknown */

/* One training step; status: loss, gradient norm, applied, skipped in a row. */
int lra_session_step(lra_session *s, const lra_batch *b, const lra_step *step, float status[4],
                     lra_err *e);
/* Forward only. */
int lra_session_eval(lra_session *s, const lra_batch *b, lra_err *e);
/* What the rows of the last batch add to the sums of a metric; row: (B), 0 where there is no row. */
void lra_session_rows(const lra_session *s, const lra_batch *b, lra_sums *row);
/* Sums over the rows of a loader, one batch in memory at a time.  Nullable: output, (rows, outputs) logits or
 * numbers in the order of the split, not for goals that are asked at steps; row: (rows) what each adds. */
int lra_session_evaluate(lra_session *s, lra_loader *l, lra_sums *total, float *output,
                         lra_sums *row, lra_err *e);
/* Runs the batch node by node and names the first bad node. */
int lra_session_find_bad(lra_session *s, const lra_batch *b, const lra_step *step, lra_err *e);

#endif
