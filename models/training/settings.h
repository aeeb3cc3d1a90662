/* The training settings: one row of settings.c for each. Settings of a schedule or an objective are
 * in its record and apply to runs that use it. To add a training setting: add a row, which names
 * the field of lra_train_spec. */
#ifndef LRA_MODELS_TRAINING_SETTINGS_H
#define LRA_MODELS_TRAINING_SETTINGS_H

#include "models/training/train.h"

/* Settings of every run: batch, epochs, rate, ..., and the names of its schedule and its
 * objective. */
extern const lra_key lra_train_keys[];

/* Copies settings (of lra_train_keys, the schedule and the objective) to the fields of s. */
void lra_train_settings(lra_train_spec *s, const lra_config *c);

#endif
