/* What a run is trained on: the goal of its task, that and what was taken from the inputs, or that
 * alone.  To add
 * one: a file of objectives/ and one line in objectives.def.  Which steps are picked and what
 * replaces them is told in datasets/loader/mask.h.
 * Pretraining knows no label; validation and test are masked too. */
#ifndef LRA_MODELS_TRAINING_OBJECTIVE_H
#define LRA_MODELS_TRAINING_OBJECTIVE_H

#include "datasets/loader/mask.h"
#include "models/network.h"

typedef struct lra_objective {
    const char *name, *paper, *summary;
    bool pretrains; /* the goal of the task is left aside */
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

/* The setting `mask` of those that pick steps. */
extern const lra_key lra_objective_picking[];
/* The share of steps that is picked unless the user says otherwise: denoising 0.30; pretraining
 * 0.50 on images, 0.25 on other values, 0.15 on words; 0 where nothing is picked. */
double lra_objective_share(const lra_objective *o, const lra_task *t);
/* What stands before and behind the encoder. */
lra_network_spec lra_objective_network(const lra_objective *o, const lra_dataset *d,
                                       lra_pool_kind pool);
/* Sequences that something is asked of, per example: 2 for documents of pairs in pretraining. */
int64_t lra_objective_parts(const lra_objective *o, const lra_dataset *d);
/* What selects epochs, and its value without a look at the inputs: of pretraining every word alike,
 * or 0 for every value. */
const lra_metric *lra_objective_metric(const lra_objective *o, const lra_dataset *d);
double lra_objective_chance(const lra_objective *o, const lra_dataset *d, int split);
/* 0, or LRA_USAGE: the task has nothing to take away, or the model sees what it is asked for. */
int lra_objective_check(const lra_objective *o, const lra_dataset *d, const lra_model *m,
                        const lra_config *c, lra_err *e);

#endif
