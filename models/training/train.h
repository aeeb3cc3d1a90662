/* Training one model on one task: epochs, selection on validation, checkpoints, exact resume.
 * Knows nothing of result files: what it returns is written by the caller. */
#ifndef LRA_MODELS_TRAINING_TRAIN_H
#define LRA_MODELS_TRAINING_TRAIN_H

#include "models/training/train_report.h"
#include "models/training/train_spec.h"

enum { LRA_STOPPED = 1 };
/* 0: done; LRA_STOPPED: a signal asked, the checkpoint is saved; -1: failed.  A folder with a
 * checkpoint of the same configuration goes on where it was, bit for bit. */
int lra_train(const lra_train_spec *s, lra_device *dev, lra_train_report *r, lra_err *e);

#endif
