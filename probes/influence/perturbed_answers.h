/* Statistics of the outputs for perturbed inputs (perturbation.h), compared with the labels and
 * with the outputs for complete inputs. */
#ifndef LRA_PROBES_INFLUENCE_PERTURBED_ANSWERS_H
#define LRA_PROBES_INFLUENCE_PERTURBED_ANSWERS_H

#include "probes/influence/part.h"
#include "probes/influence/perturbation.h"

/* Computes the gains of the metric over rows; the outputs of a row are pooled. */
void lra_restricted_gain(const lra_influence *p, const lra_restricted *r, lra_gain *out);
/* Gain of `a` at its width of index `point`, minus the gain of `b`, which was measured at this
 * width only. The difference is paired over rows. */
lra_estimate lra_restricted_difference(const lra_influence *p, const lra_restricted *a, int point,
                                       const lra_restricted *b);
/* Statistics without labels: array kl (points, 3), the mean over outputs of KL(full || perturbed)
 * in nats with lower and upper end, and kl.most, its largest value. The null value of kl.most is
 * the KL divergence of the mean output, which is the cost of seeing no input. out: shares of that
 * cost that are avoided, 1 - kl / cost. */
void lra_restricted_add_kl(const lra_influence *p, lra_probe_unit *u, const lra_restricted *r,
                           lra_gain *out);
/* Finds the outputs whose label loses more than 2 nats, averaged over windows. Arrays key (points,
 * 3): share of these outputs for each width, with lower and upper end; rows, steps (language
 * models: position), width: for each output the largest width at which it loses that much, 0 if
 * none. key.w05: the smallest width at which at most 5 % of the outputs lose that much. */
void lra_restricted_add_keys(const lra_influence *p, lra_probe_unit *u, const lra_restricted *r);

#endif
