/* Restricted inputs (change.h), of which a model is asked again.
 *
 * A language model answers at every step.  Its rows are asked at some steps each, one after
 * another: what stands up to such a step is an input of its own, of which the window that ends
 * there stays, or all of which is permuted, and the answer is the one to its last step. */
#ifndef LRA_PROBES_INFLUENCE_PERTURBATION_H
#define LRA_PROBES_INFLUENCE_PERTURBATION_H

#include "analysis/gain.h"
#include "models/training/loaded_model.h"
#include "probes/influence/perturb.h"
#include "probes/shared/steps.h"

/* Answers of a sample of the test split under n_points widths: of each its draws, (points, n). */
typedef struct {
    int64_t n, answers; /* all of them; of a row, which follow each other */
    int64_t *index;     /* (n) rows of the split */
    int64_t *step;      /* (n) of language models: which is asked, -1: the row is too short */
    int n_points;
    double w[LRA_GAIN_POINTS];
    lra_sums *row, *full; /* sums over draws; full: (n) */
    /* Where answers are probabilities, else NULL: sums over draws of KL(full || restricted) in
     * nats; (n) entropies of the full ones, and the entropy of their mean (probabilities.h). */
    double *kl, *entropy, mean_entropy;
} lra_restricted;
/* Language models: how many answers of a row are asked, of other models 1. */
int64_t lra_restrict_answers(const lra_dataset *d, lra_perturbation_kind kind);
/* Runs of an example that all widths take; only: that width alone, 0: all. */
double lra_restrict_runs(const lra_dataset *d, lra_perturbation_kind kind, int64_t only);
/* The widths. */
int lra_restrict_axis(const lra_dataset *d, lra_perturbation_kind kind, double *w);
/* only: that width alone, 0: all. */
int lra_restrict_measure(const lra_train_spec *run, lra_device *dev, lra_perturbation_kind kind,
                         int64_t only, int64_t sample, lra_steps *steps, lra_restricted *out,
                         lra_err *e);
void lra_restricted_free(lra_restricted *r);

#endif
