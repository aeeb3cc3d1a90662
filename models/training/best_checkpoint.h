/* Evaluation of the best checkpoint after training. */
#ifndef LRA_MODELS_TRAINING_BEST_CHECKPOINT_H
#define LRA_MODELS_TRAINING_BEST_CHECKPOINT_H

#include "models/training/session.h"
#include "models/training/train_report.h"

/* Loads the best weights (best.h5) into the session and writes their evaluation into the report:
 * the test split, the validation split of tasks with classes, and a sample of the training rows. */
int lra_best_checkpoint_evaluate(lra_session *s, lra_train_report *out, lra_err *e);

#endif
