/* Specification of a training run: model, task, settings and output folder. */
#ifndef LRA_MODELS_TRAINING_TRAIN_SPEC_H
#define LRA_MODELS_TRAINING_TRAIN_SPEC_H

#include "datasets/loader/task.h"
#include "kernels/base/core/origin.h"
#include "kernels/base/formats/safetensors.h"
#include "models/network.h"
#include "models/training/schedule.h"

typedef struct lra_objective lra_objective; /* objective.h */

enum { LRA_RECOMPUTE_AUTO = -1 };

typedef struct {
    const char *folder;       /* of the run: checkpoint.h5, best.h5, log.jsonl */
    const char *title;        /* "resconv K=5 seed 0": progress and log */
    const char *label;        /* the user's name of the run, stored in checkpoints; NULL: none */
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
    const lra_safetensors *weights; /* initial weights.  Nullable: drawn from the seed */
    const char *weights_path;       /* in messages */
    bool untrained;                 /* evaluates `weights` without training */
    /* best.h5 of a run from which inputs and encoder are initialised (transfer.h).  Nullable:
     * none */
    const char *from;
    lra_schedule schedule; /* steps_per_epoch is filled in */
    lra_adamw_spec optimizer;
    bool augment;
    bool permuted;        /* training and validation rows have the labels of others */
    double fraction;      /* of the training rows; 0: all */
    uint64_t sample_seed; /* seed of the sample of a split that probes use */
    /* an epoch on a fraction of the rows has the number of steps of a full epoch */
    bool same_steps;
    int64_t accumulate;      /* gradient accumulation: batches per update; 0: 1 */
    int64_t early_stop;      /* epochs without improvement after which training ends; 0: never */
    int threads;             /* of every plan; 0: by its work */
    double memory;           /* bytes for workspace and parameters; 0: all free memory */
    int recompute;           /* lra_keep, or LRA_RECOMPUTE_AUTO: least recomputation that fits */
    bool debug_nodes;        /* check every node of every step */
    double checkpoint_every; /* seconds */
    int64_t stop_after;      /* steps, then stop as a signal would; 0: never.  For tests */
} lra_train_spec;

/* One line per epoch; a value is that of the task's metric. */
typedef struct {
    int64_t epoch, step; /* epoch: from 0, files and people count from 1 */
    double train_loss, train_value, val_loss, val_value, rate, seconds;
} lra_epoch_record;

/* Batches of an update. */
static inline int64_t lra_update_batches(const lra_train_spec *s)
{
    return s->accumulate > 1 ? s->accumulate : 1;
}

#endif
