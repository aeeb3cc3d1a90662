/* What the selected weights of a run answer, once it is trained. */
#ifndef LRA_MODELS_TRAINING_BEST_CHECKPOINT_H
#define LRA_MODELS_TRAINING_BEST_CHECKPOINT_H

#include "models/training/session.h"
#include "models/training/train_report.h"

/* Puts the selected weights (best.h5) into the session, and into the report what they answer: on
 * the test split, on the validation split of tasks with classes, and on a sample of the rows that
 * were trained on. */
int lra_best_checkpoint_evaluate(lra_session *s, lra_train_report *out, lra_err *e);

#endif
