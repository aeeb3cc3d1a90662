/* The training objective: the task's loss, the task's loss plus reconstruction of masked inputs, or
 * reconstruction only. To add an objective: a file in objectives/, and one line in objectives.def.
 * datasets/loader/mask.h defines which positions are masked and how they are replaced. Pretraining
 * uses no labels; its validation and test inputs are masked, too. */
#ifndef LRA_MODELS_TRAINING_OBJECTIVE_H
#define LRA_MODELS_TRAINING_OBJECTIVE_H

#include "datasets/loader/mask.h"
#include "models/network.h"

typedef struct lra_objective {
    const char *name, *paper, *summary;
    bool pretrains; /* reconstruction only: the task's loss is not used */
    lra_mask_kind training, evaluation;
    /* Settings of runs with this objective, which are fields of lra_train_spec. Nullable: none. */
    const lra_key *keys;
    /* adds a loss to that of the task, during training. Nullable */
    void (*add_loss)(lra_network *k, int64_t n_words);
} lra_objective;

#define LRA_OBJECTIVE(name) extern const lra_objective lra_objective_##name;
#include "models/training/objectives.def"
#undef LRA_OBJECTIVE
const lra_objective *lra_objective_at(int i); /* NULL after the last */
const lra_objective *lra_objective_find(const char *name, lra_err *e);

/* The setting `mask` of objectives that mask inputs. */
extern const lra_key lra_objective_picking[];
/* Default share of masked positions: denoising 0.30; pretraining 0.50 on images, 0.25 on other real
 * inputs, 0.15 on words; 0 without masking. */
double lra_objective_share(const lra_objective *o, const lra_task *t);
/* Returns the inputs and the head of the network. */
lra_network_spec lra_objective_network(const lra_objective *o, const lra_dataset *d,
                                       lra_pool_kind pool);
/* Returns the number of sequences with targets per example: 2 for the two documents of pairs in
 * pretraining, else 1. */
int64_t lra_objective_parts(const lra_objective *o, const lra_dataset *d);
/* Metric that selects the best epoch, and its value for a predictor without inputs: in pretraining
 * a uniform distribution over words, or 0 for every real number. */
const lra_metric *lra_objective_metric(const lra_objective *o, const lra_dataset *d);
double lra_objective_chance(const lra_objective *o, const lra_dataset *d, int split);
/* Returns 0, or LRA_USAGE if the task has nothing to mask, or if the model could see its
 * targets. */
int lra_objective_check(const lra_objective *o, const lra_dataset *d, const lra_model *m,
                        const lra_config *c, lra_err *e);

#endif
