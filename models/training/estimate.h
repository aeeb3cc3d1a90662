/* Estimated cost of training, before it starts. */
#ifndef LRA_MODELS_TRAINING_ESTIMATE_H
#define LRA_MODELS_TRAINING_ESTIMATE_H

#include "datasets/loader/buckets.h"
#include "models/training/train_spec.h"

typedef struct {
    double step_flops, step_bytes, workspace_bytes, parameter_bytes; /* of the largest bucket */
    double room_bytes;       /* for the workspace; 0: unknown */
    lra_keep keep;           /* activation checkpointing */
    double seconds_per_step; /* mean over the buckets as often as they occur, measured */
    int64_t steps, parameters;
    lra_buckets buckets;
    double padding;
} lra_train_cost;
/* Fails with wrong usage unless the rows suffice for a first update. */
int lra_train_check(const lra_train_spec *s, lra_err *e);
/* Estimates the cost of a run; fails if the run is not possible.  Writes nothing.  measure: two
 * real steps of every bucket are timed. */
int lra_train_estimate(const lra_train_spec *s, lra_device *dev, bool measure, lra_train_cost *c,
                       lra_err *e);
int64_t lra_train_epoch_steps(const lra_train_spec *s); /* updates of an epoch; 0: too few rows */

#endif
