/* Statistics of the outputs for restricted inputs (perturbation.h): against the labels, and against
 * the outputs for complete inputs. */
#ifndef LRA_PROBES_INFLUENCE_PERTURBED_ANSWERS_H
#define LRA_PROBES_INFLUENCE_PERTURBED_ANSWERS_H

#include "probes/influence/part.h"
#include "probes/influence/perturbation.h"

/* Gains of the metric over rows; all outputs of a row are pooled. */
void lra_restricted_gain(const lra_influence *p, const lra_restricted *r, lra_gain *out);
/* Gain of a at one of its widths minus the gain of b, which has only that width, on the same
 * rows. */
lra_estimate lra_restricted_difference(const lra_influence *p, const lra_restricted *a, int point,
                                       const lra_restricted *b);
/* Without labels: array kl (points, 3), the mean over outputs of KL(full || restricted) in nats,
 * and kl.most, the largest of them, together with the KL divergence of the mean output, which is
 * the cost of seeing no input. out: kept shares of that cost, 1 - kl / cost. */
void lra_restricted_add_kl(const lra_influence *p, lra_probe_unit *u, const lra_restricted *r,
                           lra_gain *out);
/* Outputs whose label loses more than 2 nats, on average over windows: array key (points, 3), their
 * share; for each output (rows, steps of language models) and width, the largest window at which it
 * does (0: none); key.w05, the smallest window at which at most 5 % do. */
void lra_restricted_add_keys(const lra_influence *p, lra_probe_unit *u, const lra_restricted *r);

#endif
