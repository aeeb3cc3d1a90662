/* What restricted answers (restrict.h) say: by labels, and by themselves. */
#ifndef LRA_PROBES_INFLUENCE_PERTURBED_ANSWERS_H
#define LRA_PROBES_INFLUENCE_PERTURBED_ANSWERS_H

#include "probes/influence/part.h"
#include "probes/influence/perturbation.h"

/* Gains of the metric over rows, whose answers are taken together. */
void lra_restricted_gain(const lra_influence *p, const lra_restricted *r, lra_gain *out);
/* Gain of a at one of its widths less that of b, which has that width alone, of the same rows. */
lra_estimate lra_restricted_difference(const lra_influence *p, const lra_restricted *a, int point,
                                       const lra_restricted *b);
/* Without labels: array kl (points, 3), the mean over answers of KL(full || restricted) in nats,
 * and kl.most, the largest of them, beside what the mean answer is apart from the answers, which
 * is what to see nothing costs.  out: kept shares of that, 1 - kl / it. */
void lra_restricted_add_kl(const lra_influence *p, lra_probe_unit *u, const lra_restricted *r,
                           lra_gain *out);
/* Answers whose label loses more than 2 nats, on average over windows: array key (points, 3), their
 * share; by answer rows, steps of language models, and width, the largest window with which it does
 * (0: none); key.w05, the smallest with which at most 5 % do. */
void lra_restricted_add_keys(const lra_influence *p, lra_probe_unit *u, const lra_restricted *r);

#endif
