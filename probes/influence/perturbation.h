/* Evaluates a model on perturbed inputs (perturb.h). A language model has an output at every
 * position, so a few positions of each row are evaluated, one after another. The tokens up to such
 * a position are an input of their own, and the output at its last position is evaluated. Window
 * perturbations keep the window that ends at that position; permutations reorder the complete
 * input. */
#ifndef LRA_PROBES_INFLUENCE_PERTURBATION_H
#define LRA_PROBES_INFLUENCE_PERTURBATION_H

#include "analysis/gain.h"
#include "probes/influence/perturb.h"
#include "probes/shared/steps.h"
#include "probes/shared/subject.h"

/* Outputs of a sample of the test split for n_points widths w in tokens. row, kl: (n_points, n),
 * summed over draws. */
typedef struct {
    int64_t n, answers; /* n: number of outputs; answers: outputs per row, stored contiguously */
    int64_t *index;     /* (n) row index in the split */
    /* (n) language models: the evaluated position, -1 if the row is too short; else NULL */
    int64_t *step;
    int n_points;
    double w[LRA_GAIN_POINTS];
    lra_sums *row, *full; /* row: (n_points, n); full: (n), for complete inputs */
    /* Only if outputs are probabilities, else NULL. kl: (n_points, n) sum over draws of KL(full ||
     * perturbed) in nats; entropy: (n) of the full outputs; mean_entropy: entropy of their mean
     * (probabilities.h). */
    double *kl, *entropy, mean_entropy;
} lra_restricted;
/* Language models: number of outputs evaluated in each row; other models: 1. */
int64_t lra_outputs_per_row(const lra_dataset *d, const lra_perturbation *is);
/* Number of forward passes of one example for all widths, or for the single width `only` if it is
 * not 0. If short requests cost less (facts.any_length), a window of w tokens counts as w / T. */
double lra_restrict_runs(const lra_subject *s, const lra_perturbation *is, int64_t only);
/* Writes the widths in tokens to w; returns their number. */
int lra_restrict_axis(const lra_dataset *d, const lra_perturbation *is, double *w);
/* Evaluates the sample for all widths, or for the single width `only` if it is not 0. sample:
 * number of rows of the test split, 0 = all. Needs LRA_ANSWERS_FORWARD. */
int lra_restrict_measure(const lra_subject *s, const lra_perturbation *is, int64_t only,
                         int64_t sample, lra_steps *steps, lra_restricted *out, lra_err *e);
void lra_restricted_free(lra_restricted *r);

#endif
