/* Estimates the cost of training before it starts. */
#ifndef LRA_MODELS_TRAINING_ESTIMATE_H
#define LRA_MODELS_TRAINING_ESTIMATE_H

#include "datasets/loader/buckets.h"
#include "models/training/train_spec.h"

typedef struct {
    /* for the largest bucket: FLOPs and memory traffic in bytes of a step; workspace and parameters
     * in bytes */
    double step_flops, step_bytes, workspace_bytes, parameter_bytes;
    double room_bytes; /* bytes available for the workspace; 0: unknown */
    lra_keep keep;     /* activation checkpointing of the training graphs */
    /* measured, mean over the buckets, weighted by their numbers of batches */
    double seconds_per_step;
    int64_t steps, parameters;
    lra_buckets buckets;
    double padding;
} lra_train_cost;
/* Returns LRA_USAGE and a message if there are too few rows for a single update. */
int lra_train_check(const lra_train_spec *s, lra_err *e);
/* Estimates the cost of a run; fails if the run is not possible. Writes no files. measure: times
 * two real steps of every bucket. */
int lra_train_estimate(const lra_train_spec *s, lra_device *dev, bool measure, lra_train_cost *c,
                       lra_err *e);
/* number of updates in an epoch; 0: too few rows */
int64_t lra_train_epoch_steps(const lra_train_spec *s);

#endif
