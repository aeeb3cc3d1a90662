/* Trains one model on one task: epochs, selection on validation, checkpoints, exact resume. It
 * writes no result files: the caller writes the report that it returns. */
#ifndef LRA_MODELS_TRAINING_TRAIN_H
#define LRA_MODELS_TRAINING_TRAIN_H

#include "models/training/train_report.h"
#include "models/training/train_spec.h"

enum { LRA_STOPPED = 1 };
/* Returns 0: finished; LRA_STOPPED: stopped by a signal, with the checkpoint saved; LRA_FAILED:
 * failed (r->diverged: because updates were not finite). If the folder has a checkpoint of the same
 * configuration, the run is resumed, bit for bit. */
int lra_train(const lra_train_spec *s, lra_device *dev, lra_train_report *r, lra_err *e);

#endif
