/* Where a run starts: as drawn from its seed, but for the bias of a head of numbers; then what comes from outside.
 * VALUE heads: head/b = the means of the training targets, whatever share of the rows is trained on: what a constant
 * answers (datasets/loader/chance.h).  Published heads start near 0.  Targets are not normalised, and heart rates lie
 * around 87: from 0 a head spends its first epochs on learning their mean, and short runs end worse than the constant.
 * The bias is a parameter like any other from there on, so that checkpoints hold it. */
#ifndef LRA_MODELS_TRAINING_START_H
#define LRA_MODELS_TRAINING_START_H

#include "models/training/train_spec.h"

/* Sets the parameters; a checkpoint, read later, knows more. */
int lra_start(const lra_train_spec *s, lra_params *p, lra_err *e);

#endif
