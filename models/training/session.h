/* The plans of a run: one training and one evaluation graph per length bucket over one parameter store. */
#ifndef LRA_MODELS_TRAINING_SESSION_H
#define LRA_MODELS_TRAINING_SESSION_H

#include "models/training/train.h"

typedef struct {
    lra_classifier train, eval;
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
    float *logits; /* (B,C) of the last batch */
} lra_session;

/* What stands before and behind the encoder of a run. */
lra_head lra_session_head(const lra_train_spec *s);

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
int lra_session_eval(lra_session *s, const lra_batch *b, float *loss, lra_err *e);
/* Rows of s->logits whose largest entry is the label; *n counts rows with a label. */
int64_t lra_session_correct(const lra_session *s, const lra_batch *b, int64_t *n);
/* Mean loss and accuracy over the rows of a loader.  Nullable: logits, (rows, classes) in their order. */
int lra_session_evaluate(lra_session *s, lra_loader *l, double *loss, double *accuracy,
                         float *logits, lra_err *e);
/* Runs the batch node by node and names the first bad node. */
int lra_session_find_bad(lra_session *s, const lra_batch *b, const lra_step *step, lra_err *e);

#endif
