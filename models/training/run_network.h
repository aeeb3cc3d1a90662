/* The network of a run (inputs and head), and the targets of its batches. */
#ifndef LRA_MODELS_TRAINING_RUN_NETWORK_H
#define LRA_MODELS_TRAINING_RUN_NETWORK_H

#include "datasets/loader/batch.h"
#include "models/training/train_spec.h"

const lra_objective *lra_session_objective(const lra_train_spec *s);
/* Returns the inputs and the head of a run's network. */
lra_network_spec lra_session_network(const lra_train_spec *s);
/* Targets of a batch: those of the task, or those of pretraining. */
typedef struct {
    const int32_t *label;
    const float *target, *target_mask;
} lra_loss_mask;
lra_loss_mask lra_session_loss_mask(const lra_train_spec *s, const lra_batch *b);

#endif
