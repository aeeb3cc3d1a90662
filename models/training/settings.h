/* The settings of training: one row of settings.c each.  Those of a schedule or an objective stand
 * in its record and are settings of the runs that have it.  One more setting of training is one
 * more row, which names the field of lra_train_spec that it fills. */
#ifndef LRA_MODELS_TRAINING_SETTINGS_H
#define LRA_MODELS_TRAINING_SETTINGS_H

#include "models/training/train.h"

/* What every run has: batch, epochs, rate, ..., and the names of its schedule and its objective. */
extern const lra_key lra_train_keys[];

/* Writes settings (of lra_train_keys, the schedule and the objective) to the fields of s. */
void lra_train_settings(lra_train_spec *s, const lra_config *c);

#endif
