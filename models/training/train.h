/* Training one model on one task: epochs, selection on validation, checkpoints, exact resume. Does
 * not write result files: the caller writes the report that it returns. */
#ifndef LRA_MODELS_TRAINING_TRAIN_H
#define LRA_MODELS_TRAINING_TRAIN_H

#include "models/training/train_report.h"
#include "models/training/train_spec.h"

enum { LRA_STOPPED = 1 };
/* Returns 0: done; LRA_STOPPED: a signal requested the stop, the checkpoint is saved; -1: failed.
 * A folder with a checkpoint of the same configuration is resumed, bit for bit. */
int lra_train(const lra_train_spec *s, lra_device *dev, lra_train_report *r, lra_err *e);

#endif
