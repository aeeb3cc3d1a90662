/* The training objective: the task's loss, the task's loss plus reconstruction of masked inputs, or
 * reconstruction only.  To add one: a file of objectives/ and one line in objectives.def.
 * datasets/loader/mask.h defines the masked positions and their replacement.  Pretraining uses no
 * labels; validation and test are masked too. */
#ifndef LRA_MODELS_TRAINING_OBJECTIVE_H
#define LRA_MODELS_TRAINING_OBJECTIVE_H

#include "datasets/loader/mask.h"
#include "models/network.h"

typedef struct lra_objective {
    const char *name, *paper, *summary;
    bool pretrains; /* the task's own loss is not used */
    lra_mask_kind training, evaluation;
    const lra_key *keys; /* settings of the runs that have it, with fields of lra_train_spec.
                            Nullable: none */
    void (*add_loss)(lra_network *k, int64_t n_words); /* to the task's, in training.  Nullable */
} lra_objective;

#define LRA_OBJECTIVE(name) extern const lra_objective lra_objective_##name;
#include "models/training/objectives.def"
#undef LRA_OBJECTIVE
const lra_objective *lra_objective_at(int i); /* NULL after the last */
const lra_objective *lra_objective_find(const char *name, lra_err *e);

/* The setting `mask` of objectives with masking. */
extern const lra_key lra_objective_picking[];
/* Default share of masked positions: denoising 0.30; pretraining 0.50 on images, 0.25 on other
 * values, 0.15 on words; 0 without masking. */
double lra_objective_share(const lra_objective *o, const lra_task *t);
/* Inputs and head of the network. */
lra_network_spec lra_objective_network(const lra_objective *o, const lra_dataset *d,
                                       lra_pool_kind pool);
/* Number of sequences with targets per example: 2 for the documents of pairs in pretraining. */
int64_t lra_objective_parts(const lra_objective *o, const lra_dataset *d);
/* Metric for the selection of epochs, and its value for a predictor without inputs: in pretraining
 * a uniform distribution over words, or 0 for every value. */
const lra_metric *lra_objective_metric(const lra_objective *o, const lra_dataset *d);
double lra_objective_chance(const lra_objective *o, const lra_dataset *d, int split);
/* Returns 0, or LRA_USAGE if the task has nothing to mask, or the model can see its targets. */
int lra_objective_check(const lra_objective *o, const lra_dataset *d, const lra_model *m,
                        const lra_config *c, lra_err *e);

#endif
