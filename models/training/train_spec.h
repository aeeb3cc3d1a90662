/* Specification of a training run: model, task, settings and output folder. */
#ifndef LRA_MODELS_TRAINING_TRAIN_SPEC_H
#define LRA_MODELS_TRAINING_TRAIN_SPEC_H

#include "datasets/loader/task.h"
#include "kernels/base/core/origin.h"
#include "kernels/base/formats/safetensors.h"
#include "models/network.h"
#include "models/training/schedule.h"

typedef struct lra_objective lra_objective; /* defined in objective.h */

enum { LRA_RECOMPUTE_AUTO = -1 };

typedef struct {
    const char *folder; /* folder of the run, with checkpoint.h5, best.h5 and log.jsonl */
    const char *title;  /* title for progress and log, "resconv K=5 seed 0" */
    /* name that the user gave the run, stored in checkpoints; NULL: none */
    const char *label;
    /* configuration as "key=value" lines: stored in checkpoints, compared on resume */
    const char *config;
    /* program version and machine, stored in checkpoints. Nullable: not recorded */
    const lra_origin *origin;
    const lra_dataset *data;
    const lra_model *model;
    const lra_config *model_config;
    const lra_objective *objective; /* Nullable: the task's loss alone (classify) */
    double mask;                    /* share of the tokens that the objective masks */
    lra_pool_kind pool;
    lra_type type; /* type of the graphs: LRA_F32 or LRA_BF16 */
    int64_t batch;
    uint64_t seed;
    const lra_safetensors *weights; /* initial weights.  Nullable: drawn from the seed */
    const char *weights_path;       /* path of `weights`, for messages */
    bool untrained;                 /* true: evaluates `weights` without training */
    /* Path of another run's best.h5, from which inputs and encoder are initialised (transfer.h).
     * Nullable: none. */
    const char *from;
    lra_schedule schedule; /* lra_train() sets steps_per_epoch */
    lra_adamw_spec optimizer;
    bool augment;
    bool permuted;        /* training and validation rows have the labels of other rows */
    double fraction;      /* share of the training rows that is used; 0: all */
    uint64_t sample_seed; /* seed of the samples of a split that probes evaluate */
    /* With `fraction`: an epoch has as many steps as with all training rows. */
    bool same_steps;
    int64_t accumulate; /* gradient accumulation: number of batches per update; 0: 1 */
    /* training ends after this number of epochs without improvement; 0: never */
    int64_t early_stop;
    int threads; /* number of threads of every plan; 0: depends on the plan's work */
    /* maximum memory in bytes for workspace and parameters; 0: all free memory */
    double memory;
    /* activation checkpointing: an lra_keep, or LRA_RECOMPUTE_AUTO, the least that fits into
     * memory */
    int recompute;
    bool debug_nodes;        /* check that the result of every node in every step is finite */
    double checkpoint_every; /* interval between checkpoints, in seconds */
    /* for tests: stop after this number of steps as after a signal; 0: never */
    int64_t stop_after;
} lra_train_spec;

/* Record of one epoch; values are those of the task's metric. */
typedef struct {
    int64_t epoch, step; /* epoch: from 0; files and messages count from 1 */
    double train_loss, train_value, val_loss, val_value, rate, seconds;
} lra_epoch_record;

/* Returns the number of batches per update. */
static inline int64_t lra_update_batches(const lra_train_spec *s)
{
    return s->accumulate > 1 ? s->accumulate : 1;
}

#endif
