/* What a run asks of its network: what stands before and behind the encoder, and what a batch
 * asks. */
#ifndef LRA_MODELS_TRAINING_RUN_NETWORK_H
#define LRA_MODELS_TRAINING_RUN_NETWORK_H

#include "datasets/loader/batch.h"
#include "models/training/train_spec.h"

const lra_objective *lra_session_objective(const lra_train_spec *s);
/* What stands before and behind the encoder of a run. */
lra_network_spec lra_session_network(const lra_train_spec *s);
/* What a batch asks: of the task, or of pretraining. */
typedef struct {
    const int32_t *label;
    const float *target, *asked;
} lra_loss_mask;
lra_loss_mask lra_session_loss_mask(const lra_train_spec *s, const lra_batch *b);

#endif
