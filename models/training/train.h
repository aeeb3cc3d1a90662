/* Training one model on one task: epochs, selection on validation, checkpoints, exact resume.
 * Knows nothing of result files: what it returns is written by the caller. */
#ifndef LRA_MODELS_TRAINING_TRAIN_H
#define LRA_MODELS_TRAINING_TRAIN_H

#include "datasets/loader/batch.h"
#include "kernels/base/origin.h"
#include "kernels/base/safetensors.h"
#include "kernels/graph/ops.h"
#include "models/training/objective.h"
#include "models/training/schedule.h"

enum { LRA_RECOMPUTE_AUTO = -1 };

typedef struct {
    const char *folder;       /* of the run: checkpoint.h5, best.h5, log.jsonl */
    const char *title;        /* "resconv K=5 seed 0": progress and log */
    const char *config;       /* "key=value" lines: stored in checkpoints, compared on resume */
    const lra_origin *origin; /* stored there too.  Nullable: not recorded */
    const lra_dataset *data;
    const lra_model *model;
    const lra_config *model_config;
    const lra_objective *objective; /* Nullable: classify */
    double mask;                    /* share of steps that it picks */
    lra_pool_kind pool;
    lra_type type; /* of the graphs: LRA_F32 or LRA_BF16 */
    int64_t batch;
    uint64_t seed;
    const lra_safetensors *weights; /* to start from.  Nullable: drawn from the seed */
    const char *weights_path;       /* in messages */
    bool untrained;                 /* `weights` are measured as they are: no step is taken */
    /* best.h5 of a run whose inputs and encoder this one starts from (transfer.h).  Nullable: none */
    const char *from;
    lra_schedule schedule; /* steps_per_epoch is filled in */
    lra_adamw_spec optimizer;
    bool augment;
    double fraction;         /* of the training rows; 0: all */
    bool same_steps;         /* an epoch of a fraction has the steps of one of all rows */
    int64_t accumulate;      /* batches whose gradients make one update; 0: 1 */
    int64_t early_stop;      /* epochs without a better one, then training ends; 0: never */
    int threads;             /* of every plan; 0: by its work */
    double memory;           /* bytes for workspace and parameters; 0: what is free */
    int recompute;           /* lra_keep, or LRA_RECOMPUTE_AUTO: the least that fits the memory */
    bool debug_nodes;        /* check every node of every step */
    double checkpoint_every; /* seconds */
    int64_t stop_after;      /* steps, then stop as a signal would; 0: never.  For tests */
} lra_train_spec;

/* One line per epoch; a value is that of the task's metric. */
typedef struct {
    int64_t epoch, step; /* epoch: from 0, files and people count from 1 */
    double train_loss, train_value, val_loss, val_value, rate, seconds;
} lra_epoch_record;

/* Rows of the training sample at most; which ones, the fingerprint of the data says (lra_loader_spec.sample). */
enum { LRA_TRAIN_SAMPLE = 10000 };

typedef struct {
    lra_epoch_record *history;
    int64_t n_epochs, best_epoch;
    int64_t steps, skipped, parameters;
    double best_val, seconds;
    double step_flops, padding;
    int64_t n_rows; /* of the test split; streams: windows */
    lra_sums test;
    lra_sums *row; /* (n_rows) what each row adds to it, in the order of the split */
    float *output; /* (n_rows, outputs) logits or numbers; NULL for goals that are asked at steps */
    /* Tasks with classes: the validation split, by the same weights.  0: none. */
    int64_t n_val;
    float *val_output; /* (n_val, outputs) */
    /* A sample of the rows that were trained on, by the same weights and as they stand: not augmented, no dropout. */
    int64_t n_train;
    lra_sums train;
    lra_sums *train_row; /* (n_train) in the order of the split */
    uint64_t hash;       /* of the final parameters, moments and states */
} lra_train_report;

enum { LRA_STOPPED = 1 };
/* 0: done; LRA_STOPPED: a signal asked, the checkpoint is saved; -1: failed.  A folder with a checkpoint
 * of the same configuration goes on where it was, bit for bit. */
int lra_train(const lra_train_spec *s, lra_device *dev, lra_train_report *r, lra_err *e);
void lra_train_report_free(lra_train_report *r);

typedef struct {
    double step_flops, step_bytes, workspace_bytes, parameter_bytes; /* of the largest bucket */
    double room_bytes;       /* for the workspace; 0: unknown */
    lra_keep keep;           /* what is not computed again */
    double seconds_per_step; /* mean over the buckets as often as they occur, measured */
    int64_t steps, parameters;
    lra_buckets buckets;
    double padding;
} lra_train_cost;
/* What a run would cost; nothing is written.  measure: two real steps of every bucket are timed. */
int lra_train_estimate(const lra_train_spec *s, lra_device *dev, bool measure, lra_train_cost *c,
                       lra_err *e);
int64_t lra_train_epoch_steps(const lra_train_spec *s); /* updates of an epoch; 0: too few rows */

#endif
