/* Evaluates a model on restricted inputs (perturb.h). A language model has an output at every step.
 * A few steps of each of its rows are evaluated, one after another: the steps up to such a step
 * form an input of their own, of which the window that ends there is kept, or all of which is
 * permuted, and the output is the one at its last step. */
#ifndef LRA_PROBES_INFLUENCE_PERTURBATION_H
#define LRA_PROBES_INFLUENCE_PERTURBATION_H

#include "analysis/gain.h"
#include "models/training/loaded_model.h"
#include "probes/influence/perturb.h"
#include "probes/shared/steps.h"

/* Outputs of a sample of the test split under n_points widths; sums over the draws of each,
 * (points, n). */
typedef struct {
    int64_t n, answers; /* number of outputs; outputs of each row, stored contiguously */
    int64_t *index;     /* (n) rows of the split */
    int64_t *step;      /* (n) of language models: the evaluated step; -1: the row is too short */
    int n_points;
    double w[LRA_GAIN_POINTS];
    lra_sums *row, *full; /* sums over draws; full: (n) */
    /* If outputs are probabilities, else NULL: sums over draws of KL(full || restricted) in nats;
     * (n) entropies of the full outputs, and the entropy of their mean (probabilities.h). */
    double *kl, *entropy, mean_entropy;
} lra_restricted;
/* Language models: number of outputs evaluated in each row; other models: 1. */
int64_t lra_restrict_answers(const lra_dataset *d, const lra_perturbation *is);
/* Number of forward passes for an example over all widths; only: that width alone, 0: all. */
double lra_restrict_runs(const lra_dataset *d, const lra_perturbation *is, int64_t only);
/* The widths. */
int lra_restrict_axis(const lra_dataset *d, const lra_perturbation *is, double *w);
/* only: that width alone, 0: all. */
int lra_restrict_measure(const lra_train_spec *run, lra_device *dev, const lra_perturbation *is,
                         int64_t only, int64_t sample, lra_steps *steps, lra_restricted *out,
                         lra_err *e);
void lra_restricted_free(lra_restricted *r);

#endif
